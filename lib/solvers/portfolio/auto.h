#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "solvers/anticipation/ica.h"
#include "solvers/global_newton/body_newton.h"
#include "solvers/global_newton/sap.h"
#include "solvers/portfolio/auto_costs.h"
#include "solvers/portfolio/deforming_bodies.h"
#include "solvers/portfolio/impulse_portfolio.h"
#include "solvers/portfolio/residual_bound.h"
#include "solvers/registered_solver.h"

/// `auto`: the choice where no solver is named.
///
/// - On impulses where W is cheap: explicit integration, rigid bodies, bodies of few dofs, few contacts, problems that have W
///   only. Accelerated sweeps, then Newton steps (impulse_portfolio.h). With more than twice as many rows of H as dofs (stacks of
///   rigid bodies) a few Newton steps on velocities (`body-newton`) follow sweeps of equal cost, then in turns convex steps
///   (`sap`, cone only), which arrive more often, and Newton steps, and those on impulses last. Where bodies deform, steps are
///   taken on velocities if one costs less there, a few from where sweeps are, then from zero. Where steps on impulses failed,
///   steps on velocities follow, and `ica` as long as it has less left than sweeps had. Last come convex steps where M is
///   there, long steps on velocities, and sweeps again.
/// - On velocities without a factor of M where bodies are large: `ica` judges itself, and what it finds is bounded
///   (residual_bound.h). Until the bound meets the tolerance it goes on with a sharper one of its own. Where that costs more
///   than the factor would, or its error stands still, M is factored after all and the next line goes on from there.
/// - On velocities first elsewhere: `ica` reads M once per iteration and needs no W. It runs in stages that cost half of what
///   comes instead; after each, the iterations left at the rate so far are weighed against forming W from the factor of M and
///   sweeping there. What is cheaper goes on, from the impulses reached. Where sweeps over W do not arrive either, Newton steps
///   on velocities follow, and last Newton steps on impulses.
///
/// Everything is decided by counted operations of the problem at hand, never by a clock, so the answer has the same bits
/// everywhere. A problem whose W would hold more than AutoCosts::kMostBlocks blocks stays on velocities.
///
/// The report's message says what was used: `impulses`, `no factor`, `velocities`, `both`, or `all` with Newton steps after
/// both; `choice` says why it began so. Factoring M, forming W and the first Newton or Anderson step of a solve allocate; that time is the solve's. Runs of
/// a fixed number of iterations factor M, as there is no tolerance to aim at.
namespace signorini {

struct AutoOptions {
  CommonOptions common;

  template <class Visitor>
  void visit(Visitor& v) {
    common.visit(v);
  }
};

class Auto : public RegisteredSolver<Auto, AutoOptions, Solver> {
 public:
  static constexpr std::string_view kName = "auto";
  static constexpr SolverTraits kTraits{
      .needs = SolverNeeds::either, .parallel = true, .phases = {"sweep", "newton"}};
  explicit Auto(const Options& options);
  ~Auto() override;

  std::string unsupported_reason(const ContactProblem& /*problem*/) const override { return ""; }
  std::string island_refusal(Index /*contacts*/) const override { return ""; }
  bool works_on_impulses(const ContactProblem& problem) const override;
  void use_arena(TaskArena* arena) override;
  void prepare(const ContactProblem& problem) override;
  double largest_free_velocity() const override;
  std::string choice(const ContactProblem& problem) const override;
  void update_contacts(const ContactProblem& problem) override;
  /// On impulses that of the sweeps; on velocities it is not counted.
  WorkAndSpan work_and_span(int cores) const override {
    return on_velocities_ ? Solver::work_and_span(cores) : impulses_->work_and_span(cores);
  }
  void prepare_island(ReducedProblem problem, Vector mu) override;
  SolveReport solve(std::span<double> r, const StopRule& stop, IterationObserver* observer) override;

 private:
  /// `ica` with its matrices at hand.
  class Velocities : public Ica {
   public:
    using Ica::Ica;
    const PrimalSystem& system() const { return system_; }
    PrimalSystem& system() { return system_; }
    using Ica::copy_velocity;
    using Ica::go_on_from;
    using Ica::leave_when_stale;
  };
  class Course;
  /// Of steps on velocities: the first, growing to the longest, and what the report says then.
  struct Turns {
    double first, growth, most;
    const char* used;
  };
  double worth_of_trials() const;
  int steps_worth(double operations) const;
  std::unique_ptr<Velocities> make_velocities(Judge judge) const;
  bool velocities_end(const SolveReport& report, double before, int done, double target, double instead,
                      int& length) const;
  static int stage_length(double iteration, double operations);
  void prepare_factored(const ContactProblem& problem, bool same_matrix);
  void prepare_velocities(const ContactProblem& problem, bool same_matrix);
  void take(const ContactProblem& problem, bool same_matrix);
  void prepare_impulses(const ContactProblem& problem, bool deforms, bool same_matrix);
  bool solve_without_factor(std::span<double> r, const StopRule& stop, Course& course);
  SolveReport solve_on_velocities(std::span<double> r, const StopRule& stop, IterationObserver* observer);
  SolveReport solve_on_impulses(std::span<double> r, const StopRule& stop, IterationObserver* observer);
  SolveReport sweep_impulses(std::span<double> r, const StopRule& stop, IterationObserver* observer);
  void iterate_on_velocities(std::span<double> r, Course& course, double before, double instead,
                             double share);
  void sweep_and_step(std::span<double> r, Course& course, const char* used);
  bool take_turns(std::span<double> r, Course& course, const Turns& turns, const char* used);
  bool take_longer_turns(std::span<double> r, Course& course, const char* used);
  bool take_turn_of_steps(std::span<double> r, Course& course, int steps, const char* used, double near);
  bool step_from_zero(std::span<double> r, Course& course, int steps, const char* used);
  void sweep_until_steps_are_due(std::span<double> r, Course& course, double steps, const char* used);
  void take_long_turns(std::span<double> r, Course& course);
  template <class Steps>
  SolveReport take_steps(std::unique_ptr<Steps>& solver, bool& ready, int most, std::span<double> r,
                         const StopRule& stop, IterationObserver* observer);

  TaskArena* arena_ = nullptr;
  std::unique_ptr<ImpulsePortfolio> impulses_;
  std::unique_ptr<Velocities> velocities_, factorless_;
  ResidualBound bound_;
  std::vector<double> stepped_;  ///< 3m: what a turn of steps on stacks finds, N·s
  std::vector<double> v_;        ///< n: of the answer without a factor, m/s
  std::unique_ptr<BodyNewton> steps_;
  std::unique_ptr<Sap> minimiser_;  ///< for problems on impulses that have M
  const ContactProblem* problem_ = nullptr;
  Vector mu_;
  std::unique_ptr<const DeformingBodies> bodies_;  ///< of the M at hand, where bodies deform
  AutoCosts costs_;
  bool steps_first_ = false;   ///< on velocities, before those on impulses
  bool step_counted_ = false;  ///< from its pattern, not guessed
  bool deforms_ = false;       ///< on impulses: steps on velocities may be the cheaper ones
  bool on_velocities_ = false, factorless_ready_ = false, velocities_ready_ = false, impulses_ready_ = false,
       steps_ready_ = false, minimiser_ready_ = false;
};

}  // namespace signorini
