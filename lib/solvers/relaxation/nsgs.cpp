#include "solvers/relaxation/nsgs.h"

#include <algorithm>
#include <utility>

namespace signorini {

namespace {

/// Of two parts; NaN stays.
ExactSweep::Outcome joined(const ExactSweep::Outcome& a, const ExactSweep::Outcome& b) {
  return {std::max(a.correction, b.correction) + 0.0 * (a.correction + b.correction), a.slow + b.slow};
}

}  // namespace

void Nsgs::prepare_island(ReducedProblem problem, Vector mu) {
  set_sweeps(std::move(problem), std::move(mu), options_.common.law, TangentChoice::automatic,
             options_.order);
  prepare_exact();
}

void Nsgs::prepare_bodies(const ContactProblem& problem) {
  set_body_sweeps(problem, options_.common.law, TangentChoice::automatic, options_.order);
  prepare_exact();
}

void Nsgs::prepare_exact() {
  exact_.prepare(data_);
  stages_.prepare(data_.contacts(), plan_, SweepStages::worth_sharing(data_));
  partial_.resize(stages_.pieces());
  v_.assign(data_.bodies ? data_.bodies->free.size() : 0, 0.0);
}

void Nsgs::change_free_velocity(std::span<const double> q) {
  SweepingSolver::change_free_velocity(q);
  exact_.take_free_velocity();
}

Iteration Nsgs::start(std::span<double> /*r*/, const StopTest& /*stop*/) {
  reset_counters();
  exact_.forget();
  age_ = OrderedSweep::kLongestUse;
  return {};
}

Iteration Nsgs::iterate(std::span<double> r) {
  release_fixed(data_, r);
  if (data_.bodies && age_++ >= OrderedSweep::kLongestUse) {
    data_.bodies->velocities(r, v_);
    age_ = 1;
  }
  ExactSweep::Outcome outcome = stages_.run(
      arena_, partial_, [&](SweepRange range) { return exact_.run(range, r, v_); }, joined);
  if (plan_.symmetric) outcome = joined(outcome, exact_.run({0, data_.contacts(), true}, r, v_));
  counters_.guards += outcome.slow;
  return swept_in_order(outcome.correction);
}

}  // namespace signorini
