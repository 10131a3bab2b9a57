#include "solvers/tangent_cone.h"

#include <algorithm>
#include <cmath>

namespace signorini {

namespace {

/// A projected impulse lies on its bound up to a few roundings.
constexpr double kOnBound = 1.0 - 1e-12;

/// Outward signs of a pyramid component: +1, −1, or 0 when it is not on its bound.
double side(double r_t, double bound) {
  return std::abs(r_t) >= kOnBound * bound ? std::copysign(1.0, r_t) : 0.0;
}

}  // namespace

ContactFace face_of(FrictionLaw law, double mu, const double* r, const double* rho) {
  ContactFace face;
  face.pressed = r[0] > 0.0;
  face.g[0] = face.pressed ? rho[0] : std::max(0.0, rho[0]);
  const double bound = mu * r[0];
  if (!(bound > 0.0)) return face;
  face.g[1] = rho[1];
  face.g[2] = rho[2];
  if (law == FrictionLaw::pyramid) {
    for (int j = 0; j < 2; ++j) {
      const double sign = side(r[1 + j], bound);
      if (sign * rho[1 + j] <= 0.0) continue;
      face.slides = static_cast<std::uint8_t>(face.slides | (1 << j));
      face.S[j] = sign * mu;
      face.g[1 + j] = 0.0;
    }
    return face;
  }
  const double length = std::sqrt(r[1] * r[1] + r[2] * r[2]);
  if (length < kOnBound * bound) return face;
  const double e1 = r[1] / length;
  const double e2 = r[2] / length;
  const double outward = rho[1] * e1 + rho[2] * e2;
  if (outward <= 0.0) return face;
  face.slides = 1;
  face.S[0] = mu * e1;
  face.S[1] = mu * e2;
  face.curvature = outward / bound;
  face.g[1] -= outward * e1;
  face.g[2] -= outward * e2;
  return face;
}

void project_on_tangent_cone(FrictionLaw law, double mu, const double* r, std::uint8_t slides, double* d) {
  if (!(r[0] > 0.0)) d[0] = std::max(0.0, d[0]);
  const double bound = mu * r[0];
  if (!(bound > 0.0)) {
    d[1] = d[2] = 0.0;
    return;
  }
  if (law == FrictionLaw::pyramid) {
    for (int j = 0; j < 2; ++j) {
      if ((slides >> j & 1) != 0 || side(r[1 + j], bound) * d[1 + j] > 0.0) d[1 + j] = 0.0;
    }
    return;
  }
  const double length = std::sqrt(r[1] * r[1] + r[2] * r[2]);
  if (length < kOnBound * bound) return;
  const double e1 = r[1] / length;
  const double e2 = r[2] / length;
  const double outward = d[1] * e1 + d[2] * e2;
  if (slides == 0 && outward <= 0.0) return;
  d[1] -= outward * e1;
  d[2] -= outward * e2;
}

void project_impulse(FrictionLaw law, double mu, std::uint8_t slides, const double* S, double* r) {
  r[0] = std::max(0.0, r[0]);
  const double bound = mu * r[0];
  if (law == FrictionLaw::pyramid) {
    for (int j = 0; j < 2; ++j) {
      r[1 + j] = (slides >> j & 1) != 0 ? S[j] * r[0] : std::clamp(r[1 + j], -bound, bound);
    }
    return;
  }
  const double length = std::sqrt(r[1] * r[1] + r[2] * r[2]);
  if (!(length > 0.0) || (slides == 0 && length <= bound)) return;
  const double factor = bound / length;
  r[1] *= factor;
  r[2] *= factor;
}

Norms projected_residual(FrictionLaw law, std::span<const double> mu, std::span<const double> r,
                         std::span<const double> u) {
  Norms norms;
  for (std::size_t k = 0; k < mu.size(); ++k) {
    const double rho[3] = {-u[3 * k], -u[3 * k + 1], -u[3 * k + 2]};
    const ContactFace face = face_of(law, mu[k], r.data() + 3 * k, rho);
    for (const double g : face.g) {
      norms.two += g * g;
      norms.max = std::max(norms.max, std::abs(g));
    }
  }
  norms.two = std::sqrt(norms.two);
  return norms;
}

}  // namespace signorini
