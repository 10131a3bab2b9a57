#include "solvers/relaxation/ordered_sweep.h"

#include <algorithm>
#include <cmath>

#include "base/stages.h"

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
  sizes_.push_back(pieces);
}

void OrderedSweep::prepare(const GaussSeidelData& data, const SweepPlan& plan) {
  data_ = &data;
  symmetric_ = plan.symmetric;
  stages_.clear();
  sizes_.clear();
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
  const auto piece = [&](std::size_t stage, std::size_t i) {
    const Stage& own = stages_[stage];
    SweepRange range{own.begin, own.end};
    if (own.split) {
      range.begin += kPiece * static_cast<Index>(i);
      range.end = std::min(range.end, range.begin + kPiece);
    }
    partial_[own.first_piece + i] = work(range);
  };
  if (arena != nullptr && partial_.size() > stages_.size()) {
    for_each_stage(*arena, sizes_, piece);
  } else {
    for (std::size_t stage = 0; stage < stages_.size(); ++stage)
      for (std::size_t i = 0; i < sizes_[stage]; ++i) piece(stage, i);
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
