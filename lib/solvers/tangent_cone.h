#pragma once

#include <cstdint>
#include <span>

#include "contact/friction_law.h"

/// The set of admissible impulses of a contact near a point of its boundary (spec C15–C17).
///
/// Admissible: r_N ≥ 0 and r_T in the disc (cone) or square (pyramid) of radius μ r_N; for given r_N the
/// bound is a constant, as in Lazarevych 2010 eqs. 6 and 7. ϱ = −u = −(W r + q) is the downhill direction;
/// its projection g on the tangent cone at r replaces eq. 19, whose projection does not vanish at the
/// solution:
///
///     r_N = 0: g_N = max(0, ϱ_N);   bound 0: g_T = 0;   on the boundary: the outward part of ϱ_T is removed
///
/// A contact whose outward part was removed *slides*. Its bound moves with r_N, so a displacement d is
/// completed to F = d + S d_N (cone: S = μ r_T/‖r_T‖, pyramid: ±μ per sliding component), and the disc adds
/// the curvature C = ‖outward ϱ_T‖/(μ r_N) to the tangential stiffness.
namespace signorini {

struct ContactFace {
  bool pressed = false;     ///< r_N > 0
  std::uint8_t slides = 0;  ///< cone: 0 or 1; pyramid: bit 0 for T1, bit 1 for T2
  double S[2] = {0.0, 0.0};
  double curvature = 0.0;         ///< 1/kg
  double g[3] = {0.0, 0.0, 0.0};  ///< m/s

  std::uint8_t code() const { return static_cast<std::uint8_t>((pressed ? 1 : 0) | (slides << 1)); }
};

/// `r`: three impulses of one contact; `rho`: −u of the contact.
ContactFace face_of(FrictionLaw law, double mu, const double* r, const double* rho);

/// Projects d on the tangent cone at r; sliding contacts (`slides` of their face) keep no outward or inward
/// radial part.
void project_on_tangent_cone(FrictionLaw law, double mu, const double* r, std::uint8_t slides, double* d);

/// Back to the admissible set: r_N = max(0, r_N), then r_T onto the disc or square; sliding contacts are put
/// on their bound.
void project_impulse(FrictionLaw law, double mu, std::uint8_t slides, const double* S, double* r);

/// Norms of a vector of contact quantities.
struct Norms {
  double two = 0.0;
  double max = 0.0;
};

/// Norms of g over all contacts in m/s, from r (3m) and u = W r + q (3m).
Norms projected_residual(FrictionLaw law, std::span<const double> mu, std::span<const double> r,
                         std::span<const double> u);

}  // namespace signorini
