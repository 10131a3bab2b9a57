#include "solvers/relaxation/ordered_sweep.h"

#include <algorithm>
#include <cmath>

namespace signorini {
namespace {

/// Of two parts of a sweep; NaN stays.
SweepStep joined(const SweepStep& a, const SweepStep& b) {
  return {std::max(a.correction, b.correction) + 0.0 * (a.correction + b.correction), a.square + b.square,
          a.along + b.along};
}

}  // namespace

void OrderedSweep::add_stage(Index begin, Index end, bool split) {
  const std::size_t pieces = split ? (end - begin + kPiece - 1) / kPiece : 1;
  stages_.push_back({begin, end, split, partial_.size()});
  partial_.resize(partial_.size() + pieces);
}

void OrderedSweep::prepare(const GaussSeidelData& data, const SweepPlan& plan) {
  data_ = &data;
  symmetric_ = plan.symmetric;
  stages_.clear();
  partial_.clear();
  for (Index c = 0; c < plan.colours(); ++c) {
    const Index begin = plan.colour_begin[c], end = plan.colour_begin[c + 1];
    const bool split = end - begin >= 2 * kPiece;
    if (!split && !stages_.empty() && !stages_.back().split) {
      stages_.back().end = end;
    } else {
      add_stage(begin, end, split);
    }
  }
  if (plan.colours() == 0) add_stage(0, data.contacts(), false);
  before_.assign(symmetric_ ? 3 * data.contact.size() : 0, 0.0);
}

/// work(range) → SweepStep for all pieces, stage by stage.
template <class Work>
SweepStep OrderedSweep::over_pieces(TaskArena* arena, Work&& work) {
  const auto run_all = [&] {
    for (const Stage& stage : stages_) {
      if (!stage.split) {
        partial_[stage.first_piece] = work(SweepRange{stage.begin, stage.end});
        continue;
      }
      for_each_chunk(arena, stage.end - stage.begin, kPiece, [&](std::size_t begin, std::size_t end) {
        const SweepRange range{stage.begin + static_cast<Index>(begin),
                               stage.begin + static_cast<Index>(end)};
        partial_[stage.first_piece + begin / kPiece] = work(range);
      });
    }
  };
  // Inside the arena once per sweep, not once per colour.
  if (arena != nullptr && partial_.size() > stages_.size()) {
    arena->execute(run_all);
  } else {
    run_all();
  }
  SweepStep all = partial_.front();
  for (std::size_t i = 1; i < partial_.size(); ++i) all = joined(all, partial_[i]);
  return all;
}

double OrderedSweep::run(std::span<double> r, TaskArena* arena) {
  release_fixed(*data_, r);
  const SweepStep forward = over_pieces(arena, [&](SweepRange range) {
    return SweepStep{gauss_seidel_sweep(*data_, range, r), 0.0, 0.0};
  });
  if (!symmetric_) return forward.correction;
  const double back = gauss_seidel_sweep(*data_, {0, data_->contacts(), true}, r);
  return joined(forward, {back, 0.0, 0.0}).correction;
}

SweepStep OrderedSweep::step(std::span<const double> along, std::span<double> r, std::span<double> change,
                             TaskArena* arena) {
  if (symmetric_) return there_and_back(along, r, change);
  release_fixed(*data_, r);
  return over_pieces(arena,
                     [&](SweepRange range) { return gauss_seidel_step(*data_, range, along, r, change); });
}

SweepStep OrderedSweep::there_and_back(std::span<const double> along, std::span<double> r,
                                       std::span<double> change) {
  std::copy(r.begin(), r.end(), before_.begin());
  SweepStep step{run(r), 0.0, 0.0};
  for (std::size_t k = 0; k < data_->contact.size(); ++k) {
    const double* inverse_mass = data_->contact[k].inverse_mass;
    for (std::size_t i = 3 * k; i < 3 * k + 3; ++i) {
      const double p = along[i];  // may be the entry that is written next
      change[i] = r[i] - before_[i];
      const double e = change[i] * inverse_mass[i - 3 * k];
      step.square += e * change[i];
      step.along += e * p;
    }
  }
  return step;
}

}  // namespace signorini
