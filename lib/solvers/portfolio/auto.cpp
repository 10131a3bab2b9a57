#include "solvers/portfolio/auto.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "solvers/portfolio/stages.h"

namespace signorini {

namespace {

constexpr double kMostOnVelocities = 10.0;  ///< solves by `ica`, in place of sweeps
constexpr double kMostInnerSweeps = 50.0;   ///< in an iteration of `ica`
constexpr double kShareOfStage = 0.5,       ///< of what would come instead of the next stage …
    kShareOfTrial = 0.4,                    ///< … or of the first, after sweeps
    kNearlyThere = 0.3;                     ///< the same, of what is left
constexpr double kStepsOfBodies = 25.0,
                 kStepsOfStacks = 20.0;  ///< that a problem takes; the quick ones of stacks
constexpr double kLargeGain = 10.0;      ///< of the residual in one turn: the next follows at once …
constexpr double kNear = 1e-6;           ///< … if this is reached, where steps began from sweeps
constexpr double kShareOfSteps = 0.25;   ///< of these, on steps on impulses before
constexpr double kManyRows = 2.0;  ///< rows of H over dofs: systems on velocities are then the smaller ones
constexpr double kFirstAsk = 0.3;  ///< of the tolerance, for `ica` that judges itself
constexpr double kSafety = 0.999;  ///< rounding, as in StopTest
constexpr int kStale = 25;         ///< iterations of `ica` without a gain: M is factored then
constexpr int kShortestStage = 5, kLongestStage = 1000, kStepsFromSweeps = 30, kMostSteps = 80,
              kMostGradients = 2000;
constexpr int kTrialsOnImpulses = 1,  ///< without a large gain, before convex steps on velocities
    kMostMinimiserSteps = 1000,
              kMostStepsAgain = 1000;  ///< on velocities, where convex steps have not arrived either
/// On stacks, after the short turns: convex steps from the best iterate, then Newton steps from zero.
struct LongTurn {
  int minimiser_steps, steps;
};
constexpr LongTurn kLongTurns[] = {{300, 150}, {800, 600}};

}  // namespace

/// Its phases are those of the sweeps and of the steps.
class Auto::Course : public Stages {
 public:
  using Stages::Stages;
  /// One more stage, unless the last one arrived or nothing is left. `steps`: all its iterations are Newton steps.
  template <class Stage>
  void next(const char* used, bool steps, Stage stage) {
    if (arrived() || used_up()) return;
    steps_ = steps;
    add(stage(left()));
    steps_ = false;
    whole.message = used;
  }

