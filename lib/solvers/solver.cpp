#include "solvers/solver.h"

#include <limits>

#include "base/check.h"

namespace signorini {

WorkAndSpan Solver::work_and_span(int /*cores*/) const {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  if (traits().parallel) return {kUnknown, kUnknown, kUnknown};
  return {1.0, 1.0, 1.0};
}

std::string Solver::island_refusal(Index /*contacts*/) const { return ""; }

std::string Solver::choice(const ContactProblem& /*problem*/) const { return ""; }

void Solver::prepare_island(ReducedProblem /*problem*/, Vector /*mu*/) {
  SIGNORINI_CHECK(traits().needs != SolverNeeds::delassus);  // such a solver brings its own
  throw_usage("solver '{}' cannot be prepared from W and q", name());
}

}  // namespace signorini
