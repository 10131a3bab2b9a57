// Trials of Newton steps in `ImpulsePortfolio`: what they cost, when they begin and when they are over.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "linalg/factor_count.h"
#include "solvers/portfolio/impulse_portfolio.h"

namespace signorini {

namespace {

// Operations: found by measurement, docs/notes/auto.md.
constexpr double kStepBlock = 2300.0,
                 kStepContact = 5600.0;  ///< of a Newton step beside its factor's operations
constexpr double kSparseOperation = 3.0, kDenseOperation = 0.5;  ///< one of a sparse and of a dense factor
constexpr double kAnalysis = 2000.0;  ///< twice the count of its operations, per block of W …
constexpr double kForming = 8000.0;   ///< … and with W to be formed, out of the cache

constexpr double kSteps =
    10.0;  ///< that a trial is expected to take, where a guess of their cost is too high …
constexpr double kCountedSteps = 16.0;  ///< … and where it is counted
constexpr double kShareOfSweeps = 0.8;  ///< of a trial's cost, spent on sweeps before the next trial
constexpr double kLeastOfSweeps = 0.2;  ///< the same, before a rate is trusted
constexpr double kGrowth = 1.5;         ///< of the cost of a trial after one that failed

constexpr double kRegularisation = 0.01, kShift = 0.1;
constexpr int kMostSteps = 60, kPatience = 12;           ///< of full steps, the first trial
constexpr int kMostLaterSteps = 30, kLaterPatience = 8;  ///< from iterates of sweeps
constexpr double kShareOfFirst = 0.5;                    ///< of what trials have to cost
constexpr double kProximalSteps = 40.0;
constexpr double kGain = 2.0, kLargeGain = 20.0;

}  // namespace

void ImpulsePortfolio::prepare_newton() {
  if (problem_ != nullptr) {
    ReducedProblem reduced = in_order(assemble_reduced(*problem_, arena_), plan_, arena_);
    formed_ = make_gauss_seidel_data(std::move(reduced.W), std::move(reduced.q), data_.mu, data_.law,
                                     TangentChoice::automatic);
    blocks_ = formed_.W.blocks();
  }
  system_.prepare(problem_ != nullptr ? formed_ : data_);
  newton_.prepare(system_);
  proximal_.prepare(system_);
  for (std::vector<double>* v : {&swept_, &best_r_, &x_}) v->assign(u_.size(), 0.0);
  newton_ready_ = true;
}

/// Of one Newton step here: counted, or before the first a guess from the contacts that push.
double ImpulsePortfolio::cost_of_steps(std::span<const double> r) const {
  const double m = static_cast<double>(data_.contacts()), blocks = blocks_;
  Index pushing = 0;
  for (std::size_t k = 0; k < r.size(); k += 3) pushing += r[k] > 0.0 ? 1 : 0;
  const double share = static_cast<double>(pushing) / std::max(1.0, m);
  const double rest = kStepBlock * blocks * share * share + kStepContact * pushing + 3.0 * sweep_cost_;
  const double n = 3.0 * pushing;
  const double dense = kDenseOperation * 2.0 / 3.0 * n * n * n;
  if (steps_so_far_ > 0) return std::min(dense, kSparseOperation * system_.flops() / steps_so_far_) + rest;
  // a factor that holds four times the entries of the matrix
  const double entries = 4.0 * 9.0 * blocks * share * share;
  const double sparse = n > 0.0 ? kSparseOperation * entries * entries / n : 0.0;
  const double factor = counted_factor_ > 0.0 ? kSparseOperation * counted_factor_ : sparse;
  return std::min(dense, factor) + rest;
}

/// Where the guess of a factor weighs most, its operations are counted from the pattern of the contacts that push.
void ImpulsePortfolio::count_factor(std::span<const double> r) {
  if (counted_factor_ > 0.0 || steps_so_far_ > 0 || (problem_ != nullptr && step_of_others_ > 0.0)) return;
  const bool forms = problem_ != nullptr && !newton_ready_ && data_.contacts() >= kMany;
  if (swept_cost_ < (forms ? kForming : kAnalysis) * blocks_) return;
  if (cost_of_steps(r) < 4.0 * kStepBlock * blocks_) return;
  if (problem_ != nullptr && !newton_ready_) prepare_newton();
  std::vector<Index> pushing;
  for (Index k = 0; k < data_.contacts(); ++k)
    if (r[3 * static_cast<std::size_t>(k)] > 0.0) pushing.push_back(k);
  // a block of L costs a multiplication of 3×3 blocks with every block below it; L and U
  counted_factor_ =
      std::max(1.0, 2.0 * 27.0 * factor_products(problem_ != nullptr ? formed_.W : data_.W, pushing));
}

bool ImpulsePortfolio::others_are_cheaper(std::span<const double> r) const {
  return step_of_others_ > 0.0 && step_of_others_ <= cost_of_steps(r);
}

/// Of the next trial, here or by others.
double ImpulsePortfolio::cost_of_trial(std::span<const double> r) const {
  if (others_are_cheaper(r)) return std::max(steps_of_others_ * step_of_others_, slice_);
  return std::max((counted_factor_ > 0.0 ? kCountedSteps : kSteps) * cost_of_steps(r), slice_);
}

bool ImpulsePortfolio::trial_is_due(std::span<const double> r) const {
  const double need = cost_of_trial(r);
  if (swept_cost_ > kShareOfSweeps * need) return true;
  return swept_cost_ > kLeastOfSweeps * need && sweeps_left() * sweep_cost_ > need;
}

bool ImpulsePortfolio::trials_are_over(std::span<const double> r) const {
  if (most_trials_ == 0 || trials_ < most_trials_) return false;
  return steps_so_far_ * cost_of_steps(r) >= least_of_trials_;
}

void ImpulsePortfolio::begin_trial(std::span<const double> r) {
  if (!newton_ready_) prepare_newton();
  if (!newton_begun_) system_.begin(stop_->scale());
  std::copy(r.begin(), r.end(), swept_.begin());
  const double swept = best_of(record()) * stop_->scale();
  if (!newton_begun_ || swept < best_error_) {
    best_error_ = swept;
    std::copy(r.begin(), r.end(), best_r_.begin());
  }
  method_ = trials_ % 3 == 1 || trials_ == 0 ? Method::full : Method::proximal;
  trial_begin_ = system_.flops();
  trial_error_ = best_error_;
  steps_ = idle_ = 0;
  if (method_ == Method::full) {
    system_.to_unit_free(best_r_, x_);
    if (!newton_begun_) std::fill(x_.begin(), x_.end(), 0.0);
    newton_.start(x_, kRegularisation);
    gained_error_ = newton_.error();
    ++products_;
  } else if (!proximal_begun_) {
    std::fill(x_.begin(), x_.end(), 0.0);
    proximal_.start(x_, kShift);
    proximal_begun_ = true;
    ++products_;
  }
  newton_begun_ = true;
}

Iteration ImpulsePortfolio::step(std::span<double> r) {
  phase_ = 1;
  ++steps_;
  ++steps_so_far_;
  double error = 0.0;  // of the contacts that something moves, m/s
  if (method_ == Method::full) {
    if (!newton_.step()) steps_ = kMostSteps;
    error = newton_.error();
    system_.to_impulses(newton_.iterate(), r);
    ++products_;
  } else {
    proximal_.step();
    error = proximal_.error();
    system_.to_impulses(proximal_.iterate(), r);
    products_ += 2;
  }
  ++counters_.evaluations;
  counters_.state_changes += system_.state_changes();
  counters_.factorisations = system_.factorisations();
  if (!std::isfinite(error)) {  // full steps ran away: the trial ends
    steps_ = kMostSteps;
    std::copy(best_r_.begin(), best_r_.end(), r.begin());
    error = best_error_;
  } else if (error < best_error_) {
    best_error_ = error;
    std::copy(r.begin(), r.end(), best_r_.begin());
  }
  Iteration iteration;
  iteration.error = std::max(error, system_.immovable());
  return iteration;
}

bool ImpulsePortfolio::trial_is_over() {
  if (best_error_ <= target_) return false;  // nothing is left but rounding
  if (method_ == Method::proximal) {
    const double spent = system_.flops() - trial_begin_;
    return spent * kSparseOperation > std::max(kProximalSteps * cost_of_steps(best_r_), 2.0 * slice_) ||
           steps_ >= 3 * kProximalSteps;
  }
  ++idle_;
  if (newton_.error() < 0.9 * gained_error_) {
    gained_error_ = newton_.error();
    idle_ = 0;
  }
  const bool first = !proximal_begun_ && trials_ == 0;
  // where what comes instead is dear, steps from zero may wander
  if (first && steps_ < kMostSteps && steps_ * cost_of_steps(best_r_) < kShareOfFirst * least_of_trials_)
    return false;
  return steps_ >= (first ? kMostSteps : kMostLaterSteps) || idle_ >= (first ? kPatience : kLaterPatience);
}

void ImpulsePortfolio::end_trial() {
  ++trials_;
  slice_ = kGrowth * std::max(slice_, steps_ * cost_of_steps(best_r_));
  swept_cost_ = 0.0;
  method_ = Method::sweeps;
  resume_ = true;
  length_ = legs_ == Legs::subdomains ? kSubdomainLeg : kFirstLeg;
  if (trial_error_ > kGain * best_error_) {
    if (trial_error_ > kLargeGain * best_error_) trials_ = 0;
    swept_ = best_r_;
    start_leg(legs_, best_error_ / stop_->scale());
  } else {
    record().begin(record().best());
  }
  restart_schedule();
}

}  // namespace signorini
