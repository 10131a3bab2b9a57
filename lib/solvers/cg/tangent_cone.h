#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "contact/friction_law.h"

/// The set of admissible impulses of a contact near a point of its boundary (docs/theory.md, C15–C17).
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
  bool rubs = false;        ///< μ r_N > 0: there is a disc or square of positive size
  std::uint8_t slides = 0;  ///< cone: 0 or 1; pyramid: bit 0 for T1, bit 1 for T2
  double e[2] = {
      0.0, 0.0};  ///< outward normal where r_T lies on its bound, else 0; pyramid: one sign per component
  double S[2] = {0.0, 0.0};
  double curvature = 0.0;         ///< 1/kg
  double g[3] = {0.0, 0.0, 0.0};  ///< m/s

  std::uint8_t code() const { return static_cast<std::uint8_t>((pressed ? 1 : 0) | (slides << 1)); }
};

/// A projected impulse lies on its bound up to a few roundings.
inline constexpr double kOnBound = 1.0 - 1e-12;

/// `r`: three impulses of one contact; `rho`: −u of the contact.
template <ContactLaw Law>
ContactFace face_of(double mu, const double* r, const double* rho) {
  ContactFace face;
  face.pressed = r[0] > 0.0;
  face.g[0] = face.pressed ? rho[0] : std::max(0.0, rho[0]);
  const double bound = mu * r[0];
  face.rubs = bound > 0.0;
  if (!face.rubs) return face;
  face.g[1] = rho[1];
  face.g[2] = rho[2];
  if constexpr (Law::kPartSize == 1) {
    for (int j = 0; j < 2; ++j) {
      if (!(std::abs(r[1 + j]) >= kOnBound * bound)) continue;
      face.e[j] = std::copysign(1.0, r[1 + j]);
      if (!(face.e[j] * rho[1 + j] > 0.0)) continue;
      face.slides = static_cast<std::uint8_t>(face.slides | (1 << j));
      face.S[j] = face.e[j] * mu;
      face.g[1 + j] = 0.0;
    }
    return face;
  }
  const double squared = r[1] * r[1] + r[2] * r[2];
  const double threshold = kOnBound * bound;
  if (!(squared >= threshold * threshold)) return face;
  const double inverse_length = 1.0 / std::sqrt(squared);
  face.e[0] = r[1] * inverse_length;
  face.e[1] = r[2] * inverse_length;
  const double outward = rho[1] * face.e[0] + rho[2] * face.e[1];
  if (!(outward > 0.0)) return face;
  face.slides = 1;
  face.S[0] = mu * face.e[0];
  face.S[1] = mu * face.e[1];
  face.curvature = outward / bound;
  face.g[1] -= outward * face.e[0];
  face.g[2] -= outward * face.e[1];
  return face;
}

/// Projects d on the tangent cone; sliding contacts keep no outward or inward radial part.
template <ContactLaw Law>
void project_on_tangent_cone(const ContactFace& face, double* d) {
  if (!face.pressed) d[0] = std::max(0.0, d[0]);
  if (!face.rubs) {
    d[1] = d[2] = 0.0;
    return;
  }
  if constexpr (Law::kPartSize == 1) {
    for (int j = 0; j < 2; ++j) {
      if ((face.slides >> j & 1) != 0 || face.e[j] * d[1 + j] > 0.0) d[1 + j] = 0.0;
    }
    return;
  }
  const double outward = d[1] * face.e[0] + d[2] * face.e[1];
  if (face.slides == 0 && !(outward > 0.0)) return;
  d[1] -= outward * face.e[0];
  d[2] -= outward * face.e[1];
}

/// Back to the admissible set: r_N = max(0, r_N), then r_T onto the disc or square; sliding contacts are put
/// on their bound.
template <ContactLaw Law>
void project_impulse(double mu, std::uint8_t slides, const double* S, double* r) {
  r[0] = std::max(0.0, r[0]);
  const double bound = mu * r[0];
  if constexpr (Law::kPartSize == 1) {
    for (int j = 0; j < 2; ++j) {
      r[1 + j] = (slides >> j & 1) != 0 ? S[j] * r[0] : std::clamp(r[1 + j], -bound, bound);
    }
    return;
  }
  const double squared = r[1] * r[1] + r[2] * r[2];
  if (!(squared > 0.0) || (slides == 0 && squared <= bound * bound)) return;
  const double factor = bound / std::sqrt(squared);
  r[1] *= factor;
  r[2] *= factor;
}

/// Norms of a vector of contact quantities.
struct Norms {
  double two = 0.0;  ///< its square until `rooted`
  double max = 0.0;

  void add(double value) {
    two += value * value;
    max = std::max(max, std::abs(value));
  }
  Norms rooted() const { return {std::sqrt(two), max}; }
};

/// Norms of g over all contacts in m/s, from r (3m) and u = W r + q (3m).
Norms projected_residual(FrictionLaw law, const Vector& mu, std::span<const double> r,
                         std::span<const double> u);

}  // namespace signorini
