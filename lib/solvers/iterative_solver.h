#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "solvers/stop_test.h"

/// The one iteration loop of all solvers: stopping, the best iterate, the observer, time and cancellation.
///
///     start(r)      begins a solve from start values r (3m, N·s)
///     iterate(r)    one iteration; r becomes the next iterate
///     settle(r)     prepares the next iteration, or ends the solve by the method's own rule
///
/// A method may estimate its error at no cost. The exact error, `measure`, is evaluated at the start, where
/// the estimate promises that it is small enough, every 50 iterations and at the end; only it ends a solve as
/// converged. A run of a fixed number of iterations measures nothing and returns its last iterate.
namespace signorini {

/// Result of an iteration or of the start; errors in m/s, NaN where the method has no such number.
struct Iteration {
  double estimate = std::numeric_limits<double>::quiet_NaN();  ///< of the error of r
  double error = std::numeric_limits<double>::quiet_NaN();     ///< exact error of r, where it is known
  /// Of a method without an estimate: any number that is smaller for a better iterate.
  double merit = std::numeric_limits<double>::quiet_NaN();
  bool ripe = false;       ///< measure now, whatever the estimate
  bool exhausted = false;  ///< the next iteration would change r by rounding only
  bool moved = true;       ///< false: r has not changed and cannot

  /// What is known of r, the best first; NaN once arithmetic has left the finite numbers.
  double quality() const { return !std::isnan(error) ? error : !std::isnan(estimate) ? estimate : merit; }
  bool finite() const { return std::isfinite(quality()); }
};

/// How an iteration loop ends; none: it goes on.
enum class LoopEnd : std::uint8_t {
  none,
  converged,   ///< the exact error met the tolerance of the `StopRule`
  paper_rule,  ///< the paper's own rule was met
  cap,         ///< iteration cap
  time,        ///< time limit, or cancelled
  stuck,       ///< the method cannot move any more
  diverged     ///< arithmetic left the finite numbers
};

class IterativeSolver : public Solver {
 public:
  SolveReport solve(std::span<double> r, const StopRule& rule, IterationObserver* observer) override;

 protected:
  /// U = max|q| of the prepared problem, m/s.
  virtual double velocity_scale() = 0;
  /// r: 3m finite impulses. `stop` lives until the solve ends.
  virtual Iteration start(std::span<double> r, const StopTest& stop) = 0;
  virtual Iteration iterate(std::span<double> r) = 0;
  virtual LoopEnd settle(std::span<double> /*r*/) { return LoopEnd::none; }
  /// The exact error of r in m/s; `estimate`: that of the last iteration.
  virtual double measure(std::span<const double> r, double estimate) = 0;

  /// False: only a rule of the paper (`settle`) ends the solve, not the residual of the `StopRule`.
  virtual bool ends_by_residual() const { return true; }
  /// False: the solve returns its last iterate, as where a rule of the paper has another measure.
  virtual bool keeps_best() const { return true; }
  virtual MeasureSchedule::Tells estimates_tell() const { return MeasureSchedule::Tells::present; }
  /// The message of a solve that `LoopEnd::paper_rule` ended; at most 15 characters, which do not allocate.
  virtual std::string_view paper_rule() const { return "paper's rule"; }
  /// Which of `SolverTraits::phases` the last iteration belongs to.
  virtual std::size_t phase() const { return 0; }
  /// For the observer; the counters are filled in by the loop.
  virtual IterationProgress progress() { return {}; }
  /// Of the present solve.
  virtual const SolveCounters& counters() = 0;
  /// Products with the whole of W or M.
  virtual long long products() = 0;

  BestIterate& best() { return best_; }
  const BestIterate& best() const { return best_; }
  /// At a new phase: estimates and measurements of the last one do not apply to it.
  void restart_schedule();

 private:
  struct Loop;
  void run(Loop& loop);
  bool judge(Loop& loop);
  SolveReport finish(Loop& loop);

  BestIterate best_;
  MeasureSchedule schedule_{0.0, MeasureSchedule::Tells::present};
  double tolerance_ = 0.0;
};

}  // namespace signorini
