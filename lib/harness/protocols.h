#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "contact/residuals.h"
#include "harness/bench_timer.h"
#include "harness/experiment.h"
#include "harness/run_record.h"
#include "record/trace_file.h"
#include "solvers/region_solver.h"

/// The protocols by which solvers are compared. The referee measures every answer, outside all timers;
/// tracing never happens in a timed run; setup (`prepare`) is timed apart from `solve`.
///
///   self-stopped   the solver stops by its own test for the asked residual; the referee says what it reached. In
///                  experiments a short run is made several times (harness/repetitions.h), and the row is the median run
///   converge       own stopping off, a fixed budget, the referee after every iteration → ConvergenceTrace.
///                  StopRule::residual still carries the tolerance, so that inner loops aim at what they
///                  would aim at in a self-stopped run: the iterates are the same. The errors of a row that
///                  converged are those of iterate k*, see below
///   time           k* = the first iteration of the traced run whose residual is ≤ tolerance; exactly k*
///                  iterations are then timed, untraced. With regions every region R has its own k*_R: the residual is a
///                  maximum over contacts, so R may stop as soon as its own maximum is small enough.
///
/// `converged` by regions that W couples (points-approx) needs the referee's residual ≤ tolerance (1 % for the last
/// bits); otherwise the row is `stalled` and says so. More threads than this process may use are `unsupported`.
namespace signorini {

/// One snapshot and what every row about it shares.
struct RunTarget {
  const ContactProblem* problem = nullptr;
  const Referee* referee = nullptr;
  RunRecord facts;   ///< experiment, file, step, contacts, dofs
  std::string note;  ///< of M and W (contact/matrix_note.h); every message opens with it
};
/// The referee of a problem, with its islands told. Errors begin with `where`: file and step.
Referee make_referee(const ContactProblem& problem, const std::string& where = "problem");
RunTarget make_target(const ContactProblem& problem, const Referee& referee, std::string experiment,
                      std::string file, std::string step);

struct RunLimits {
  double tolerance = 1e-6;
  int max_iterations = 1000;
  double time_limit = 60.0;  ///< s
  /// Raised in the midst of a run: the protocol throws `Cancelled`, and the run leaves no row.
  const CancelFlag* cancelled = nullptr;
};

/// A solver that has been prepared for a target, or the row that says why it could not be.
struct PreparedRun {
  std::unique_ptr<RegionSolver> solver;  ///< null when `record` is already final (unsupported, failed)
  RunRecord record;                      ///< variant, regions and setup_seconds filled in
};
PreparedRun prepare_run(const RunTarget& target, const SolverVariant& variant, RegionMode mode, int threads);
/// The same for a solver made elsewhere.
PreparedRun prepare_run(const RunTarget& target, std::unique_ptr<RegionSolver> solver, RunRecord record);

/// r at the start: zero, or the impulses of the previous step when the solver asks for them and the problem
/// has them.
Vector start_values(const Solver& solver, const ContactProblem& problem);

/// Whether the referee's residual meets the tolerance. A solver's sums and the referee's differ in the last bits: 1 % is
/// far above that and far below what matters.
bool meets(double residual, double tolerance);

struct SolveOutcome {
  RunRecord record;
  Vector r;
};
/// Whether there is an answer: runs that were not made, or broke down, leave their starting values.
bool is_answer(const SolveOutcome& outcome);
/// Protocol self-stopped. What a solver throws becomes a row with status failed. With an observer the times of the row mean
/// nothing; the answer is the same.
SolveOutcome solve_self_stopped(const RunTarget& target, PreparedRun& run, const RunLimits& limits,
                                IterationObserver* observer = nullptr);

struct TracedRun {
  RunRecord record;  ///< protocol converge: status converged when the tolerance was met within the budget
  ConvergenceTrace trace;
  std::optional<int> first_iteration;  ///< k*
  std::vector<int> region_iterations;  ///< k*_R by region label; empty without regions or without k*
};
TracedRun trace_run(const RunTarget& target, PreparedRun& run, const RunLimits& limits);

/// One member of a group that is timed together.
struct TimedRun {
  PreparedRun* run = nullptr;
  const TracedRun* traced = nullptr;
};
/// Protocol time for a group of runs, repetitions interleaved: `options.repetitions` rows for each. A run
/// without k* gives one censored row: its status says what happened and its solve_seconds is the time spent.
std::vector<RunRecord> time_runs(const RunTarget& target, std::span<const TimedRun> group,
                                 const RunLimits& limits, const TimerOptions& options);

}  // namespace signorini
