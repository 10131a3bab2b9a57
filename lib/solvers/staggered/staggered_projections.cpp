#include "solvers/staggered/staggered_projections.h"

#include <algorithm>
#include <cmath>

#include "krylov/conjugate_residuals.h"

namespace signorini {

namespace {

/// Evaluations of solved systems in one projection at most; then the pass continues from there.
constexpr int kMostEvaluations = 100;
constexpr double kLeastRelaxation = 0.125;
/// Smallest tolerance of a projection, relative to the asked residual.
constexpr double kInner = 0.1;
/// Passes without an error 1 % below the smallest after which staggering counts as oscillating.
constexpr int kPatience = 40;

std::unique_ptr<KrylovMethod> make_method(QpMethod method, LanczosMetric lanczos) {
  if (method == QpMethod::minres) return std::make_unique<MinimalResiduals>(lanczos);
  return std::make_unique<ConjugateResiduals>();
}

}  // namespace

void StaggeredOptions::validate(std::string_view solver) const {
  if (!(forcing >= 0.0 && forcing < 1.0)) throw_usage("{}: forcing = {} is not in [0, 1)", solver, forcing);
  if (preconditioner == SpPreconditioner::full && qp == QpMethod::minres &&
      lanczos == LanczosMetric::definite)
    throw_usage(
        "{}: preconditioner = full is indefinite, which qp = minres cannot use; take qp = cr, or lanczos = "
        "signed",
        solver);
  thresholds.validate(solver);
}

StaggeredProjections::StaggeredProjections(const StaggeredOptions& options, StateInterval interval)
    : ActiveSetSolver(make_method(options.qp, options.lanczos)), sp_(options), interval_(interval) {}

std::string StaggeredProjections::unsupported_reason(const ContactProblem& problem) const {
  const std::string reason = sp_.stop == EndsBy::paper ? Thresholds::refusal(problem, "paper") : "";
  return reason.empty() ? ActiveSetSolver::unsupported_reason(problem) : reason;
}

void StaggeredProjections::prepare(const ContactProblem& problem) {
  StateRules rules;
  rules.block_pivoting = true;
  rules.prediction = sp_.prediction;
  dt_ = problem.dt;
  prepare_system(problem, sp_.common.law, sp_.judge, sp_.stop, rules, full());
  at_hand_.assign(saddle_.rows(), 0.0);
}

Iteration StaggeredProjections::start(std::span<double> r, const StopTest& stop) {
  begin(r, full());
  saddle_.change_states([](ActiveSet& states) { states.fix_bounds(); });
  unknowns_ = Unknowns::normals;
  smallest_ = 1e-15 * stop.scale();
  asked_ = stop.asked();
  paper_ = sp_.stop == EndsBy::paper && !stop.fixed();
  inner_ = paper_ ? sp_.thresholds.eps2 / dt_ : std::max(kInner * asked_, smallest_);
  // without friction there is nothing to stagger
  const bool alone = std::all_of(system_.mu.begin(), system_.mu.end(), [](double mu) { return mu == 0.0; });
  forcing_ = alone ? 0.0 : sp_.forcing;
  relaxation_ = 1.0;
  patience_ = std::max(300, 2 * static_cast<int>(r.size()));
  moved_ = false;
  improved_at_ = passes_ = 0;
  Iteration first;
  first.estimate = least_error_ = saddle_.estimate_of(r);
  error_ = measure(r, first.estimate);
  if (system_.exact()) first.error = error_;
  return first;
}

Iteration StaggeredProjections::iterate(std::span<double> r) {
  Iteration iteration = ActiveSetSolver::iterate(r);
  iteration.ripe = unknowns_ == Unknowns::tangents && solved();  // the end of a pass, it may be
  return iteration;
}

bool StaggeredProjections::solved() {
  if (!paper_) return saddle_.residual <= accuracy();
  if (saddle_.residual <= forcing_ * error_) return true;
  return sp_.thresholds.met(dt_, saddle_.squared_residual(dt_), saddle_.constraint_norm());
}

/// Gives the turn to one of the two projections.
void StaggeredProjections::enter(Unknowns unknowns) {
  unknowns_ = unknowns;
  saddle_.change_states([&](ActiveSet& states) {
    if (unknowns == Unknowns::tangents) states.move_fixed_bounds(relaxation_, saddle_.u);
    states.set_unknowns(unknowns);
  });
  tolerance_ = std::max(inner_, forcing_ * error_);
  evaluations_ = 0;
  given_up_ = false;
  least_ = std::numeric_limits<double>::infinity();
  lowered_at_ = iterations_;
}

bool StaggeredProjections::lose_patience() {
  const bool changed = ActiveSetSolver::lose_patience();
  // redundant contacts that no velocity satisfies: rows open once they give way
  if (changed && !saddle_.states.regularised())
    saddle_.change_states([](ActiveSet& states) { states.regularise(); });
  moved_ = moved_ || !stuck_;
  if (saddle_.residual < 0.9 * least_) {
    least_ = saddle_.residual;
    lowered_at_ = iterations_;
  } else if (iterations_ - lowered_at_ > patience_) {
    // rounding, or inconsistent active rows: the pass goes on from here
    saddle_.refresh();
    given_up_ = stuck_ = true;
    return true;
  }
  return changed;
}

LoopEnd StaggeredProjections::when_solved() {
  do {
    stuck_ = false;
    if (!given_up_ && evaluations_++ < kMostEvaluations &&
        saddle_.evaluate_states(accuracy(), Moment::converged)) {
      moved_ = true;
    } else {
      const LoopEnd end = leave();
      if (end != LoopEnd::none) return end;
    }
  } while (solved());
  return LoopEnd::none;
}

/// To the other projection, or to the next pass.
LoopEnd StaggeredProjections::leave() {
  error_ = saddle_.estimate(at_hand_);
  if (unknowns_ == Unknowns::normals) {
    enter(Unknowns::tangents);
    return LoopEnd::none;
  }
  const LoopEnd end = finish_pass();
  moved_ = false;
  if (end == LoopEnd::none) enter(Unknowns::normals);
  return end;
}

/// After both projections: tighter from a fresh residual, slower or over.
LoopEnd StaggeredProjections::finish_pass() {
  ++passes_;
  ++counters_.relinearisations;
  if (error_ < 0.99 * least_error_) {
    least_error_ = error_;
    improved_at_ = passes_;
  }
  if (paper_) return finish_pass_by_paper();
  const auto tighten = [this](double by) {
    inner_ = std::max(by * inner_, smallest_);
    forcing_ *= by;
    saddle_.refresh();
  };
  if (!moved_) {
    // both are solved, the problem is not
    if (inner_ <= smallest_) return LoopEnd::stuck;
    tighten(0.1);
    improved_at_ = passes_;
  } else if (passes_ - improved_at_ >= kPatience) {
    if (!sp_.relax || relaxation_ <= kLeastRelaxation) return LoopEnd::stuck;
    relaxation_ *= 0.5;
    ++fallbacks_;
    tighten(0.1);
    improved_at_ = passes_;
  } else if (error_ <= asked_) {
    tighten(0.25);  // the error of the velocity at hand is too small (docs/theory.md, T14)
  }
  return LoopEnd::none;
}

/// Over where the whole problem meets the thresholds, or where neither projection finds anything to do.
LoopEnd StaggeredProjections::finish_pass_by_paper() {
  const PrimalSystem::ContactErrors errors = system_.errors(at_hand_, saddle_.u, arena_);
  const double squares = dot(saddle_.momentum, saddle_.momentum) + dt_ * dt_ * errors.squares;
  if (!moved_ || sp_.thresholds.met(dt_, squares, errors.largest)) return LoopEnd::paper_rule;
  if (passes_ - improved_at_ < kPatience) return LoopEnd::none;
  if (!sp_.relax || relaxation_ <= kLeastRelaxation) return LoopEnd::stuck;
  relaxation_ *= 0.5;
  ++fallbacks_;
  improved_at_ = passes_;
  saddle_.refresh();
  return LoopEnd::none;
}

}  // namespace signorini
