#pragma once

#include <string_view>
#include <vector>

#include "solvers/accelerated/nncg_sweeps.h"
#include "solvers/delassus_solver.h"
#include "solvers/newton/full_newton.h"
#include "solvers/newton/proximal_newton.h"
#include "solvers/portfolio/sweep_record.h"
#include "solvers/registered_solver.h"

/// `auto`: sweeps while they promise to arrive, Newton steps where these are cheaper, on u = W r + q.
///
/// Legs of accelerated sweeps (nncg_sweeps.h) alternate with trials of Newton steps (full_newton.h, proximal_newton.h). All
/// costs are counted operations, so that the choice depends on the problem alone:
///
///     left   sweeps until the tolerance at the rate of the last half of the leg, times the cost of a sweep
///     need   what the next trial may cost: ten steps, or more after trials that failed
///
/// A trial begins where left > need, and where sweeps have cost as much as a trial without arriving. The first is full
/// Newton steps from the start; then from the best iterate, and proximal ones that resume where they were. A trial that
/// halves the error hands its iterate to the sweeps; otherwise these go on where they were.
///
/// Phases: `sweep` and `newton`. docs/solvers.md tells how the constants were found.
namespace signorini {

struct AutoOptions {
  CommonOptions common;

  template <class Visitor>
  void visit(Visitor& v) {
    common.visit(v);
  }
};

class Auto : public RegisteredSolver<Auto, AutoOptions, DelassusSolver> {
 public:
  static constexpr std::string_view kName = "auto";
  static constexpr SolverTraits kTraits{.phases = {"sweep", "newton"}};
  explicit Auto(const Options& options) : RegisteredSolver(options) {}

  void prepare_island(ReducedProblem problem, Vector mu) override;

 protected:
  Iteration start(std::span<double> r, const StopTest& stop) override;
  Iteration iterate(std::span<double> r) override;
  LoopEnd settle(std::span<double> r) override;
  MeasureSchedule::Tells estimates_tell() const override { return MeasureSchedule::Tells::last; }
  std::size_t phase() const override { return phase_; }

 private:
  enum class Method { sweeps, full, proximal };

  void begin_sweeps(std::span<const double> r, double error);
  Iteration sweep(std::span<double> r);
  double cost_of_steps() const;
  bool trial_is_due() const;
  void begin_trial();
  Iteration step(std::span<double> r);
  bool trial_is_over();
  void end_trial();
  void offer(std::span<const double> r, double error);

  NncgSweeps sweeps_;
  NewtonSystem system_;
  FullNewton newton_;
  ProximalNewton proximal_;
  SweepRecord record_;
  std::vector<double> swept_, best_r_, x_;  ///< 3m: where sweeps are; the best iterate, N·s; unit-free
  double sweep_cost_ = 0.0;                 ///< operations

  // of one solve
  const StopTest* stop_ = nullptr;
  double target_ = 0.0;  ///< m/s
  Method method_ = Method::sweeps;
  std::size_t phase_ = 0;
  double best_error_ = 0.0;
  int length_ = 0;           ///< sweeps of this leg before the next decision
  double swept_cost_ = 0.0;  ///< operations of sweeps since the last trial
  int trials_ = 0;           ///< since the last large gain
  bool proximal_begun_ = false;
  double slice_ = 0.0;         ///< operations that a trial may take at least
  double trial_begin_ = 0.0;   ///< operations of Newton steps before the trial
  double trial_error_ = 0.0;   ///< best error at its beginning
  double gained_error_ = 0.0;  ///< best of the trial at its last gain of a tenth
  int steps_ = 0, idle_ = 0;   ///< of the trial
  int steps_so_far_ = 0;       ///< of all trials
};

}  // namespace signorini