 private:
  std::string_view phase_of(std::string_view own) const override {
    return Auto::kTraits.phases[steps_ || own == Auto::kTraits.phases[1] ? 1 : 0];
  }
  bool steps_ = false;
};

Auto::Auto(const Options& options)
    : RegisteredSolver(options),
      impulses_(std::make_unique<ImpulsePortfolio>(PortfolioOptions{options.common})) {}

Auto::~Auto() = default;

void Auto::use_arena(TaskArena* arena) {
  arena_ = arena;
  impulses_->use_arena(arena);
  if (velocities_) velocities_->use_arena(arena);
  if (factorless_) factorless_->use_arena(arena);
  if (steps_) steps_->use_arena(arena);
  if (minimiser_) minimiser_->use_arena(arena);
}

bool Auto::works_on_impulses(const ContactProblem& problem) const {
  std::unique_ptr<const DeformingBodies> bodies;
  const std::optional<AutoCosts> costs = costs_where_bodies_deform(problem, bodies);
  return !costs || costs->prefer_impulses();
}

std::unique_ptr<Auto::Velocities> Auto::make_velocities(Judge judge) const {
  IcaOptions options;
  options.common = options_.common;
  options.judge = judge;
  options.order = SweepOrder::automatic;
  auto made = std::make_unique<Velocities>(options);
  made->use_arena(arena_);
  return made;
}

void Auto::prepare(const ContactProblem& problem) { take(problem, false); }

void Auto::update_contacts(const ContactProblem& problem) { take(problem, true); }

double Auto::largest_free_velocity() const {
  if (!on_velocities_) return impulses_->largest_free_velocity();
  return velocities_ready_ ? velocities_->largest_free_velocity() : bound_.least_scale();
}

std::string Auto::choice(const ContactProblem& problem) const {
  if (!problem.has_primal()) return "the problem has no M";
  if (problem.has_dual()) return "the problem comes with W";
  std::unique_ptr<const DeformingBodies> bodies;
  const std::optional<AutoCosts> costs = costs_where_bodies_deform(problem, bodies);
  if (costs) {
    return fmt::format(
        "operations expected: on impulses {:.1e}, on velocities {:.1e}, without a factor of M {:.1e}",
        costs->impulses(), costs->velocities(), costs->factorless());
  }
  if (bodies && bodies->refused) return "methods on velocities cannot take this M";
  return fmt::format("no body deforms, {:.2g} rows of H per dof",
                     3.0 * problem.contacts() / std::max<double>(1.0, problem.dofs()));
}

void Auto::take(const ContactProblem& problem, bool same_matrix) {
  if (!same_matrix) bodies_.reset();
  const std::optional<AutoCosts> costs = costs_where_bodies_deform(problem, bodies_);
  costs_ = costs.value_or(AutoCosts{});
  if (costs && !costs->prefer_impulses()) {
    prepare_velocities(problem, same_matrix && on_velocities_);
  } else {
    prepare_impulses(problem, costs.has_value(), same_matrix && !on_velocities_);
  }
}

void Auto::prepare_impulses(const ContactProblem& problem, bool deforms, bool same_matrix) {
  on_velocities_ = false;
  velocities_.reset();
  factorless_.reset();
  same_matrix ? impulses_->update_contacts(problem) : impulses_->prepare(problem);
  impulses_ready_ = true;
  problem_ = problem.has_primal() && is_cone(options_.common.law) ? &problem : nullptr;
  velocities_ready_ = minimiser_ready_ = steps_ready_ = false;
  deforms_ = deforms && problem_ != nullptr;
  const double contacts = static_cast<double>(problem.contacts());
  steps_first_ = problem_ != nullptr && !deforms &&
                 3.0 * contacts > kManyRows * static_cast<double>(problem.dofs()) &&
                 PrimalSystem::refusal(problem).empty();
  if (steps_first_) costs_ = costs_of_stack(problem);
  costs_.step += AutoCosts::kStepContact * contacts;
  step_counted_ = false;
}

void Auto::prepare_velocities(const ContactProblem& problem, bool same_matrix) {
  problem_ = &problem;
  mu_ = problem.mu;
  on_velocities_ = true;
  factorless_ready_ = velocities_ready_ = impulses_ready_ = steps_ready_ = step_counted_ = false;
  if (costs_.avoid_factor()) {
    const bool update = same_matrix && factorless_;
    if (!factorless_) {
      factorless_ = make_velocities(Judge::own);
      factorless_->leave_when_stale(kStale);
    }
    update ? factorless_->update_contacts(problem) : factorless_->prepare(problem);
    factorless_ready_ = bound_.prepare(factorless_->system(), problem.f, arena_);
    if (factorless_ready_) {
      v_.resize(factorless_->system().size());
      costs_.inner = AutoCosts::kBlock * static_cast<double>(factorless_->system().W_D.blocks());
      // with the inner problem as it is
      if (costs_.avoid_factor()) return;
    }
    factorless_ready_ = false;
    factorless_.reset();
  }
  prepare_factored(problem, same_matrix);
}

void Auto::prepare_factored(const ContactProblem& problem, bool same_matrix) {
  const bool update = same_matrix && velocities_;
  if (!velocities_) velocities_ = make_velocities(Judge::exact);
  update ? velocities_->update_contacts(problem) : velocities_->prepare(problem);
  costs_.inner = AutoCosts::kBlock * static_cast<double>(velocities_->system().W_D.blocks());
  velocities_ready_ = true;
}

void Auto::prepare_island(ReducedProblem problem, Vector mu) {
  on_velocities_ = false;
  velocities_.reset();
  factorless_.reset();
  impulses_->prepare_island(std::move(problem), std::move(mu));
  impulses_ready_ = true;
  problem_ = nullptr;
  steps_first_ = deforms_ = false;
}

SolveReport Auto::solve(std::span<double> r, const StopRule& stop, IterationObserver* observer) {
  if (on_velocities_) return solve_on_velocities(r, stop, observer);
  return solve_on_impulses(r, stop, observer);
}

/// Operations of steps on impulses before those on velocities come, where these are dear.
double Auto::worth_of_trials() const { return deforms_ ? kShareOfSteps * kStepsOfBodies * costs_.step : 0.0; }

/// Steps on velocities in place of sweeps that have so many operations left: all others have failed.
int Auto::steps_worth(double operations) const {
  return static_cast<int>(std::clamp(operations / costs_.step, double{kMostSteps}, double{kMostStepsAgain}));
}

/// Where redundant contacts keep Newton steps on impulses from arriving, convex steps on velocities do: they see no
/// impulses that cancel. With many more rows than dofs, steps on velocities come first.
SolveReport Auto::solve_on_impulses(std::span<double> r, const StopRule& stop, IterationObserver* observer) {
  Course course(stop, observer, "impulses");
  const auto sweep = [&](const StopRule& left) { return impulses_->solve(r, left, course.shown()); };
  if (steps_first_) {
    if (take_turns(r, course, {kStepsOfStacks, 2.0, kStepsOfStacks, "both"}, "impulses")) return course.whole;
    sweep_until_steps_are_due(r, course, kStepsOfStacks, "both");
    if (course.whole.status != SolveStatus::stalled) return course.whole;
    take_long_turns(r, course);
  }
  if (deforms_) {
    sweep_and_step(r, course, "impulses");
    if (course.whole.status == SolveStatus::converged || course.used_up()) return course.whole;
    if (take_longer_turns(r, course, "both")) return course.whole;
  }
  impulses_->end_after_trials(problem_ != nullptr ? kTrialsOnImpulses : 0, worth_of_trials());
  course.next(steps_first_ ? "both" : "impulses", false, sweep);
  if (course.whole.status != SolveStatus::stalled || problem_ == nullptr) return course.whole;
  if (PrimalSystem::refusal(*problem_).empty()) {
    const double sweeps = impulses_->operations_left();
    course.next("both", true, [&](const StopRule& left) {
      return take_steps(minimiser_, minimiser_ready_, kMostMinimiserSteps, r, left, course.shown());
    });
    if (deforms_) step_from_zero(r, course, steps_worth(sweeps), "both");
  }
  impulses_->end_after_trials(0);
  const std::string used = course.whole.message;
  course.next(used.c_str(), false, sweep);
  return course.whole;
}

/// Sweeps and Newton steps on velocities in turn. Sweeps go on until they have cost about as much as the steps that follow, and
/// each turn of steps is longer. It begins at zero: from where sweeps stand still steps arrive less often, and cut short they are
/// worth little. False where turns are as long as they may be and have not arrived. `used`: before the first steps.
bool Auto::take_turns(std::span<double> r, Course& course, const Turns& turns, const char* used) {
  impulses_->end_after_trials(0);
  for (double steps = turns.first;; steps *= turns.growth) {
    sweep_until_steps_are_due(r, course, steps, used);
    if (course.whole.status != SolveStatus::stalled) return true;
    used = turns.used;
    if (step_from_zero(r, course, static_cast<int>(std::min(steps, turns.most)), used)) return true;
    if (steps >= turns.most) return false;
  }
}

/// Bodies that deform, after a turn of kMostSteps has failed and where steps on velocities are the cheaper ones.
bool Auto::take_longer_turns(std::span<double> r, Course& course, const char* used) {
  if (course.whole.status == SolveStatus::converged || course.used_up()) return true;
  return impulses_->left_to_others() && take_turns(r, course, {160.0, 2.0, 640.0, used}, used);
}

/// Steps from `stepped_`, again after a large gain that reaches the residual `near`; true where nothing is left to do. r is then
/// the better of what it was and what they found.
bool Auto::take_turn_of_steps(std::span<double> r, Course& course, int steps, const char* used, double near) {
  const SolveReport& whole = course.whole;
  const double swept = whole.own_residual;
  for (double before = swept;; before = whole.own_residual) {
    course.next(used, true, [&](const StopRule& left) {
      return take_steps(steps_, steps_ready_, steps, stepped_, left, course.shown());
    });
    const bool over = whole.status == SolveStatus::converged || course.used_up();
    if (!over && whole.own_residual <= near && before > kLargeGain * whole.own_residual) continue;
    if (whole.own_residual <= swept) std::copy(stepped_.begin(), stepped_.end(), r.begin());
    course.whole.own_residual = std::min(whole.own_residual, swept);
    return over;
  }
}

bool Auto::step_from_zero(std::span<double> r, Course& course, int steps, const char* used) {
  stepped_.assign(r.size(), 0.0);
  return take_turn_of_steps(r, course, steps, used, std::numeric_limits<double>::infinity());
}

/// Where steps seem to be due for the first time, their operations are counted from the pattern, and sweeps go on until they are.
void Auto::sweep_until_steps_are_due(std::span<double> r, Course& course, double steps, const char* used) {
  const auto sweep = [&](const StopRule& left) { return impulses_->solve(r, left, course.shown()); };
  impulses_->leave_steps_to_others(costs_.step, steps);
  course.next(used, false, sweep);
  if (course.whole.status == SolveStatus::stalled && impulses_->left_to_others() && !step_counted_) {
    step_counted_ = true;
    const double guess = costs_.step;
    costs_.step = counted_velocity_step(*problem_);
    impulses_->leave_steps_to_others(costs_.step, steps);
    if (costs_.step > guess) course.next(used, false, sweep);
  }
  impulses_->leave_steps_to_others(0.0);
}

/// Stacks, where a few Newton steps on velocities have not arrived: convex ones, which arrive more often, and Newton steps, in
/// turns of growing length.
void Auto::take_long_turns(std::span<double> r, Course& course) {
  const auto take = [&](auto& solver, bool& ready, int most) {
    course.next("both", true, [&](const StopRule& left) {
      return take_steps(solver, ready, most, r, left, course.shown());
    });
    return course.whole.status == SolveStatus::converged || course.used_up();
  };
  for (const LongTurn& turn : kLongTurns) {
    if (take(minimiser_, minimiser_ready_, turn.minimiser_steps)) return;
    if (step_from_zero(r, course, turn.steps, "both")) return;
  }
  if (take(minimiser_, minimiser_ready_, kMostMinimiserSteps)) return;
  take(steps_, steps_ready_, kMostStepsAgain);
}

/// Newton steps on velocities by another solver, made and prepared where it is needed first.
template <class Steps>
SolveReport Auto::take_steps(std::unique_ptr<Steps>& solver, bool& ready, int most, std::span<double> r,
                             const StopRule& stop, IterationObserver* observer) {
  if (!solver) {
    typename Steps::Options options;
    options.common = options_.common;
    solver = std::make_unique<Steps>(options);
    solver->use_arena(arena_);
  }
  if (!ready) solver->prepare(*problem_);
  ready = true;
  StopRule rule = stop;
  rule.max_iterations = std::min(most, stop.max_iterations);
  SolveReport report = solver->solve(r, rule, observer);
  report.phase_iterations = {0, report.iterations};
  return report;
}

/// Whether the stage that began with the residual `before` was the last one on velocities; `length`: of the next. `done`:
/// iterations of all stages.
bool Auto::velocities_end(const SolveReport& report, double before, int done, double target, double instead,
                          int& length) const {
  if (!costs_.fits) {
    length = kLongestStage;
    return false;
  }
  const double sweeps = static_cast<double>(report.counters.contact_sweeps);
  const double iteration = costs_.product + costs_.inner * sweeps / std::max(1, report.iterations);
  const double gained = std::log(before / report.own_residual);
  const double missing = std::log(report.own_residual / std::max(target, 1e-15));
  if (!(gained > 0.0)) return true;
  const double left = missing / gained * report.iterations;
  // after as much as that, only what is nearly there goes on: rates of few iterations promise too much
  const bool late = done * iteration > instead;
  if (left * iteration > (late ? kNearlyThere * instead : instead)) return true;
  length = std::max(done, stage_length(iteration, kShareOfStage * instead));
  return false;
}

/// Iterations of a stage on velocities, each of so many operations.
int Auto::stage_length(double iteration, double operations) {
  return static_cast<int>(std::clamp(operations / iteration, double{kShortestStage}, double{kLongestStage}));
}

/// False: M has to be factored; r is where the next stage may begin. No more is spent than a solve with the factor is
/// worth. The first stage is as long as the dearest iterations allow; after it their cost and their rate are known.
bool Auto::solve_without_factor(std::span<double> r, const StopRule& stop, Course& course) {
  SolveReport& whole = course.whole;
  const double scale = stop.velocity_scale > 0.0 ? stop.velocity_scale : bound_.least_scale();
  const double target = kSafety * stop.residual * scale;
  double iteration = costs_.product + kMostInnerSweeps * costs_.inner;
  double left = costs_.fits ? std::min(costs_.velocities(), costs_.impulses()) : costs_.velocities();
  double asked = kFirstAsk * stop.residual;
  bool sharper = false;
  for (bool begun = false;; begun = true) {
    if (whole.iterations >= stop.max_iterations) return true;
    if (left < iteration) return false;
    // later stages: sharper by a few digits, or never
    const double most = sharper ? std::max(20.0, 0.5 * whole.iterations) : 1e8;
    StopRule rule = course.left(static_cast<int>(std::min(left / iteration, most)));
    rule.residual = asked;
    if (begun) factorless_->go_on_from(r, v_);
    const SolveReport stage = factorless_->solve(r, rule, course.shown());
    course.add(stage);
    if (stage.status == SolveStatus::time_limit) return true;
    const double spent = costs_.product * static_cast<double>(stage.counters.mass_products) +
                         costs_.inner * static_cast<double>(stage.counters.contact_sweeps);
    left -= spent;
    iteration = spent / std::max(1, stage.iterations);
    factorless_->copy_velocity(v_);
    // what the rest costs at the rate so far
    const auto too_dear = [&](double residual, double aim) {
      const double rate = std::log(1.0 / std::min(residual, 0.5)) / std::max(1, whole.iterations);
      return std::log(residual / aim) / rate * iteration > left;
    };
    if (stage.status != SolveStatus::converged) {
      whole.status = SolveStatus::iteration_limit;
      if (whole.iterations >= stop.max_iterations) return true;
      if (sharper || stage.status == SolveStatus::stalled || stage.counters.guards > 0 ||
          too_dear(stage.own_residual, asked))
        return false;
      continue;
    }
    const double bound = bound_.measure(r, v_, target, kMostGradients, arena_);
    whole.products += bound_.products();
    whole.counters.mass_products += bound_.products();
    whole.own_residual = bound / scale;
    if (bound <= target) return true;
    whole.status = SolveStatus::iteration_limit;
    if (stage.counters.guards > 0 || !std::isfinite(bound)) return false;
    left -= costs_.product * static_cast<double>(bound_.products());
    if (too_dear(std::min(asked, 0.5), asked * 0.5 * target / bound)) return false;
    asked *= std::clamp(0.5 * target / bound, 0.03, 0.5);
    sharper = true;
  }
}

SolveReport Auto::solve_on_velocities(std::span<double> r, const StopRule& stop,
                                      IterationObserver* observer) {
  Course course(stop, observer, "no factor");
  SolveReport& whole = course.whole;
  const bool judging = stop.residual > 0.0 && !stop.fixed_iterations;
  if (factorless_ready_ && judging && solve_without_factor(r, stop, course)) return whole;
  whole.message = "velocities";
  iterate_on_velocities(r, course, 1.0, costs_.instead(), kShareOfStage);  // 1: of r = 0, about
  if (!costs_.fits || whole.status == SolveStatus::converged || course.used_up()) return whole;
  sweep_and_step(r, course, "both");
  if (take_longer_turns(r, course, "all")) return whole;
  impulses_->end_after_trials(0);
  course.next("all", false, [&](const StopRule& left) { return sweep_impulses(r, left, course.shown()); });
  return whole;
}

/// `ica` in stages, from the residual `before`, until it arrives or costs more than what comes instead, in operations.
/// The first stage takes `share` of that.
void Auto::iterate_on_velocities(std::span<double> r, Course& course, double before, double instead,
                                 double share) {
  if (!velocities_ready_) prepare_factored(*problem_, false);
  int length = stage_length(costs_.product + kMostInnerSweeps * costs_.inner, share * instead);
  for (int done = 0;;) {
    const StopRule rule = course.left(length);
    const SolveReport stage = velocities_->solve(r, rule, course.shown());
    course.add(stage);
    done += stage.iterations;
    if (stage.status != SolveStatus::iteration_limit || course.used_up()) return;
    if (velocities_end(stage, before, done, rule.residual, instead, length)) return;
    before = stage.own_residual;
  }
}

/// Sweeps over W, and Newton steps on velocities where these are cheaper than those on impulses.
void Auto::sweep_and_step(std::span<double> r, Course& course, const char* used) {
  impulses_->leave_steps_to_others(costs_.step, kStepsOfBodies);
  impulses_->end_after_trials(deforms_ ? kTrialsOnImpulses : 0, worth_of_trials());
  course.next(used, false, [&](const StopRule& left) { return sweep_impulses(r, left, course.shown()); });
  impulses_->leave_steps_to_others(0.0);
  if (course.whole.status != SolveStatus::stalled) return;
  used = deforms_ ? "both" : "all";
  if (impulses_->left_to_others()) {
    // a few from here, which mostly arrive; else from zero
    stepped_.assign(r.begin(), r.end());
    if (take_turn_of_steps(r, course, kStepsFromSweeps, used, kNear)) return;
  }
  if (step_from_zero(r, course, kMostSteps, used)) return;
  if (impulses_->left_to_others()) return;
  // sweeps without a rate would take for ever
  const double sweeps = std::min(impulses_->operations_left(), kMostOnVelocities * costs_.velocities());
  iterate_on_velocities(r, course, course.whole.own_residual, sweeps, kShareOfTrial);
}

SolveReport Auto::sweep_impulses(std::span<double> r, const StopRule& stop, IterationObserver* observer) {
  if (!impulses_ready_) impulses_->prepare_island(velocities_->system().reduced(arena_), mu_);
  impulses_ready_ = true;
  return impulses_->solve(r, stop, observer);
}

}  // namespace signorini
