#include "solvers/staggered_projections.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "solvers/phase.h"
#include "solvers/staggered_qp.h"

namespace signorini {

namespace {

/// Looks at solved systems in one projection at most; then the pass continues from there.
constexpr int kMostLooks = 100;
constexpr double kLeastRelaxation = 0.125;

std::string_view phase_of(QpStage stage) { return stage == QpStage::normal ? "normal" : "friction"; }

/// Iterations between looks on the way (docs/theory.md, C40).
int interval_of(double ratio) {
  const double length = std::log2(std::max(1.0, ratio)) / 3.0;
  return std::max(1, static_cast<int>(std::min(length, 1e6)));
}

}  // namespace

struct StaggeredProjections::Impl {
  PrimalSystem system;
  StaggeredQp qp;
  std::vector<double> last_velocity;  ///< n, where contacts were updated: of the solve before; else empty
  BestIterate best;
  std::vector<double> r;        ///< 3m: impulses of the last estimate, on the law
  std::vector<double> at_hand;  ///< 3m: the same between iterations of a run that ends at an observed iterate

  TaskArena* arena = nullptr;
  SolveCounters counters;
  int passes = 0;
  double relaxation = 1.0;
  double asked = 0.0, smallest = 0.0, inner = 0.0;  ///< m/s
  double forcing = 0.0;
  double postpone = 1.0;
  int patience = 0;             ///< iterations of a projection without a lower residual
  double least_estimate = 0.0;  ///< m/s
  int improved_at = 0;          ///< pass

  /// What a run needs beside the workspace.
  struct Run {
    const StopTest& stop;
    CheckSchedule schedule;
    IterationObserver* observer;
    PhaseReport report{};
    bool over = false;

    void end(PhaseEnd how) {
      report.end = how;
      over = true;
    }
  };

  double measure(Run& run) {
    if (system.exact()) {
      run.report.error = system.exact_error(r, arena);
      ++counters.triangular_solves;
    } else {
      run.report.error = run.report.estimate;
    }
    if (std::isfinite(run.report.error)) best.offer(r, run.report.error);
    return run.report.error;
  }

  bool look(double gate, QpLook when) {
    ++counters.evaluations;
    return qp.look(gate, when);
  }

  SolveCounters counted() const {
    SolveCounters all = counters;
    all.mass_products = qp.products();
    all.direction_products = qp.direction_products();
    all.state_changes = qp.state_changes();
    all.restarts = qp.restarts();
    all.relinearisations = passes;
    return all;
  }

  void tell(Run& run, QpStage stage) {
    if (run.observer == nullptr) return;
    IterationProgress progress;
    progress.plain = qp.residual();
    progress.preconditioned = qp.preconditioned_residual();
    progress.constraint = qp.constraint_residual();
    progress.counters = counted();
    run.observer->on_progress(run.report.iterations, progress);
    run.observer->on_iteration(run.report.iterations, r, phase_of(stage));
  }

  /// The error at hand, m/s; `r` follows where the run may return it.
  double estimate(const Run& run) { return qp.impulses(run.stop.judging() ? r : at_hand); }

