#include "solvers/relaxation/one_contact.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

namespace signorini {

namespace {

using Matrix2 = Eigen::Matrix2d;

Vector3 solve_cone(double mu, const Matrix3& D, const Vector3& b) {
  const Matrix2 A =
      D.bottomRightCorner<2, 2>() - D.bottomLeftCorner<2, 1>() * D.topRightCorner<1, 2>() / D(0, 0);
  const Vector2 c = b.tail<2>() - D.bottomLeftCorner<2, 1>() * (b[0] / D(0, 0));
  auto tangent = [&](double s) -> Vector2 { return -(A + s * Matrix2::Identity()).inverse() * c; };
  auto normal = [&](const Vector2& r_T) { return -(b[0] + D.topRightCorner<1, 2>() * r_T) / D(0, 0); };
  auto excess = [&](double s) {
    const Vector2 r_T = tangent(s);
    return r_T.norm() - mu * normal(r_T);
  };
  const double at_rest = excess(0.0);
  if (at_rest <= 0.0) {
    const Vector2 r_T = tangent(0.0);
    return {normal(r_T), r_T[0], r_T[1]};
  }
  // bracket, then bisection down to neighbouring numbers (a vanishing or NaN excess(0) lands here as well)
  double low = 0.0;
  double high = D(0, 0);
  while (!(excess(high) <= 0.0) && std::isfinite(high)) {
    low = high;
    high *= 4.0;
  }
  if (!std::isfinite(high)) return {-b[0] / D(0, 0), 0.0, 0.0};
  for (int i = 0; i < 200; ++i) {
    const double middle = 0.5 * (low + high);
    if (middle <= low || middle >= high) break;
    (excess(middle) > 0.0 ? low : high) = middle;
  }
  Vector2 r_T = tangent(high);
  if (!r_T.allFinite()) r_T.setZero();  // W_TT vanishes and nothing pulls sideways
  const double r_N = std::max(0.0, normal(r_T));
  const double length = r_T.norm();
  const double factor = length > 0.0 ? mu * r_N / length : 0.0;
  return {r_N, factor * r_T[0], factor * r_T[1]};
}

/// Tangent j sticks (side 0) or slips at r_Tj = side · μ r_N; returns r and how much the answer violates the
/// law in m/s.
double try_sides(double mu, const Matrix3& D, const Vector3& b, const int (&sides)[2], Vector3& r) {
  Matrix3 system = D;
  Vector3 right = -b;
  for (int j = 0; j < 2; ++j) {
    if (sides[j] == 0) continue;
    system.row(1 + j) << -sides[j] * mu, j == 0 ? 1.0 : 0.0, j == 0 ? 0.0 : 1.0;
    right[1 + j] = 0.0;
  }
  r = system.fullPivLu().solve(right);
  if (!r.allFinite()) return std::numeric_limits<double>::infinity();
  const Vector3 u = D * r + b;
  double violation = std::max(0.0, -r[0]) * D(0, 0) + std::abs(u[0]);
  for (int j = 0; j < 2; ++j) {
    violation += sides[j] == 0
                     ? D(1 + j, 1 + j) * std::max(0.0, std::abs(r[1 + j]) - mu * r[0]) + std::abs(u[1 + j])
                     : std::max(0.0, sides[j] * u[1 + j]);
  }
  return violation;
}

Vector3 solve_pyramid(double mu, const Matrix3& D, const Vector3& b) {
  Vector3 best = Vector3::Zero();
  double least = std::numeric_limits<double>::infinity();
  for (int first = -1; first <= 1; ++first) {
    for (int second = -1; second <= 1; ++second) {
      Vector3 r;
      const double violation = try_sides(mu, D, b, {first, second}, r);
      if (violation >= least) continue;
      least = violation;
      best = r;
    }
  }
  best[0] = std::max(0.0, best[0]);
  best.tail<2>() = FrictionPyramid::project_tangent(best.tail<2>(), mu * best[0]);
  return best;
}

}  // namespace

Vector3 solve_one_contact(FrictionLaw law, double mu, const Matrix3& D, const Vector3& b) {
  if (b[0] >= 0.0) return Vector3::Zero();
  if (mu == 0.0) return {-b[0] / D(0, 0), 0.0, 0.0};
  return with_law(law, [&](auto type) {
    if constexpr (decltype(type)::kPartSize == 1) return solve_pyramid(mu, D, b);
    return solve_cone(mu, D, b);
  });
}

}  // namespace signorini
