#include "solvers/portfolio/auto.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace signorini {

namespace {

// Costs, in operations of a sweep: found by measurement, docs/notes/auto.md.
constexpr double kBlock = 18.0, kContact = 60.0;  ///< of a sweep
constexpr double kSparseOperation = 3.0;          ///< one of a sparse factor

// Sweeps before the first decision, and between later ones.
constexpr int kFirstLeg = 20, kShortLeg = 10, kLongLeg = 200;
constexpr double kSteps = 10.0;  ///< that a trial is expected to take
constexpr double kShareOfSweeps = 0.8;  ///< of a trial's cost, spent on sweeps before the next trial
constexpr double kGrowth = 1.5;         ///< of the cost of a trial after one that failed

// Trials.
constexpr double kRegularisation = 0.01, kShift = 0.1;
constexpr int kMostSteps = 60, kPatience = 25;          ///< of full steps, the first trial
constexpr int kMostLaterSteps = 30, kLaterPatience = 8; ///< from iterates of sweeps
constexpr double kProximalSteps = 40.0;
constexpr double kGain = 2.0, kLargeGain = 20.0;

}  // namespace

void Auto::prepare_island(ReducedProblem problem, Vector mu) {
  const FrictionLaw law = options_.common.law;
  set_data(make_gauss_seidel_data(std::move(problem.W), std::move(problem.q), std::move(mu), law,
                                  natural_tangent_step(law)));
  sweeps_.prepare(data_);
  system_.prepare(data_);
  newton_.prepare(system_);
  proximal_.prepare(system_);
  for (std::vector<double>* v : {&swept_, &best_r_, &x_}) v->assign(u_.size(), 0.0);
  sweep_cost_ = kBlock * static_cast<double>(data_.W.blocks()) + kContact * static_cast<double>(data_.contacts());
}

Iteration Auto::start(std::span<double> r, const StopTest& stop) {
  reset_counters();
  stop_ = &stop;
  target_ = stop.judging() ? stop.tolerance() : stop.asked();
  system_.begin(stop.scale());
  Iteration first;
  first.error = measure(r, 0.0);
  best_error_ = first.error;
  std::copy(r.begin(), r.end(), best_r_.begin());
  proximal_begun_ = false;
  trials_ = steps_so_far_ = 0;
  slice_ = swept_cost_ = 0.0;
  phase_ = 0;
  begin_sweeps(r, first.error);
  return first;
}

void Auto::offer(std::span<const double> r, double error) {
  if (!(error < best_error_)) return;
  best_error_ = error;
  std::copy(r.begin(), r.end(), best_r_.begin());
}

void Auto::begin_sweeps(std::span<const double> r, double error) {
  method_ = Method::sweeps;
  std::copy(r.begin(), r.end(), swept_.begin());
  sweeps_.start();
  record_.begin(error);
  length_ = kFirstLeg;
}

Iteration Auto::sweep(std::span<double> r) {
  phase_ = 0;
  const SweepStep step = sweeps_.step(swept_);
  std::copy(swept_.begin(), swept_.end(), r.begin());
  swept_cost_ += sweep_cost_;
  --length_;
  record_.add(step.correction);
  offer(r, step.correction);
  return swept(step.correction);
}

/// Of one Newton step: counted, or before the first a guess from the contacts that push.
double Auto::cost_of_steps() const {
  if (steps_so_far_ > 0) return system_.flops() / steps_so_far_ + 3.0 * sweep_cost_;
  Index pushing = 0;
  for (Index k = 0; k < data_.contacts(); ++k) pushing += swept_[3 * static_cast<std::size_t>(k)] > 0.0 ? 1 : 0;
  const double n = 3.0 * pushing, all = std::max(1.0, static_cast<double>(data_.contacts()));
  const double dense = 2.0 / 3.0 * n * n * n;
  // a factor that holds four times the entries of the matrix
  const double entries = 4.0 * 9.0 * static_cast<double>(data_.W.blocks()) * (pushing / all) * (pushing / all);
  const double sparse = n > 0.0 ? kSparseOperation * entries * entries / n : 0.0;
  return std::min(dense, sparse) + 3.0 * sweep_cost_;
}

