#include "solvers/active_set/cr.h"

#include <algorithm>
#include <cmath>

#include "krylov/conjugate_residuals.h"

namespace signorini {

namespace {

/// Iterations without an estimate 1 % below the best (or twice the number of rows) after which Diag replaces Full.
constexpr int kStagnation = 300;
/// HeldBounds::adaptive: iterations that held bounds wait for a solved problem before they ask for less.
constexpr int kBoundPatience = 80;

}  // namespace

void CrOptions::validate(std::string_view solver) const {
  if (average < 1 || average > StateRules::kLongestAverage)
    throw_usage("{}: average = {} is not between 1 and {}", solver, average, StateRules::kLongestAverage);
  if (!(angle >= 0.0)) throw_usage("{}: angle = {} is negative", solver, angle);
  if (!(turn > 0.0 && turn <= 1.0)) throw_usage("{}: turn = {} is not in (0, 1]", solver, turn);
  if (!(postpone >= 0.0)) throw_usage("{}: postpone = {} is negative", solver, postpone);
  const bool printed = gates == StateForm::printed || slip_test == StateForm::printed;
  if (prediction == StatePrediction::coupled && (printed || direction == SlideDirection::paper))
    throw_usage("{}: gates, slip_test and direction as printed belong to prediction = single", solver);
  blocks_of_contacts.validate(solver);
  thresholds.validate(solver);
}

CrOptions CrOptions::resolved() const {
  CrOptions result = *this;
  const bool coupled = prediction == StatePrediction::coupled;
  if (interval == StateInterval::automatic)
    result.interval = coupled ? StateInterval::growing : StateInterval::log2;
  if (direction == SlideDirection::automatic)
    result.direction = coupled ? SlideDirection::newton : SlideDirection::prox;
  if (patience < 0) result.patience = coupled ? 600 : 120;
  if (bounds == HeldBounds::automatic) result.bounds = coupled ? HeldBounds::adaptive : HeldBounds::tight;
  return result;
}

CrFull::CrFull(const Options& options)
    : RegisteredSolver(options, options, true,
                       std::make_unique<ConjugateResiduals>(options.breakdown_guard)) {}
CrDiag::CrDiag(const Options& options)
    : RegisteredSolver(options, options, false,
                       std::make_unique<ConjugateResiduals>(options.breakdown_guard)) {}

SwitchingResiduals::SwitchingResiduals(const CrOptions& options, bool full,
                                       std::unique_ptr<KrylovMethod> method)
    : ActiveSetSolver(std::move(method)), cr_(options.resolved()), wants_full_(full) {
  postpone_ = cr_.postpone;
  wait_for_descent_ = cr_.gate;
}

std::string SwitchingResiduals::unsupported_reason(const ContactProblem& problem) const {
  const std::string reason = cr_.stop == EndsBy::paper ? Thresholds::refusal(problem, "paper") : "";
  return reason.empty() ? ActiveSetSolver::unsupported_reason(problem) : reason;
}

void SwitchingResiduals::prepare(const ContactProblem& problem) {
  const StateRules rules{cr_.prediction, cr_.direction, cr_.angle,     cr_.turn,
                         cr_.average,    cr_.gates,     cr_.slip_test, cr_.bounds};
  dt_ = problem.dt;
  prepare_system(problem, cr_.common.law, cr_.judge, cr_.stop, rules, cr_.duplicates && wants_full_,
                 cr_.blocks_of_contacts);
}

Iteration SwitchingResiduals::start(std::span<double> r, const StopTest& stop) {
  begin(r, wants_full_);
  paper_ = cr_.stop == EndsBy::paper && !stop.fixed();
  smallest_ = 1e-15 * stop.scale();
  inner_ = paper_ ? cr_.thresholds.eps2 / dt_ : std::max(cr_.inner * stop.asked(), smallest_);
  longest_idle_ = std::max(kStagnation, 2 * static_cast<int>(r.size()));
  improved_ = std::numeric_limits<double>::infinity();
  improved_at_ = 0;
  error_ = {};
  bound_moves_ = 0;
  moved_at_ = 0;
  Iteration first;
  first.estimate = saddle_.estimate_of(r);
  return first;
}

void SwitchingResiduals::begin_iterations() { saddle_.evaluate_states(gate_on_the_way(), Moment::running); }

bool SwitchingResiduals::lose_patience() {
  bool changed = false;
  if (cr_.patience > 0 && error_.overdue(estimate_, iterations_, cr_.patience)) {
    // sliding impulses and their bounds alternate
    if (!saddle_.states.held()) {
      saddle_.change_states([](ActiveSet& states) { states.hold_bounds(); });
      changed = true;
    }
    error_.begin(estimate_, iterations_);
  }
  if (cr_.bounds == HeldBounds::adaptive) watch_bounds();
  changed = ActiveSetSolver::lose_patience() || changed;
  if (estimate_ < 0.99 * improved_) {
    improved_ = estimate_;
    improved_at_ = iterations_;
  } else if (method_->full() && iterations_ - improved_at_ > longest_idle_) {
    // no progress in the indefinite metric: Diag, from a fresh residual
    method_->use_diagonal();
    saddle_.refresh();
    changed = true;
  }
  return changed;
}

void SwitchingResiduals::watch_bounds() {
  const ActiveSet& states = saddle_.states;
  if (!states.held() || states.bound_moves() != bound_moves_) {
    bound_moves_ = states.bound_moves();
    moved_at_ = iterations_;
  } else if (iterations_ - moved_at_ > kBoundPatience) {
    saddle_.states.loosen_bounds();
    moved_at_ = iterations_;
  }
}

bool SwitchingResiduals::solved() { return paper_ ? solved_by_paper() : saddle_.residual <= accuracy(); }

bool SwitchingResiduals::solved_by_paper() {
  const Thresholds& asked = cr_.thresholds;
  if (asked.met(dt_, saddle_.squared_residual(dt_), saddle_.constraint_norm())) return true;
  return cr_.least_squares && std::sqrt(method_->squared_gradient(saddle_, dt_)) < asked.eps1;
}

LoopEnd SwitchingResiduals::when_solved() {
  if (saddle_.evaluate_states(accuracy(), Moment::converged)) return LoopEnd::none;
  if (paper_) return stuck_ && !solved_by_paper() ? LoopEnd::stuck : LoopEnd::paper_rule;
  if (inner_ <= smallest_) return LoopEnd::stuck;
  // the system is solved, the problem is not: tighter, from a fresh residual
  inner_ = std::max(0.1 * inner_, smallest_);
  saddle_.refresh();
  saddle_.evaluate_states(inner_, Moment::running);
  return LoopEnd::none;
}

/// Held states change by few; on stiff systems each restart for them costs more than it brings.
StateInterval SwitchingResiduals::interval() const {
  const bool rarely = cr_.bounds == HeldBounds::adaptive && saddle_.states.held();
  return rarely && cr_.interval == StateInterval::log2 ? StateInterval::ln_squared : cr_.interval;
}

}  // namespace signorini
