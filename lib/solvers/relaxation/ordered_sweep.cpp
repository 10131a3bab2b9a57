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
  stages_.prepare(data.contacts(), plan);
  partial_.resize(stages_.pieces());
  before_.assign(symmetric_ ? 3 * data.contact.size() : 0, 0.0);
  v_.assign(data.bodies ? data.bodies->free.size() : 0, 0.0);
  r_.assign(data.bodies ? 3 * data.contact.size() : 0, 0.0);
  v_known_ = false;
}

bool OrderedSweep::find_velocities(std::span<const double> r) {
  if (!data_->bodies) return false;
  if (v_known_ && age_ < kLongestUse && std::equal(r.begin(), r.end(), r_.begin())) return false;
  data_->bodies->velocities(r, v_);
  tell(r);
  v_known_ = true;
  age_ = 0;
  return true;
}

void OrderedSweep::tell(std::span<const double> r) {
  if (data_->bodies) std::copy(r.begin(), r.end(), r_.begin());
  ++age_;
}

double OrderedSweep::run(std::span<double> r, TaskArena* arena) {
  release_fixed(*data_, r);
  find_velocities(r);
  const SweepStep forward = stages_.run(
      arena, partial_,
      [&](SweepRange range) {
        return SweepStep{gauss_seidel_sweep(*data_, range, r, v_), 0.0, 0.0};
      },
      joined);
  double correction = forward.correction;
  if (symmetric_) {
    const double back = gauss_seidel_sweep(*data_, {0, data_->contacts(), true}, r, v_);
    correction = joined(forward, {back, 0.0, 0.0}).correction;
  }
  tell(r);
  return correction;
}

SweepStep OrderedSweep::step(std::span<const double> along, std::span<double> r, std::span<double> change,
                             TaskArena* arena) {
  if (symmetric_) return there_and_back(along, r, change);
  release_fixed(*data_, r);
  find_velocities(r);
  const SweepStep step = stages_.run(
      arena, partial_,
      [&](SweepRange range) { return gauss_seidel_step(*data_, range, along, r, change, v_); }, joined);
  tell(r);
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
