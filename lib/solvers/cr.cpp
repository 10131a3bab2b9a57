#include "solvers/cr.h"

#include <algorithm>
#include <cmath>

#include "solvers/conjugate_directions.h"
#include "solvers/phase.h"
#include "solvers/saddle_system.h"

namespace signorini {

namespace {

/// Iterations without an estimate 1 % below the best (or twice the number of
/// rows) after which it does so as well.
constexpr int kStagnation = 300;
/// Iterations within which the residual of the system has to halve without a
/// restart; short recurrences lose their conjugacy to rounding on
/// ill-conditioned systems, and a fresh residual mends that.
constexpr int kLinearPatience = 100;
/// HeldBounds::adaptive: iterations that held bounds wait for a solved problem before they ask for less.
constexpr int kBoundPatience = 80;

/// Watches a positive number that should halve again and again.
class Halving {
 public:
  void begin(double value, int iteration) {
    value_ = value;
    since_ = iteration;
  }
  bool overdue(double value, int iteration, int patience) {
    if (value < 0.5 * value_) begin(value, iteration);
    return iteration - since_ > patience;
  }

 private:
  double value_ = std::numeric_limits<double>::infinity();
  int since_ = 0;
};

int interval_of(CrInterval kind, double ratio) {
  const double x = std::max(1.0, ratio);
  double length = 1.0;
  if (kind == CrInterval::log2) length = std::log2(x) / 3.0;
  if (kind == CrInterval::log10_squared) length = std::log10(x) * std::log10(x) / 3.0;
  if (kind == CrInterval::ln_squared) length = std::log(x) * std::log(x) / 3.0;
  if (kind == CrInterval::converged) return 1 << 30;
  return std::max(1, static_cast<int>(std::min(length, 1e6)));
}

/// The iterations of one solve, from the start values that `s` holds.
class ResidualLoop {
 public:
  /// `dt`: s, for the paper's rule.
  ResidualLoop(const CrOptions& options, const StopTest& stop, double residual, double dt, SaddleSystem& s,
               KrylovMethod& method, BestIterate& best, IterationObserver* observer)
      : options_(options),
        stop_(stop),
        s_(s),
        method_(method),
        best_(best),
        observer_(observer),
        schedule_(stop.tolerance()),
        smallest_(1e-15 * stop.scale()),
        paper_(options.stop == CrStop::paper && stop.judging()),
        dt_(dt),
        inner_(paper_ ? options.eps2 / dt : std::max(options.inner * residual * stop.scale(), smallest_)) {}

  /// False where the start values are kept: they are accurate, or what came after was not finite.
  bool run(std::size_t rows) {
    if (judging() && !paper_ && stop_.met(measure(s_.system.error(s_.r, s_.u) + s_.momentum_error))) {
      return end(PhaseEnd::converged);
    }
    if (!best_.has()) best_.offer(s_.r, std::numeric_limits<double>::infinity());
    patience_ = std::max(kStagnation, 2 * static_cast<int>(rows));
    s_.look(std::max(inner_, options_.postpone * s_.residual), Moment::running);
    method_.restart(s_);
    while (report_.iterations < stop_.max_iterations() && iterate()) {
    }
    report_.products = s_.counters.mass_products;
    report_.counters = s_.counters;
    if (finite_ && judging() && std::isnan(report_.error)) measure(report_.estimate);
    return finite_;
  }

  const PhaseReport& report() const { return report_; }

 private:
  bool judging() const { return stop_.judging(); }
  /// False at the end, which `report_` then names.
  bool end(PhaseEnd why) {
    report_.end = why;
    return false;
  }

  /// The error of `s.r`, the feasible impulses of the last estimate.
  double measure(double estimate) {
    report_.error = s_.system.exact() ? s_.system.exact_error(s_.r, s_.arena) : estimate;
    if (std::isfinite(report_.error)) best_.offer(s_.r, report_.error);
    return report_.error;
  }

  /// One iteration; false at the end.
  bool iterate() {
    if (stop_.out_of_time()) return end(PhaseEnd::time);
    const KrylovStep step = method_.step(s_);
    bool changed = step.restart;
    if (step.restart || step.stuck) stuck_ = step.stuck;
    ++report_.iterations;
    const double estimate = s_.estimate();
    report_.estimate = estimate;
    report_.error = std::numeric_limits<double>::quiet_NaN();
    finite_ = std::isfinite(estimate) && all_finite(s_.r);
    if (!finite_) {
      --report_.iterations;
      return end(PhaseEnd::diverged);
    }
    tell();
    if (!paper_ && accurate(estimate)) return end(PhaseEnd::converged);
    changed = lose_patience(estimate) || changed;
    const double accuracy = std::max(inner_, s_.states.held_accuracy(s_.system));
    if ((paper_ ? system_solved() : s_.residual <= accuracy) || stuck_) {
      if (!settle(accuracy, estimate)) return false;
      changed = true;
    } else if (due(step.alpha)) {
      changed = s_.look(std::max(inner_, options_.postpone * s_.residual), Moment::running) || changed;
    }
    if (changed) {
      linear_.begin(s_.residual, report_.iterations);
      method_.restart(s_);
      stuck_ = false;
    } else {
      stuck_ = !method_.turn(s_);
    }
    return true;
  }

