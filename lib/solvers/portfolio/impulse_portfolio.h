#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "solvers/accelerated/anderson_sweeps.h"
#include "solvers/accelerated/nncg_sweeps.h"
#include "solvers/newton/full_newton.h"
#include "solvers/newton/proximal_newton.h"
#include "solvers/portfolio/sweep_record.h"
#include "solvers/registered_solver.h"
#include "solvers/relaxation/sweeping_solver.h"
#include "solvers/schwarz/schwarz_steps.h"

/// Sweeps while they promise to arrive, Newton steps where these are cheaper, on u = W r + q: the part of `auto` that
/// works on impulses.
///
/// Sweeps are accelerated by nonlinear conjugate gradients (nncg_sweeps.h) or by Anderson's method (anderson_sweeps.h). The
/// first leg is one of the former; where many sweeps are left, the next is one of the latter, and from then on the one whose
/// error fell faster for its cost goes on, until it falls behind the last rate of the other. Where more is left than sweeps have
/// cost, one that has cost less than half of the other has a turn, and goes on from where it was: conjugate gradients may stand
/// still for hundreds of sweeps and arrive. Where sweeps have more left than they have cost, subdomains of large islands are
/// solved for nearly as much (schwarz_steps.h), and go on as long as they are the faster ones.
///
/// Legs of accelerated sweeps alternate with trials of Newton steps (full_newton.h, proximal_newton.h). All
/// costs are counted operations, so that the choice depends on the problem alone:
///
///     left   sweeps until the tolerance at the rate of the last half of the leg, times the cost of a sweep
///     need   what the next trial may cost: ten steps, or more after trials that failed
///
/// A trial begins where left > need, or where sweeps have cost nearly as much as a trial without arriving. The first is full
/// Newton steps from zero; then from the best iterate, and proximal ones that resume where they were. A trial that halves the
/// error hands its iterate to the sweeps; otherwise these go on where they were.
///
/// Sweeps are coloured on islands that are large enough for it (`order = auto` of relaxation/sweep_plan.h). Beyond
/// NewtonSystem::kSmall contacts they keep the velocities of bodies where that is less to read (relaxation/body_rows.h);
/// W is then formed by the first trial, if there is one.
///
/// `leave_steps_to_others`: no Newton steps here; the solve ends as stalled where a trial would begin. `end_after_trials`: it
/// ends so where trials do not get on.
///
/// Newton steps and Anderson's method are prepared where they are needed first: most problems of few contacts are solved
/// before, and to prepare both costs as much as all of the rest there. So the first solve after `prepare` may allocate.
namespace signorini {

struct PortfolioOptions {
  CommonOptions common;

  template <class Visitor>
  void visit(Visitor& v) {
    common.visit(v);
  }
};

class ImpulsePortfolio : public RegisteredSolver<ImpulsePortfolio, PortfolioOptions, SweepingSolver> {
 public:
  static constexpr std::string_view kName = "auto";
  static constexpr SolverTraits kTraits{.parallel = true, .phases = {"sweep", "newton"}};
  explicit ImpulsePortfolio(const Options& options) : RegisteredSolver(options) {}

  std::string island_refusal(Index /*contacts*/) const override { return ""; }
  /// `problem` must outlive the solves.
  void prepare(const ContactProblem& problem) override;
  void prepare_island(ReducedProblem problem, Vector mu) override;
  /// Newton steps are prepared again where they are needed, which allocates.
  void change_free_velocity(std::span<const double> q) override;
  /// Of the next solves: somebody else's Newton steps cost `operations` each, and about `steps` are needed. Where one is
  /// cheaper than one here, the solve ends as stalled when a trial is due. 0: steps are taken here.
  void leave_steps_to_others(double operations, double steps = 0.0) {
    step_of_others_ = operations;
    steps_of_others_ = steps;
  }
  /// Whether that is how the last solve ended.
  bool left_to_others() const { return left_to_others_; }
  /// Of the last solve's sweeps, at their rate; infinite where they had none.
  double operations_left() const;
  /// Of the next solves: they end as stalled where this many trials one after the other gained little and all Newton steps
  /// have cost as many `operations`; 0 trials: never.
  void end_after_trials(int trials, double operations = 0.0) {
    most_trials_ = trials;
    least_of_trials_ = operations;
  }

 protected:
  Iteration start(std::span<double> r, const StopTest& stop) override;
  Iteration iterate(std::span<double> r) override;
  LoopEnd settle(std::span<double> r) override;
  MeasureSchedule::Tells estimates_tell() const override { return MeasureSchedule::Tells::last; }
  std::size_t phase() const override { return phase_; }

