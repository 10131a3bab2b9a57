#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/roots.h"
#include "linalg/types.h"

/// The Lorentz cone L = { x ∈ ℝ³ : x_0 ≥ ‖x_T‖ }, its Jordan product, and the scaling of Nesterov and Todd (1997).
///
///     x ∘ y = (xᵀy, x_0 y_T + y_0 x_T),   e = (1, 0, 0),   det x = x_0² − ‖x_T‖²
///     S = Sᵀ with λ = S x = S⁻¹ z,   P = S² = η² (2 w wᵀ − J),   J = diag(1, −1, −1)
///     η⁴ = det z/det x,   w = (z̄ + J x̄)/(2γ),   γ² = (1 + x̄ᵀz̄)/2,   x̄ = x/√det x
namespace signorini {

inline double lorentz_det(const Vector3& x) {
  const double length = hypotenuse(x[1], x[2]);
  return (x[0] - length) * (x[0] + length);
}

inline Vector3 jordan_product(const Vector3& x, const Vector3& y) {
  return {x.dot(y), x[0] * y[1] + y[0] * x[1], x[0] * y[2] + y[0] * x[2]};
}

/// v with λ ∘ v = d; λ inside L.
inline Vector3 jordan_quotient(const Vector3& lambda, const Vector3& d) {
  const double first = (lambda[0] * d[0] - lambda[1] * d[1] - lambda[2] * d[2]) / lorentz_det(lambda);
  return {first, (d[1] - first * lambda[1]) / lambda[0], (d[2] - first * lambda[2]) / lambda[0]};
}

/// The largest t ≥ 0 with x + t d in L; infinity where every t is. x inside L.
inline double longest_lorentz_step(const Vector3& x, const Vector3& d) {
  // det(x + t d) = c + 2 b t + a t²
  const double a = d[0] * d[0] - d[1] * d[1] - d[2] * d[2];
  const double b = x[0] * d[0] - x[1] * d[1] - x[2] * d[2];
  const double c = lorentz_det(x);
  const double infinite = std::numeric_limits<double>::infinity();
  const double discriminant = b * b - a * c;
  double t = infinite;
  if (discriminant >= 0.0) {
    // the roots are c/(−b ± √): no difference of like numbers
    const double root = std::sqrt(discriminant);
    for (const double denominator : {-b + root, -b - root}) {
      if (denominator > 0.0) t = std::min(t, c / denominator);
    }
  }
  if (d[0] < 0.0) t = std::min(t, -x[0] / d[0]);
  return t;
}

struct NesterovTodd {
  Vector3 w;
  double eta = 1.0;

  NesterovTodd(const Vector3& x, const Vector3& z) {
    const double det_x = lorentz_det(x), det_z = lorentz_det(z);
    const Vector3 a = x / std::sqrt(det_x), b = z / std::sqrt(det_z);
    const double gamma = std::sqrt(0.5 * (1.0 + a.dot(b)));
    w = Vector3(b[0] + a[0], b[1] - a[1], b[2] - a[2]) / (2.0 * gamma);
    eta = std::sqrt(std::sqrt(det_z / det_x));
  }
  /// S v.
  Vector3 scale(const Vector3& v) const { return eta * arrow(w, v); }
  /// S⁻¹ v = J S J v/η².
  Vector3 unscale(const Vector3& v) const { return arrow({w[0], -w[1], -w[2]}, v) / eta; }
  Matrix3 squared() const {
    Matrix3 P = 2.0 * w * w.transpose();
    P(0, 0) -= 1.0;
    P(1, 1) += 1.0;
    P(2, 2) += 1.0;
    return eta * eta * P;
  }

 private:
  /// [w_0 w_Tᵀ ; w_T  I + w_T w_Tᵀ/(1 + w_0)] v.
  static Vector3 arrow(const Vector3& w, const Vector3& v) {
    const double along = w[1] * v[1] + w[2] * v[2];
    const double factor = v[0] + along / (1.0 + w[0]);
    return {w[0] * v[0] + along, v[1] + factor * w[1], v[2] + factor * w[2]};
  }
};

}  // namespace signorini