  void tell() {
    if (observer_ == nullptr) return;
    observer_->on_progress(report_.iterations,
                           {s_.residual, method_.preconditioned_norm(s_), s_.constraint_norm(), s_.counters});
    observer_->on_iteration(report_.iterations, s_.r, "");
  }

  /// Whether the tolerance is met, where it is time to look; else keeps what may be the best.
  bool accurate(double estimate) {
    const int k = report_.iterations;
    if (!judging()) {
      if ((k & (k - 1)) == 0) best_.offer(s_.r, estimate);
      return false;
    }
    if (!schedule_.due(k, estimate)) return false;
    const double error = measure(estimate);
    if (stop_.met(error)) return true;
    schedule_.broken(k, estimate, error);
    return false;
  }

  /// Measures against stagnation; true when one of them changed anything.
  bool lose_patience(double estimate) {
    bool changed = false;
    const int k = report_.iterations;
    if (options_.patience > 0 && progress_.overdue(estimate, k, options_.patience)) {
      // sliding impulses and their bounds alternate
      if (!s_.states.held()) {
        s_.hold_bounds();
        changed = true;
      }
      progress_.begin(estimate, k);
    }
    if (options_.bounds == HeldBounds::adaptive) watch_bounds();
    if (linear_.overdue(s_.residual, k, kLinearPatience)) {
      s_.refresh();
      changed = true;
    }
    if (estimate < 0.99 * improved_) {
      improved_ = estimate;
      improved_at_ = k;
    } else if (s_.full && k - improved_at_ > patience_) {
      // no progress in the indefinite metric: Diag, from a fresh residual
      s_.full = false;
      s_.refresh();
      changed = true;
    }
    return changed;
  }

  void watch_bounds() {
    const int k = report_.iterations;
    if (!s_.states.held() || s_.states.bound_moves() != moves_) {
      moves_ = s_.states.bound_moves();
      moved_at_ = k;
    } else if (k - moved_at_ > kBoundPatience) {
      s_.states.loosen_bounds();
      moved_at_ = k;
    }
  }

  /// The system is solved to `accuracy`, or nothing moves. False where that is all that can be had.
  bool settle(double accuracy, double estimate) {
    if (s_.look(accuracy, Moment::converged)) return true;
    if (paper_) {
      measure(estimate);
      return end(stuck_ && !system_solved() ? PhaseEnd::stuck : PhaseEnd::paper_rule);
    }
    if (inner_ <= smallest_) {
      if (judging() && std::isnan(report_.error)) measure(estimate);
      return end(judging() && stop_.met(report_.error) ? PhaseEnd::converged : PhaseEnd::stuck);
    }
    // the system is solved, the problem is not: tighter, from a fresh residual
    inner_ = std::max(0.1 * inner_, smallest_);
    s_.refresh();
    s_.look(inner_, Moment::running);
    return true;
  }

  /// Whether to look at the states while the system is being solved (Algorithm 2, line 2), and only after
  /// steps with α > 0.
  bool due(double alpha) const {
    return (alpha > 0.0 || !options_.gate) && options_.interval != CrInterval::converged &&
           report_.iterations % interval_of(interval(), s_.residual / inner_) == 0;
  }

  /// Held states change by few; on stiff systems each restart for them costs more than it brings.
  CrInterval interval() const {
    const bool rarely = options_.bounds == HeldBounds::adaptive && s_.states.held();
    return rarely && options_.interval == CrInterval::log2 ? CrInterval::ln_squared : options_.interval;
  }

  /// The paper's test of the system: ‖(ρ_v; dt ρ_c)‖₂ < ε₁ and dt ‖ρ_c‖∞ < ε₂.
  bool system_solved() const {
    if (!(dt_ * s_.constraint_norm() < options_.eps2)) return false;
    return std::sqrt(s_.squared_residual(dt_)) < options_.eps1;
  }