  bool iterate(Run& run, QpStage stage, double& alpha, bool& stuck);
  bool project(Run& run, QpStage stage, QpStates states, double tolerance);
  void finish_pass(Run& run, const StaggeredOptions& options, bool moved);
};

/// One CR iteration and its judgement; false where the run is over. `stuck`: nothing can move.
bool StaggeredProjections::Impl::iterate(Run& run, QpStage stage, double& alpha, bool& stuck) {
  PhaseReport& report = run.report;
  if (report.iterations >= run.stop.max_iterations()) {
    run.end(PhaseEnd::cap);
    return false;
  }
  if (run.stop.out_of_time()) {
    run.end(PhaseEnd::time);
    return false;
  }
  if (qp.broken()) {
    ++counters.guards;
    stuck = !qp.minimising_step();
    alpha = 0.0;
    if (stuck) return true;
  } else {
    alpha = qp.step();
  }
  report.estimate = qp.impulses(r);
  report.error = std::numeric_limits<double>::quiet_NaN();
  if (!std::isfinite(report.estimate) || !all_finite(r)) {
    run.end(PhaseEnd::diverged);
    return false;
  }
  ++report.iterations;
  tell(run, stage);
  if (!run.stop.judging()) {
    // something finite to return, at next to no cost
    if ((report.iterations & (report.iterations - 1)) == 0) best.offer(r, report.estimate);
    return true;
  }
  if (run.schedule.due(report.iterations, report.estimate)) {
    const double error = measure(run);
    if (run.stop.met(error)) {
      run.end(PhaseEnd::converged);
      return false;
    }
    run.schedule.broken(report.iterations, report.estimate, error);
  }
  return true;
}

/// One of the two projections, from where the other left. True where anything moved.
bool StaggeredProjections::Impl::project(Run& run, QpStage stage, QpStates states, double tolerance) {
  bool moved = qp.enter(stage, relaxation);
  bool fresh = true;  // the conjugate directions are gone
  int looks = 0;
  double alpha = 0.0;
  bool stuck = false;
  double least = std::numeric_limits<double>::infinity();
  int lowered_at = run.report.iterations;
  while (true) {
    if (qp.residual() <= tolerance || stuck) {
      if (++looks > kMostLooks || !look(tolerance, QpLook::solved)) return moved;
      moved = fresh = true;
      stuck = false;
      continue;
    }
    if (fresh) {
      qp.restart();
      fresh = false;
    } else {
      qp.turn();
      stuck = qp.stationary();
      if (stuck) continue;
    }
    if (!iterate(run, stage, alpha, stuck)) return true;
    moved = moved || !stuck;
    fresh = alpha == 0.0;
    if (qp.residual() < 0.9 * least) {
      least = qp.residual();
      lowered_at = run.report.iterations;
    } else if (run.report.iterations - lowered_at > patience) {
      qp.refresh();  // rounding, or inconsistent active rows: the pass goes on from here
      return true;
    }
    if (states == QpStates::at_convergence || !(alpha > 0.0) || qp.residual() <= tolerance) continue;
    if (run.report.iterations % interval_of(qp.residual() / tolerance) == 0)
      fresh = look(std::max(tolerance, postpone * qp.residual()), QpLook::running) || fresh;
  }
}

/// After both projections: converged, tighter from a fresh residual, slower or over.
void StaggeredProjections::Impl::finish_pass(Run& run, const StaggeredOptions& options, bool moved) {
  ++passes;
  run.report.estimate = estimate(run);
  if (run.stop.judging() && run.stop.met(measure(run))) return run.end(PhaseEnd::converged);
  if (run.report.estimate < 0.99 * least_estimate) {
    least_estimate = run.report.estimate;
    improved_at = passes;
  }
  const auto tighten = [this](double by) {
    inner = std::max(by * inner, smallest);
    forcing *= by;
    qp.refresh();
  };
  if (!moved) {
    // both are solved, the problem is not
    if (inner <= smallest) return run.end(PhaseEnd::stuck);
    tighten(0.1);
    improved_at = passes;
  } else if (passes - improved_at >= options.patience) {
    if (!options.relax || relaxation <= kLeastRelaxation) return run.end(PhaseEnd::stuck);
    relaxation *= 0.5;
    tighten(0.1);
    ++counters.guards;
    improved_at = passes;
  } else if (run.report.estimate <= asked) {
    tighten(0.25);  // the error of the velocity at hand is too small (docs/theory.md, T14)
  }
  if (options.passes > 0 && passes >= options.passes) run.end(PhaseEnd::cap);
}

void StaggeredOptions::validate(std::string_view solver) const {
  if (!(inner > 0.0 && inner <= 1.0)) throw_usage("{}: inner = {} is not in (0, 1]", solver, inner);
  if (!(forcing >= 0.0 && forcing < 1.0)) throw_usage("{}: forcing = {} is not in [0, 1)", solver, forcing);
  if (!(postpone >= 0.0)) throw_usage("{}: postpone = {} is negative", solver, postpone);
  if (passes < 0) throw_usage("{}: passes = {} is negative; 0 means no limit", solver, passes);
  if (patience < 1) throw_usage("{}: patience = {} must be at least 1", solver, patience);
}

StaggeredProjections::StaggeredProjections(const StaggeredOptions& options, QpStates states)
    : options_(options), states_(states), impl_(std::make_unique<Impl>()) {}
StaggeredProjections::~StaggeredProjections() = default;
int StaggeredProjections::passes() const { return impl_->passes; }

std::string StaggeredProjections::unsupported_reason(const ContactProblem& problem) const {
  return PrimalSystem::refusal(problem);
}

void StaggeredProjections::update_contacts(const ContactProblem& problem) {
  Impl& s = *impl_;
  std::vector<double> velocity(s.qp.velocity().begin(), s.qp.velocity().end());
  prepare(problem);
  if (std::all_of(velocity.begin(), velocity.end(), [](double x) { return std::isfinite(x); }))
    s.last_velocity = std::move(velocity);
}

void StaggeredProjections::prepare(const ContactProblem& problem) {
  Impl& s = *impl_;
  s.last_velocity.clear();
  s.system.prepare(problem, options_.common.law, options_.judge, arena_);
  s.qp.prepare(s.system, options_.qp);
  const std::size_t rows = 3 * static_cast<std::size_t>(problem.contacts());
  s.best.resize(rows);
  s.r.assign(rows, 0.0);
  s.at_hand.assign(rows, 0.0);
}

SolveReport StaggeredProjections::solve(std::span<double> r, const StopRule& rule,
                                        IterationObserver* observer) {
  Impl& s = *impl_;
  const StopTest stop(rule, s.system.scale);
  s.passes = 0;
  if (r.empty()) return nothing_to_solve();
  s.arena = arena_;  // may have changed since `prepare`
  make_finite(r);
  s.best.forget();
  s.counters = {};
  s.relaxation = 1.0;
  s.smallest = 1e-15 * stop.scale();
  s.asked = rule.residual * stop.scale();
  s.inner = std::max(options_.inner * s.asked, s.smallest);
  // without friction there is nothing to stagger
  const bool alone = std::all_of(s.system.mu.begin(), s.system.mu.end(), [](double mu) { return mu == 0.0; });
  s.forcing = alone ? 0.0 : options_.forcing;
  s.postpone = options_.postpone;
  s.patience = std::max(300, 2 * static_cast<int>(r.size()));
  s.improved_at = 0;
  if (observer != nullptr) observer->on_iteration(0, r, "");

  Impl::Run run{stop, CheckSchedule(stop.tolerance()), observer};
  s.qp.start(r, s.last_velocity);
  std::copy(r.begin(), r.end(), s.r.begin());
  run.report.estimate = s.least_estimate = s.qp.estimate(r);
  if (stop.judging() && stop.met(s.measure(run))) run.end(PhaseEnd::converged);
  if (!std::isfinite(run.report.estimate)) run.end(PhaseEnd::diverged);
  if (!s.best.has()) s.best.offer(s.r, std::numeric_limits<double>::infinity());
  // r may be nearly right (warm) although v = v_free is not
  double error = s.system.exact() ? s.system.exact_error(r, s.arena) : run.report.estimate;
  while (!run.over) {
    bool moved = false;
    for (const QpStage stage : {QpStage::normal, QpStage::friction}) {
      moved = s.project(run, stage, states_, std::max(s.inner, s.forcing * error)) || moved;
      if (run.over) break;
      error = s.estimate(run);
    }
    if (!run.over) s.finish_pass(run, options_, moved);
  }
  if (run.report.end != PhaseEnd::diverged) {
    if (stop.judging() && std::isnan(run.report.error)) s.measure(run);
    std::copy(s.r.begin(), s.r.end(), r.begin());
  }
  run.report.products = s.qp.products();
  SolveReport report = finish_solve(run.report, stop, s.best, r);
  report.counters = s.counted();
  return report;
}

}  // namespace signorini
