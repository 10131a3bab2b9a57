#pragma once

#include <cstdint>

#include "contact/contact_problem.h"
#include "contact/friction_law.h"

/// Problems of any size whose solution is known to the last bit of the data, made by the Moreau split
/// (SCS test/problem_utils.h; O'Donoghue 2021, section on random cone problems):
///
///     z random, r* = P_K(z), û* = r* − z ∈ K*,  u*_N = û*_N − μ‖u*_T‖, u*_T = û*_T,  q = u* − W r* (cone)
///
/// and componentwise for the pyramid. The contact net is random points tied by springs, or detached regions.
namespace signorini {

struct PlantedOptions {
  int contacts = 20;
  int regions = 1;  ///< detached groups of equal size; each is connected
  double mu = 0.5;
  double stiffness = 0.0;   ///< 0: M diagonal (explicit); > 0: adds dt²K of random springs (implicit M)
  double mass_ratio = 1.0;  ///< largest over smallest node mass
  /// This share of a region's contacts (rounded down, duplicates apart) brings no point of its own but joins
  /// points that others brought: loops of contacts, and from about 0.6 on more rows than dofs. Below 1.
  double sharing = 0.0;
  int duplicates = 0;  ///< this many contacts repeat an earlier one (rank-deficient W)
  FrictionLaw law = FrictionLaw::cone;
  std::uint64_t seed = 1;
};

struct PlantedProblem {
  ContactProblem problem;  ///< primal, with points, weights, bodies
  Vector r;                ///< a solution (not unique when W is singular); 3m, N·s
  Vector u;                ///< its relative velocity; 3m, m/s
};

PlantedProblem make_planted_problem(const PlantedOptions& options);

}  // namespace signorini