  const CrOptions& options_;
  const StopTest& stop_;
  SaddleSystem& s_;
  KrylovMethod& method_;
  BestIterate& best_;
  IterationObserver* observer_;
  CheckSchedule schedule_;
  double smallest_;  ///< of `inner_`
  bool paper_;       ///< the paper's own rule ends the run
  double dt_;        ///< s
  double inner_;     ///< tolerance of the linear system and of the gates, m/s
  PhaseReport report_;
  double improved_ = std::numeric_limits<double>::infinity();  ///< least estimate
  int improved_at_ = 0;
  int patience_ = kStagnation;
  Halving progress_, linear_;
  long long moves_ = 0;  ///< of held bounds
  int moved_at_ = 0;     ///< iteration of the last one, or of asking for less
  bool finite_ = true;
  bool stuck_ = false;
};

}  // namespace

struct ConjugateResiduals::Impl {
  SaddleSystem saddle;
  std::unique_ptr<KrylovMethod> method;
  BestIterate best;
  std::vector<double> start;  ///< n: velocities that solves start from
  double dt = 0.0;            ///< s; 0: unknown
  bool belong = false;        ///< they are those of the last answer
};

void CrOptions::validate(std::string_view solver) const {
  if (average < 1 || average > StateRules::kLongestAverage)
    throw_usage("{}: average = {} is not between 1 and {}", solver, average, StateRules::kLongestAverage);
  if (!(angle >= 0.0)) throw_usage("{}: angle = {} is negative", solver, angle);
  if (!(turn > 0.0 && turn <= 1.0)) throw_usage("{}: turn = {} is not in (0, 1]", solver, turn);
  if (patience < 0) throw_usage("{}: patience = {} is negative", solver, patience);
  if (!(postpone >= 0.0)) throw_usage("{}: postpone = {} is negative", solver, postpone);
  if (!(inner > 0.0 && inner <= 1.0)) throw_usage("{}: inner = {} is not in (0, 1]", solver, inner);
  if (!(eps1 > 0.0)) throw_usage("{}: eps1 = {} must be positive", solver, eps1);
  if (!(eps2 > 0.0)) throw_usage("{}: eps2 = {} must be positive", solver, eps2);
}

ConjugateResiduals::ConjugateResiduals(const CrOptions& options, CrPreconditioner preconditioner)
    : ConjugateResiduals(options, preconditioner,
                         std::make_unique<ConjugateDirections>(options.breakdown_guard,
                                                               preconditioner == CrPreconditioner::full)) {}
ConjugateResiduals::ConjugateResiduals(const CrOptions& options, CrPreconditioner preconditioner,
                                       std::unique_ptr<KrylovMethod> method)
    : options_(options), preconditioner_(preconditioner), impl_(std::make_unique<Impl>()) {
  impl_->method = std::move(method);
}
ConjugateResiduals::~ConjugateResiduals() = default;
const SolveCounters& ConjugateResiduals::counters() const { return impl_->saddle.counters; }

std::string ConjugateResiduals::unsupported_reason(const ContactProblem& problem) const {
  if (options_.stop == CrStop::paper && !(problem.dt > 0.0))
    return "stop = paper needs the time step, which this problem does not tell";
  return PrimalSystem::refusal(problem);
}

void ConjugateResiduals::prepare(const ContactProblem& problem) {
  Impl& s = *impl_;
  const StateRules rules{options_.direction, options_.angle,     options_.turn,  options_.average,
                         options_.gates,     options_.slip_test, options_.bounds};
  const bool scaled = options_.duplicates && preconditioner_ == CrPreconditioner::full;
  s.dt = problem.dt;
  s.saddle.prepare(problem, options_.common.law, options_.judge, rules, scaled, arena_);
  s.method->resize(s.saddle);
  s.best.resize(s.saddle.u.size());
  s.start.assign(s.saddle.system.v_free.begin(), s.saddle.system.v_free.end());
  s.belong = false;
}

void ConjugateResiduals::update_contacts(const ContactProblem& problem) {
  const std::vector<double> last = impl_->saddle.v;
  prepare(problem);
  if (last.size() != impl_->start.size() || !all_finite(last)) return;
  impl_->start = last;
  impl_->belong = true;
}

SolveReport ConjugateResiduals::solve(std::span<double> r, const StopRule& rule,
                                      IterationObserver* observer) {
  SaddleSystem& s = impl_->saddle;
  const StopTest stop(rule, s.system.scale);
  if (r.empty()) return nothing_to_solve();
  s.arena = arena_;  // may have changed since `prepare`
  make_finite(r);
  impl_->best.forget();
  if (observer != nullptr) observer->on_iteration(0, r, "");
  s.start(r, impl_->start, impl_->belong, preconditioner_ == CrPreconditioner::full);
  ResidualLoop loop(options_, stop, rule.residual, impl_->dt, s, *impl_->method, impl_->best, observer);
  if (loop.run(r.size())) std::copy(s.r.begin(), s.r.end(), r.begin());
  return finish_solve(loop.report(), stop, impl_->best, r);
}

}  // namespace signorini
