#include "solvers/active_set/minres.h"

#include "krylov/minimal_residuals.h"

namespace signorini {

Minres::Minres(const Options& options)
    : RegisteredSolver(options, options, false, std::make_unique<MinimalResiduals>()) {}

StateInterval Minres::interval() const {
  const bool frozen = options_.switching == MinresSwitching::automatic
                          ? options_.prediction == StatePrediction::single
                          : options_.switching == MinresSwitching::converged;
  return frozen ? StateInterval::converged : SwitchingResiduals::interval();
}

}  // namespace signorini
