#pragma once

#include <span>
#include <vector>

#include "contact/contact_problem.h"
#include "contact/friction_law.h"

/// How a solve left its contacts, read from its impulses alone, whatever solver gave them:
///
///     open       r_N ≤ 0
///     sliding    ‖r_T‖ ≥ (1 − 1e-6) μ r_N       cone
///                max |r_Tj| ≥ (1 − 1e-6) μ r_N  pyramid
///     sticking   else
///     bound      μ max(0, r_N)
///
/// Without friction everything that is closed slides. Solvers put sliding impulses on the bound to rounding
/// (docs/notes/measurements.md).
namespace signorini {

/// r_T this close to its bound, relative to it, slides.
inline constexpr double kAtBound = 1e-6;

struct ContactEnd {
  FrictionState state = FrictionState::unknown;
  double bound = 0.0;  ///< N·s
};

/// Of one contact: (r_N, r_T1, r_T2) in the tangents of the law; N·s.
ContactEnd contact_end(const Vector3& r, double mu, FrictionLaw law);

/// Of every contact: r (3m, N·s) in the problem's frames. `q` (3m, m/s): the free relative velocities, which
/// the aligned pyramid turns its tangents to; only pyramids in turned tangents read it.
std::vector<ContactEnd> contact_ends(std::span<const double> r, const Vector& mu, LawSpec law,
                                     std::span<const double> q);

}  // namespace signorini