 private:
  // Operations of a sweep, for each block that it reads and each contact: found by measurement, docs/notes/auto.md.
  static constexpr double kBlock = 18.0, kContact = 60.0;
  static constexpr int kFirstLeg = 20;      ///< sweeps before a decision
  static constexpr int kSubdomainLeg = 15;  ///< iterations on subdomains, the same
  /// With so few contacts Anderson's method is tried sooner: its window spans much of what they can do.
  static constexpr Index kFew = 30;
  static constexpr Index kMany = 20000;  ///< contacts that do not fit into the cache, about

  enum class Method { sweeps, full, proximal };
  enum class Legs : std::uint8_t { gradients, anderson, subdomains };
  static constexpr std::size_t kLegs = 3;
  /// What goes on after a leg, and why: it has cost little or nothing so far (`due`, `turn`), or was the faster one.
  struct Change {
    enum class Why : std::uint8_t { none, due, turn, faster };
    Legs legs;
    Why why;
  };

  void prepare_bodies(const ContactProblem& problem) override;
  void prepare_sweeps();
  void prepare_newton();
  void prepare_anderson();
  void prepare_subdomains();
  Iteration sweep(std::span<double> r);
  Iteration solve_subdomains(std::span<double> r);
  static std::size_t index_of(Legs legs) { return static_cast<std::size_t>(legs); }
  SweepRecord& record() { return records_[index_of(legs_)]; }
  const SweepRecord& record() const { return records_[index_of(legs_)]; }
  void start_leg(Legs legs, double error);
  double cost_of_iteration(Legs legs) const;
  int iterations_worth(Legs legs, double sweeps) const;
  double best_of(const SweepRecord& record) const;
  void note_rate();
  double sweeps_left() const;
  double spent() const;
  bool is_due(Legs legs) const;
  int length_of(const Change& change) const;
  Change next_legs() const;
  bool changes_legs(std::span<double> r);
  double cost_of_steps(std::span<const double> r) const;
  void count_factor(std::span<const double> r);
  bool others_are_cheaper(std::span<const double> r) const;
  double cost_of_trial(std::span<const double> r) const;
  bool trials_are_over(std::span<const double> r) const;
  bool trial_is_due(std::span<const double> r) const;
  void begin_trial(std::span<const double> r);
  Iteration step(std::span<double> r);
  bool trial_is_over();
  void end_trial();

  NncgSweeps sweeps_;
  AndersonSweeps anderson_;
  std::unique_ptr<SchwarzSteps> subdomains_;  ///< where they were due
  const ContactProblem* problem_ = nullptr;   ///< where W is not formed yet
  GaussSeidelData formed_;                    ///< with W, for Newton steps, where sweeps do without
  double blocks_ = 0.0;                       ///< of W; a bound where it is not formed
  NewtonSystem system_;
  FullNewton newton_;
  ProximalNewton proximal_;
  std::array<SweepRecord, kLegs> records_;
  std::array<std::vector<double>, kLegs> left_at_;  ///< 3m: where each was when another took over, N·s
  std::vector<double> swept_, best_r_,
      x_;                        ///< 3m: where sweeps were; the best iterate of trials, N·s; unit-free
  double sweep_cost_ = 0.0;      ///< operations
  double counted_factor_ = 0.0;  ///< operations of a factor, by its pattern; 0: not counted
  double step_of_others_ = 0.0, steps_of_others_ = 0.0;  ///< operations; number
  int most_trials_ = 0;
  double least_of_trials_ = 0.0;  ///< operations
  bool newton_ready_ = false, anderson_ready_ = false;

  // of one solve
  const StopTest* stop_ = nullptr;
  double target_ = 0.0;  ///< m/s
  Method method_ = Method::sweeps;
  Legs legs_ = Legs::gradients;
  std::array<double, kLegs>
      rates_{};  ///< of the last leg of each, per sweep's operations; < 0: not tried yet
  std::array<double, kLegs> spent_{};  ///< operations of each
  double subdomains_cost_ = 0.0;       ///< operations of their last iteration
  double subdomains_error_ = 0.0;      ///< before the next iteration, m/s
  std::size_t phase_ = 0;
  bool left_to_others_ = false;
  bool resume_ = false;      ///< the next sweep begins at `swept_`
  double best_error_ = 0.0;  ///< m/s, of `best_r_`
  int length_ = 0;           ///< sweeps of this leg before the next decision
  double swept_cost_ = 0.0;  ///< operations of sweeps since the last trial
  int trials_ = 0;           ///< since the last large gain
  bool newton_begun_ = false, proximal_begun_ = false;
  double slice_ = 0.0;         ///< operations that a trial may take at least
  double trial_begin_ = 0.0;   ///< operations of Newton steps before the trial
  double trial_error_ = 0.0;   ///< best error at its beginning
  double gained_error_ = 0.0;  ///< best of the trial at its last gain of a tenth
  int steps_ = 0, idle_ = 0;   ///< of the trial
  int steps_so_far_ = 0;       ///< of all trials
};

}  // namespace signorini
