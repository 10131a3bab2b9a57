#include "solvers/active_set/active_set_solver.h"

#include <algorithm>
#include <cmath>

namespace signorini {

namespace {

/// Iterations within which the residual of the system has to halve without a restart; short recurrences lose
/// their conjugacy to rounding on ill-conditioned systems, and a fresh residual mends that.
constexpr int kLinearPatience = 100;
/// StateInterval::growing, in iterations: after an evaluation that changed anything, by the preconditioner, and
/// more than the last after one that changed nothing. Beside an iteration with Diag an evaluation is expensive.
constexpr int kShortestIntervalFull = 1;
constexpr int kShortestIntervalDiag = 4;
constexpr int kIntervalGrowth = 2;

}  // namespace

int iterations_between(StateInterval kind, double ratio) {
  const double x = std::max(1.0, ratio);
  double length = 1.0;
  if (kind == StateInterval::log2) length = std::log2(x) / 3.0;
  if (kind == StateInterval::log10_squared) length = std::log10(x) * std::log10(x) / 3.0;
  if (kind == StateInterval::ln_squared) length = std::log(x) * std::log(x) / 3.0;
  if (kind == StateInterval::converged) return 1 << 30;
  return std::max(1, static_cast<int>(std::min(length, 1e6)));
}

void ActiveSetSolver::prepare_system(const ContactProblem& problem, FrictionLaw law, Judge judge, EndsBy end,
                                     const StateRules& rules, bool scale_duplicates,
                                     const ContactBlockOptions& blocks) {
  // the paper's own stop needs no U and no free velocity
  const bool from_start = end == EndsBy::paper && judge == Judge::own;
  system_.prepare(problem, law, judge, arena_, from_start ? Origin::start : Origin::free);
  saddle_.prepare(system_, rules, scale_duplicates, counters_, blocks);
  method_->resize(saddle_);
  best().resize(saddle_.rows());
  start_.assign(system_.origin.begin(), system_.origin.end());
  belong_ = false;
  const bool told = !system_.exact() && std::ssize(start_) == problem.v_minus.size();
  previous_.assign(problem.v_minus.begin(), told ? problem.v_minus.end() : problem.v_minus.begin());
}

void ActiveSetSolver::update_contacts(const ContactProblem& problem) {
  const std::vector<double> last = saddle_.v;
  prepare(problem);
  if (last.size() != start_.size() || !all_finite(last)) return;
  start_ = last;
  belong_ = true;
}

void ActiveSetSolver::begin(std::span<const double> r, bool full) {
  counters_ = {};
  iterations_ = 0;
  fallbacks_ = 0;
  stuck_ = false;
  fresh_ = true;
  linear_ = {};
  shortest_interval_ = full ? kShortestIntervalFull : kShortestIntervalDiag;
  interval_length_ = next_evaluation_ = 1;
  saddle_.arena = arena_;  // may have changed since `prepare`
  method_->begin(full);
  const bool warm = std::any_of(r.begin(), r.end(), [](double x) { return x != 0.0; });
  const bool by_previous = warm && !belong_ && !previous_.empty();
  saddle_.start(system_, r, by_previous ? previous_ : start_, by_previous || belong_);
}

Iteration ActiveSetSolver::iterate(std::span<double> r) {
  if (fresh_) {
    fresh_ = false;
    begin_iterations();
    method_->restart(saddle_);
  }
  step_ = method_->step(saddle_);
  if (step_.mended || step_.stuck) stuck_ = step_.stuck;
  ++iterations_;
  Iteration iteration;
  iteration.estimate = estimate_ = saddle_.estimate(r);
  return iteration;
}

LoopEnd ActiveSetSolver::settle(std::span<double> /*r*/) {
  bool changed = step_.mended;
  changed = lose_patience() || changed;
  if (solved() || stuck_) {
    const LoopEnd end = when_solved();
    if (end != LoopEnd::none) return end;
    changed = true;
  } else if ((step_.alpha > 0.0 || !wait_for_descent_) && evaluation_is_due()) {
    changed = evaluate_on_the_way() || changed;
  }
  if (changed) {
    linear_.begin(saddle_.residual, iterations_);
    method_->restart(saddle_);
    stuck_ = false;
  } else {
    stuck_ = !method_->turn(saddle_);
  }
  return LoopEnd::none;
}

bool ActiveSetSolver::evaluation_is_due() const {
  const StateInterval kind = interval();
  if (kind == StateInterval::growing) return iterations_ >= next_evaluation_;
  return iterations_ % iterations_between(kind, saddle_.residual / state_tolerance()) == 0;
}

bool ActiveSetSolver::evaluate_on_the_way() {
  const bool changed = saddle_.evaluate_states(gate_on_the_way(), Moment::running);
  interval_length_ = changed ? shortest_interval_ : interval_length_ + kIntervalGrowth;
  next_evaluation_ = iterations_ + interval_length_;
  return changed;
}

bool ActiveSetSolver::lose_patience() {
  if (!linear_.overdue(saddle_.residual, iterations_, kLinearPatience)) return false;
  saddle_.refresh();
  return true;
}

IterationProgress ActiveSetSolver::progress() {
  IterationProgress told;
  told.plain = saddle_.residual;
  told.preconditioned = method_->preconditioned_norm(saddle_);
  told.constraint = saddle_.constraint_norm();
  return told;
}

const SolveCounters& ActiveSetSolver::counters() {
  counters_.restarts = method_->restarts();
  counters_.guards = method_->guards() + fallbacks_;
  return counters_;
}

}  // namespace signorini
