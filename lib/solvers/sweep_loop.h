#pragma once

#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "base/function_ref.h"
#include "solvers/gauss_seidel.h"
#include "solvers/paper_rules.h"
#include "solvers/phase.h"

/// Repeats a Gauss–Seidel sweep until a stop rule holds.
///
/// A sweep returns its largest correction in m/s, an estimate of the error that costs nothing. The exact
/// error costs about a sweep; it is evaluated at the start, when the estimate is below the tolerance, every
/// 50 sweeps and at the end, and only it ends the loop with `converged`. With the paper's rules it is
/// evaluated after every sweep, because they need the projected residual.
namespace signorini {

struct PhaseSettings {
  int cap = 0;              ///< iterations of this phase at most
  int first_iteration = 0;  ///< iterations done before, for the observer and the report
  std::string_view phase;
  SolveCounters before;  ///< work of earlier phases, for the observer
};

/// Shows an iterate with the work so far. `plain` in m/s: the largest component of the projected residual,
/// NaN for a method that has none.
void show_iteration(IterationObserver& observer, const PhaseSettings& settings, const PhaseReport& report,
                    std::span<const double> r, double plain = std::numeric_limits<double>::quiet_NaN());

class SweepLoop {
 public:
  using Sweep = FunctionRef<double(std::span<double>)>;

  void prepare(Index contacts);
  /// `data` measures the error (W, q, μ, law); `best` receives every measured iterate. The start is not shown
  /// to the observer.
  PhaseReport run(const GaussSeidelData& data, Sweep sweep, std::span<double> r,
                  const PhaseSettings& settings, const StopTest& stop, const PaperRules& rules,
                  IterationObserver* observer, BestIterate& best);

 private:
  PhaseReport run_paper(const GaussSeidelData& data, Sweep sweep, std::span<double> r,
                        const PhaseSettings& settings, const StopTest& stop, const PaperRules& rules,
                        IterationObserver* observer, BestIterate& best);
  double measure(const GaussSeidelData& data, std::span<double> r, PhaseReport& report, BestIterate& best);

  std::vector<double> u_;
  std::vector<double> previous_;
};

/// U / min W_NN in N·s over the contacts that can move; 0 when there is none.
double impulse_scale(const GaussSeidelData& data, double velocity_scale);

}  // namespace signorini
