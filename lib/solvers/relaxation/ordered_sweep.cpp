#include "solvers/relaxation/ordered_sweep.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

namespace signorini {
namespace {

constexpr std::size_t kGrain = 4096;  ///< numbers that a thread takes at a time

}  // namespace

SweepStep joined_steps(const SweepStep& a, const SweepStep& b) {
  return {std::max(a.correction, b.correction) + 0.0 * (a.correction + b.correction), a.square + b.square,
          a.along + b.along};
}

SweepStep measured_step(const GaussSeidelData& data, std::span<const double> before,
                        std::span<const double> after, std::span<const double> along,
                        std::span<double> change) {
  SweepStep step;
  for (std::size_t k = 0; k < data.contact.size(); ++k) {
    const double* inverse_mass = data.contact[k].inverse_mass;
    for (std::size_t i = 3 * k; i < 3 * k + 3; ++i) {
      const double p = along[i];  // may be the entry that is written next
      change[i] = after[i] - before[i];
      const double e = change[i] * inverse_mass[i - 3 * k];
      step.square += e * change[i];
      step.along += e * p;
    }
  }
  return step;
}

void OrderedSweep::prepare(const GaussSeidelData& data, const SweepPlan& plan) {
  data_ = &data;
  symmetric_ = plan.symmetric;
  stages_.prepare(data.contacts(), plan, SweepStages::worth_sharing(data));
  partial_.resize(stages_.pieces());
  before_.assign(symmetric_ ? 3 * data.contact.size() : 0, 0.0);
  v_.assign(data.bodies ? data.bodies->free.size() : 0, 0.0);
  r_.assign(data.bodies ? 3 * data.contact.size() : 0, 0.0);
  v_known_ = refreshed_ = told_ = false;
}

bool OrderedSweep::refresh_velocities(std::span<const double> r) {
  if (!data_->bodies) return false;
  refreshed_ = true;
  if (v_known_ && age_ < kLongestUse) return false;
  data_->bodies->velocities(r, v_);
  v_known_ = true;
  age_ = 0;
  return true;
}

/// Parts are compared by all threads; only whether any differs counts.
bool OrderedSweep::same_impulses(std::span<const double> r, TaskArena* arena) const {
  std::atomic<bool> same{true};
  for_each_chunk(arena, r.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    if (!std::equal(r.begin() + begin, r.begin() + end, r_.begin() + begin))
      same.store(false, std::memory_order_relaxed);
  });
  return same.load(std::memory_order_relaxed);
}

/// Where r is not that of the last sweep, unless the caller has seen to it.
void OrderedSweep::find_velocities(std::span<const double> r, TaskArena* arena) {
  if (refreshed_ || !data_->bodies) return;
  if (v_known_ && told_ && age_ < kLongestUse && same_impulses(r, arena)) return;
  data_->bodies->velocities(r, v_);
  v_known_ = true;
  age_ = 0;
}

/// After a sweep: r is that of the velocities.
void OrderedSweep::tell(std::span<const double> r, TaskArena* arena) {
  moved();
  told_ = !std::exchange(refreshed_, false);
  if (!told_ || !data_->bodies) return;
  for_each_chunk(arena, r.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    std::copy(r.begin() + begin, r.begin() + end, r_.begin() + begin);
  });
}

double OrderedSweep::run(std::span<double> r, TaskArena* arena) {
  release_fixed(*data_, r);
  find_velocities(r, arena);
  const SweepStep forward = stages_.run(
      arena, partial_,
      [&](SweepRange range) {
        return SweepStep{gauss_seidel_sweep(*data_, range, r, v_), 0.0, 0.0};
      },
      joined_steps);
  double correction = forward.correction;
  if (symmetric_) {
    const double back = gauss_seidel_sweep(*data_, {0, data_->contacts(), true}, r, v_);
    correction = joined_steps(forward, {back, 0.0, 0.0}).correction;
  }
  tell(r, arena);
  return correction;
}

SweepStep OrderedSweep::step(std::span<const double> along, std::span<double> r, std::span<double> change,
                             TaskArena* arena) {
  if (symmetric_) return there_and_back(along, r, change);
  release_fixed(*data_, r);
  find_velocities(r, arena);
  const SweepStep step = stages_.run(
      arena, partial_,
      [&](SweepRange range) { return gauss_seidel_step(*data_, range, along, r, change, v_); }, joined_steps);
  tell(r, arena);
  return step;
}

SweepStep OrderedSweep::there_and_back(std::span<const double> along, std::span<double> r,
                                       std::span<double> change) {
  std::copy(r.begin(), r.end(), before_.begin());
  const double correction = run(r);
  SweepStep step = measured_step(*data_, before_, r, along, change);
  step.correction = correction;
  return step;
}

}  // namespace signorini
