#pragma once

#include <string>

#include "solvers/region_solver.h"

namespace signorini {

/// What a solver that chooses its method (`auto`) used in its last solve, and why: "impulses (no body deforms, 0.4 rows of H per
/// dof)"; by regions with their numbers: "impulses: 13 regions, both: 2 regions (…)". Empty for a solver that does not choose.
std::string chosen_method(const ContactProblem& problem, const RegionSolver& solver,
                          const SolveReport& report);

}  // namespace signorini
