#include "solvers/splitting/mass_splitting.h"

#include <utility>

#include "solvers/relaxation/body_rows.h"

namespace signorini {

std::string MassSplitting::unsupported_reason(const ContactProblem& problem) const {
  return works_on_impulses(problem) ? DelassusSolver::unsupported_reason(problem) : "";
}

bool MassSplitting::works_on_impulses(const ContactProblem& problem) const {
  return !body_rows_refusal(problem).empty();
}

void MassSplitting::prepare(const ContactProblem& problem) {
  if (works_on_impulses(problem)) return DelassusSolver::prepare(problem);
  set_sweeps(make_gauss_seidel_data(make_body_rows(problem), problem.mu, options_.common.law,
                                    TangentChoice::automatic));
}

void MassSplitting::prepare_island(ReducedProblem problem, Vector mu) {
  set_sweeps(make_gauss_seidel_data(std::move(problem.W), std::move(problem.q), std::move(mu),
                                    options_.common.law, TangentChoice::automatic));
}

void MassSplitting::set_sweeps(GaussSeidelData data) {
  set_data(std::move(data));
  sweep_.prepare(data_);
  steps_.prepare(data_, sweep_, options_.outer);
}

Iteration MassSplitting::start(std::span<double> /*r*/, const StopTest& /*stop*/) {
  reset_counters();
  steps_.start();
  return {};
}

Iteration MassSplitting::iterate(std::span<double> r) {
  const SweepStep step = steps_.step(r, arena_);
  counters_.restarts = steps_.restarts();
  counters_.guards = steps_.guards();
  return swept(step.correction);
}

}  // namespace signorini
