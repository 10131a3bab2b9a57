#pragma once

#include <algorithm>

#include "contact/friction_law.h"
#include "linalg/types.h"
#include "solvers/contact_error.h"

namespace signorini {

/// r_k and u_k of one contact while its impulse is updated: N first, then T1 and T2, u_k always with the newest r_k.
///
///     u_k ← u_k + (1/ω) D d        d: change of r_k [N·s]     D: 3×3 [1/kg]     u: m/s
struct LocalContact {
  Vector3 r;
  Vector3 u;
  const Matrix3& D;
  InverseMass inverse_mass;  ///< of D
  double mu;
  double held = -1.0;          ///< bound of friction, N·s; negative: μ r_N
  double inverse_omega = 1.0;  ///< 1/ω

  void move(int j, double change) {
    r[j] += change;
    u += (inverse_omega * change) * D.col(j);
  }
  void normal() { move(0, std::max(-r[0], -u[0] / (inverse_omega * inverse_mass.normal))); }
  double bound() const { return held >= 0.0 ? held : mu * r[0]; }
  /// Both tangents at once where they share a bound, else one after the other.
  template <class Law>
  void tangents() {
    if constexpr (Law::kPartSize == 1) {
      for (int j = 1; j < 3; ++j) {
        if (!(D(j, j) > 0.0)) continue;
        move(j, std::clamp(r[j] - u[j] / (inverse_omega * D(j, j)), -bound(), bound()) - r[j]);
      }
    } else {
      if (!(inverse_mass.tangent > 0.0)) return;
      const Vector2 stepped = r.tail<2>() - u.tail<2>() / (inverse_omega * inverse_mass.tangent);
      const Vector2 change = Law::project_tangent(stepped, bound()) - r.tail<2>();
      move(1, change[0]);
      move(2, change[1]);
    }
  }
};

}  // namespace signorini
