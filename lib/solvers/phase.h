#pragma once

#include <cstdint>
#include <limits>

#include "solvers/stop_test.h"

/// One iteration loop of a solver (the combined method runs two), and how its end becomes a `SolveReport`.
namespace signorini {

enum class PhaseEnd : std::uint8_t {
  converged,   ///< the exact error met the tolerance of the `StopRule`
  handed_on,   ///< the accuracy at which the next phase takes over was reached
  paper_rule,  ///< one of the paper's thresholds ε, δ, ε∞, δ∞ was met
  cap,         ///< iteration cap
  time,        ///< time limit
  stuck,       ///< the method cannot move any more
  diverged     ///< arithmetic left the finite numbers
};

struct PhaseReport {
  PhaseEnd end = PhaseEnd::cap;
  int iterations = 0;
  long long products = 0;
  SolveCounters counters;
  /// Exact Alart–Curnier error of the last iterate in m/s; NaN when it was not measured.
  double error = std::numeric_limits<double>::quiet_NaN();
  /// The cheap estimate of the last iteration in m/s; NaN for a method without one.
  double estimate = std::numeric_limits<double>::quiet_NaN();
};

/// The answer to a problem without contacts.
SolveReport nothing_to_solve();

/// Takes the best of all measured iterates where that is better than the last one, and names the outcome.
///
/// A run of a fixed number of iterations keeps the last iterate as it is. A paper's rule that fired above the
/// asked residual is reported as `stalled`: only the exact error can claim `converged`. After `diverged`, r
/// is the best finite iterate.
SolveReport finish_solve(const PhaseReport& phase, const StopTest& stop, const BestIterate& best,
                         std::span<double> r);

}  // namespace signorini
