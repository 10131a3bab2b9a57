#pragma once

#include <algorithm>
#include <cmath>

#include "base/roots.h"
#include "contact/friction_law.h"

/// The two functions of a convex cone K of admissible impulses that first-order methods need, for both laws:
///
///     cone:     K = { ‖r_T‖₂ ≤ μ r_N }         pyramid:  K = { |r_T1| ≤ μ r_N, |r_T2| ≤ μ r_N }
///
/// The Euclidean projection P_K moves r_N as well, unlike the clamp of r_T that the other families use.
///
/// The shift of De Saxcé and Feng 1998: û = u + μ s(u_T) n with s the norm dual to the one that bounds r_T, so ‖u_T‖₂
/// for the cone and |u_T1| + |u_T2| for the pyramid. Then û ∈ K* says u_N ≥ 0, and r·û = 0 says r_N u_N = 0 and
/// that r_T opposes u_T by as much as the bound allows: K ∋ r ⊥ û ∈ K* is the whole law, for either K.
namespace signorini {

/// s(u_T), m/s.
template <ContactLaw Law>
double sliding_speed(const double* u) {
  if constexpr (Law::kPartSize == 1) return std::abs(u[1]) + std::abs(u[2]);
  return hypotenuse(u[1], u[2]);
}

/// P_K(x) of the pyramid. With both |x_T| clamped to μ n, the height n ≥ 0 is the root of
/// n − x_N = μ Σ_j max(0, |x_Tj| − μ n): no side, the side of the larger |x_Tj|, or both hold x back.
inline Vector3 project_on_pyramid(double mu, const Vector3& x) {
  const double first = std::abs(x[1]), second = std::abs(x[2]);
  const double larger = std::max(first, second), smaller = std::min(first, second);
  double height = x[0];
  if (larger > mu * height) height = (x[0] + mu * larger) / (1.0 + mu * mu);
  if (smaller > mu * height) height = (x[0] + mu * (larger + smaller)) / (1.0 + 2.0 * mu * mu);
  const double poison = 0.0 * (x[0] + x[1] + x[2]);  // max and min lose a NaN
  height = std::max(0.0, height) + poison;
  const Vector2 tangent = FrictionPyramid::project_tangent(x.tail<2>(), mu * height);
  return {height, tangent[0], tangent[1]};
}

/// P_K(x); a NaN in x stays a NaN.
template <ContactLaw Law>
Vector3 project_on_cone(double mu, const Vector3& x) {
  if constexpr (Law::kPartSize == 1) return project_on_pyramid(mu, x);
  return FrictionCone{mu}.project(x);
}

}  // namespace signorini
