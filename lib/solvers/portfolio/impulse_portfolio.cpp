#include "solvers/portfolio/impulse_portfolio.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace signorini {

namespace {

// Sweeps before the first decision on few contacts, and between later ones.
constexpr int kShortLeg = 10, kLongLeg = 200;

}  // namespace

void ImpulsePortfolio::prepare(const ContactProblem& problem) {
  const bool small = problem.contacts() <= NewtonSystem::kSmall;
  if (small || !takes_body_rows(problem, SweepMatrix::automatic)) return DelassusSolver::prepare(problem);
  prepare_bodies(problem);
}

void ImpulsePortfolio::prepare_bodies(const ContactProblem& problem) {
  set_body_sweeps(problem, options_.common.law, TangentChoice::automatic, SweepOrder::automatic);
  problem_ = &problem;
  blocks_ = delassus_blocks_at_most(problem);
  prepare_sweeps();
}

void ImpulsePortfolio::prepare_island(ReducedProblem problem, Vector mu) {
  const FrictionLaw law = options_.common.law;
  set_sweeps(std::move(problem), std::move(mu), law, TangentChoice::automatic, SweepOrder::automatic);
  problem_ = nullptr;
  blocks_ = data_.W.blocks();
  prepare_sweeps();
}

void ImpulsePortfolio::change_free_velocity(std::span<const double> q) {
  SweepingSolver::change_free_velocity(q);
  newton_ready_ = false;
  subdomains_.reset();
}

void ImpulsePortfolio::prepare_sweeps() {
  anderson_ready_ = false;
  subdomains_.reset();
  sweeps_.prepare(data_, plan_);
  formed_ = {};
  newton_ready_ = false;
  const double read = data_.bodies ? 2.0 * data_.bodies->J.blocks() : data_.W.blocks();
  sweep_cost_ = kBlock * read + kContact * static_cast<double>(data_.contacts());
}

Iteration ImpulsePortfolio::start(std::span<double> r, const StopTest& stop) {
  reset_counters();
  stop_ = &stop;
  target_ = stop.judging() ? stop.tolerance() : stop.asked();
  newton_begun_ = proximal_begun_ = resume_ = left_to_others_ = false;
  trials_ = steps_so_far_ = 0;
  slice_ = swept_cost_ = counted_factor_ = 0.0;
  phase_ = 0;
  method_ = Method::sweeps;
  rates_.fill(-1.0);
  spent_.fill(0.0);
  subdomains_cost_ = 0.0;
  Iteration first;
  first.error = measure(r, 0.0);
  best_error_ = first.error;
  start_leg(Legs::gradients, first.error / stop.scale());
  length_ = data_.contacts() <= kFew ? kShortLeg : kFirstLeg;
  return first;
}

double ImpulsePortfolio::operations_left() const { return sweeps_left() * sweep_cost_; }

/// The best error of a leg, unit-free. Sweeps estimate theirs: where the estimate meets the tolerance and no measured error
/// has, these count.
double ImpulsePortfolio::best_of(const SweepRecord& record) const {
  const double estimated = record.best(), scale = stop_->scale();
  return estimated * scale <= target_ && best().has() ? std::max(estimated, best().error() / scale)
                                                      : estimated;
}

/// At the rate of the better accelerator, in sweeps of conjugate gradients.
double ImpulsePortfolio::sweeps_left() const {
  const double target = target_ / stop_->scale();
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < kLegs; ++i) {
    if (rates_[i] < 0.0) continue;  // not tried
    if (best_of(records_[i]) <= target) return 0.0;
    if (rates_[i] > 0.0) least = std::min(least, std::log(best_of(records_[i]) / target) / rates_[i]);
  }
  return least;
}

Iteration ImpulsePortfolio::iterate(std::span<double> r) {
  return method_ == Method::sweeps ? sweep(r) : step(r);
}

LoopEnd ImpulsePortfolio::settle(std::span<double> r) {
  if (method_ != Method::sweeps) {
    if (trial_is_over()) end_trial();
    return LoopEnd::none;
  }
  if (length_ > 0) return LoopEnd::none;
  note_rate();
  count_factor(r);
  if (best_of(record()) * stop_->scale() > target_ && trial_is_due(r)) {
    left_to_others_ = others_are_cheaper(r);
    if (left_to_others_ || trials_are_over(r)) return LoopEnd::stuck;
    begin_trial(r);
  } else if (!changes_legs(r)) {
    const double sweeps =
        std::clamp(sweeps_left() / 3.0, double{kShortLeg}, std::min(spent() / sweep_cost_, double{kLongLeg}));
    length_ = iterations_worth(legs_, sweeps);
  }
  return LoopEnd::none;
}

}  // namespace signorini
