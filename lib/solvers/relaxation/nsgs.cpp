#include "solvers/relaxation/nsgs.h"

#include <utility>

namespace signorini {

void Nsgs::prepare_island(ReducedProblem problem, Vector mu) {
  const FrictionLaw law = options_.common.law;
  set_data(make_gauss_seidel_data(std::move(problem.W), std::move(problem.q), std::move(mu), law,
                                  natural_tangent_step(law)));
  sweep_.prepare(data_);
}

Iteration Nsgs::start(std::span<double> /*r*/, const StopTest& /*stop*/) {
  reset_counters();
  sweep_.forget();
  return {};
}

Iteration Nsgs::iterate(std::span<double> r) {
  const ExactSweep::Outcome outcome = sweep_.run(r);
  counters_.guards += outcome.slow;
  return swept(outcome.correction);
}

}  // namespace signorini
