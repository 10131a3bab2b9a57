#include "solvers/solver.h"

#include "base/check.h"

namespace signorini {

std::string Solver::island_refusal(Index /*contacts*/) const { return ""; }

void Solver::prepare_island(ReducedProblem /*problem*/, Vector /*mu*/) {
  SIGNORINI_CHECK(traits().needs != SolverNeeds::delassus);  // such a solver brings its own
  throw_usage("solver '{}' cannot be prepared from W and q", name());
}

}  // namespace signorini
