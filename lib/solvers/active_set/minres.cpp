#include "solvers/active_set/minres.h"

#include "krylov/minimal_residuals.h"

namespace signorini {

Minres::Minres(const Options& options)
    : RegisteredSolver(options, options, false, std::make_unique<MinimalResiduals>()) {}

StateInterval Minres::interval() const {
  return options_.switching == MinresSwitching::converged ? StateInterval::converged
                                                          : SwitchingResiduals::interval();
}

}  // namespace signorini