bool Auto::trial_is_due() const {
  const double need = std::max(kSteps * cost_of_steps(), slice_);
  const double left = record_.left(target_) * sweep_cost_;
  return left > need || swept_cost_ > kShareOfSweeps * need;
}

void Auto::begin_trial() {
  method_ = trials_ % 3 == 1 || trials_ == 0 ? Method::full : Method::proximal;
  trial_begin_ = system_.flops();
  trial_error_ = best_error_;
  steps_ = idle_ = 0;
  if (method_ == Method::full) {
    system_.to_unit_free(best_r_, x_);
    if (trials_ == 0) std::fill(x_.begin(), x_.end(), 0.0);
    newton_.start(x_, kRegularisation);
    gained_error_ = newton_.error();
  } else if (!proximal_begun_) {
    std::fill(x_.begin(), x_.end(), 0.0);
    proximal_.start(x_, kShift);
    proximal_begun_ = true;
  }
  ++products_;
}

Iteration Auto::step(std::span<double> r) {
  phase_ = 1;
  ++steps_;
  ++steps_so_far_;
  Iteration iteration;
  if (method_ == Method::full) {
    if (!newton_.step()) steps_ = kMostSteps;
    if (!stop_->fixed()) newton_.settle(target_);
    iteration.error = newton_.error();
    system_.to_impulses(newton_.iterate(), r);
    ++products_;
  } else {
    proximal_.step();
    if (!stop_->fixed()) proximal_.settle(target_);
    iteration.error = proximal_.error();
    system_.to_impulses(proximal_.iterate(), r);
    products_ += 2;
  }
  ++counters_.evaluations;
  counters_.state_changes += system_.state_changes();
  if (!std::isfinite(iteration.error)) {  // full steps ran away: the trial ends
    steps_ = kMostSteps;
    std::copy(best_r_.begin(), best_r_.end(), r.begin());
    iteration.error = best_error_;
  }
  offer(r, iteration.error);
  return iteration;
}

bool Auto::trial_is_over() {
  if (best_error_ <= target_) return false;  // nothing is left but rounding
  if (method_ == Method::proximal) {
    const double spent = system_.flops() - trial_begin_;
    const double budget = std::max(kProximalSteps * cost_of_steps(), 2.0 * slice_);
    return spent > budget;
  }
  ++idle_;
  if (newton_.error() < 0.9 * gained_error_) {
    gained_error_ = newton_.error();
    idle_ = 0;
  }
  const bool first = trials_ == 0;
  return steps_ >= (first ? kMostSteps : kMostLaterSteps) || idle_ >= (first ? kPatience : kLaterPatience);
}

void Auto::end_trial() {
  ++trials_;
  slice_ = kGrowth * std::max(slice_, system_.flops() - trial_begin_);
  swept_cost_ = 0.0;
  if (trial_error_ > kGain * best_error_) {
    if (trial_error_ > kLargeGain * best_error_) trials_ = 0;
    begin_sweeps(best_r_, best_error_);
  } else {
    method_ = Method::sweeps;
    record_.begin(record_.best());
    length_ = kFirstLeg;
  }
  restart_schedule();
}

Iteration Auto::iterate(std::span<double> r) {
  return method_ == Method::sweeps ? sweep(r) : step(r);
}

LoopEnd Auto::settle(std::span<double> /*r*/) {
  if (method_ != Method::sweeps) {
    if (trial_is_over()) end_trial();
    return LoopEnd::none;
  }
  if (length_ > 0 || best_error_ <= target_) return LoopEnd::none;
  if (trial_is_due()) {
    begin_trial();
  } else {
    length_ = static_cast<int>(std::clamp(record_.left(target_) / 3.0, double{kShortLeg}, double{kLongLeg}));
  }
  return LoopEnd::none;
}

}  // namespace signorini
