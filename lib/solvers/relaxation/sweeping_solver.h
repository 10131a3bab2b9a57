#pragma once

#include <span>
#include <vector>

#include "solvers/delassus_solver.h"
#include "solvers/relaxation/ordered_sweep.h"

/// The base of `pgs`, `nncg` and `anderson`: sweeps in an order that the option `order` names (sweep_plan.h).
///
/// Between `solve` and the method the contacts are renumbered; start impulses, answers and the iterates that an
/// observer sees have the problem's own numbers. With the natural order nothing is moved.
namespace signorini {

class SweepingSolver : public DelassusSolver {
 public:
  SolveReport solve(std::span<double> r, const StopRule& rule, IterationObserver* observer) override;

 protected:
  /// Called by `prepare_island`; `data_` is then in the order of the sweeps.
  void set_sweeps(ReducedProblem problem, Vector mu, FrictionLaw law, TangentChoice tangent,
                  SweepOrder order);
  /// The `Iteration` of one `OrderedSweep::run` or `step`.
  Iteration swept_in_order(double correction) {
    for (int i = 1; i < sweep_.sweeps(); ++i) swept(correction);
    return swept(correction);
  }

  SweepPlan plan_;
  OrderedSweep sweep_;

 private:
  std::vector<double> placed_, shown_;  ///< 3m, N·s; empty where nothing is moved
};

}  // namespace signorini
