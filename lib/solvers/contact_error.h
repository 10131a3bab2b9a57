#pragma once

#include <algorithm>

#include "base/roots.h"
#include "contact/friction_law.h"

/// The Alart–Curnier error of one contact (contact/residuals.h has the formula), for solvers that measure
/// their own iterates. The referee has its own code.
namespace signorini {

/// 1/ρ_N and 1/ρ_T of a contact, 1/kg. Both 0 where nothing moves.
struct InverseMass {
  double normal = 0.0;   ///< W_NN
  double tangent = 0.0;  ///< λ_max of the symmetric part of W_TT
};

inline InverseMass inverse_mass_of(const Matrix3& W) {
  const double off = 0.5 * (W(1, 2) + W(2, 1));
  const double largest = 0.5 * (W(1, 1) + W(2, 2)) + hypotenuse(0.5 * (W(1, 1) - W(2, 2)), off);
  return {W(0, 0), std::max(0.0, largest)};
}

/// √(e_N² + ‖e_T‖²) in m/s; r in N·s, u in m/s (N, T1, T2 each). NaN where r or u is not finite.
inline double contact_error(FrictionLaw law, const InverseMass& inverse_mass, double mu, const double* r,
                            const double* u) {
  const double poison = 0.0 * (r[0] + r[1] + r[2] + u[0] + u[1] + u[2]);  // max and min lose a NaN
  if (!(inverse_mass.normal > 0.0)) return std::max(0.0, -u[0]) + poison;
  // e_N = (r_N − max(0, r_N − ρ_N u_N))/ρ_N = min(r_N/ρ_N, u_N)
  const double e_N = std::min(inverse_mass.normal * r[0], u[0]);
  const double bound = mu * std::max(0.0, r[0] - u[0] / inverse_mass.normal);
  // e_T = λ r_T − P(λ r_T − u_T; λ μ p_N), λ = 1/ρ_T
  const Vector2 pushed(inverse_mass.tangent * r[1], inverse_mass.tangent * r[2]);
  const Vector2 tried = pushed - Vector2(u[1], u[2]);
  const double radius = inverse_mass.tangent * bound;
  const Vector2 kept = project_tangent(law, tried, radius);
  return hypotenuse(e_N, (pushed - kept).norm()) + poison;
}

}  // namespace signorini
