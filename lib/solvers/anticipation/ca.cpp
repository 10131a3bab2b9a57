#include "solvers/anticipation/ca.h"

#include <utility>

#include "solvers/dense_pattern.h"

namespace signorini {

std::string Ca::unsupported_reason(const ContactProblem& problem) const {
  return dense_refusal(problem.contacts(), island_labels(problem));
}

std::string Ca::island_refusal(Index contacts) const { return dense_refusal(contacts); }

void Ca::prepare(const ContactProblem& problem) {
  ReducedProblem reduced = assemble_reduced(problem, arena_, options_.columns);
  prepare_filled(fill_pattern(reduced.W, island_labels(problem)), std::move(reduced.q), problem.mu);
}

void Ca::prepare_island(ReducedProblem problem, Vector mu) {
  prepare_filled(fill_pattern(problem.W), std::move(problem.q), std::move(mu));
}

void Ca::prepare_filled(BlockSparseMatrix W, Vector q, Vector mu) {
  set_data(make_gauss_seidel_data(std::move(W), std::move(q), std::move(mu), options_.common.law,
                                  natural_tangent_step(options_.common.law)));
}

Iteration Ca::start(std::span<double> /*r*/, const StopTest& /*stop*/) {
  reset_counters();
  return {};
}

}  // namespace signorini
