#include "bodies/signed_svd.h"

#include <Eigen/Geometry>
#include <cmath>
#include <utility>

namespace signorini {

namespace {

/// Turns columns p and q of B and V so that those of B become orthogonal. False when the angle was so small
/// that the columns that other turns had made orthogonal still are: it has spoilt them by its square at most.
bool orthogonalise(Matrix3& B, Matrix3& V, int p, int q) {
  constexpr double kOrthogonal2 = 1e-30;  // squared cosine; rounding leaves about (3 ε)²
  constexpr double kSmallAngle = 1e-8;
  const double a = B.col(p).squaredNorm();
  const double b = B.col(q).squaredNorm();
  const double c = B.col(p).dot(B.col(q));
  if (!(c * c > kOrthogonal2 * a * b)) return false;
  // tan of the smaller angle that makes bᵀp bq vanish.
  const double zeta = (b - a) / (2.0 * c);
  const double t = std::copysign(1.0, zeta) / (std::abs(zeta) + std::sqrt(1.0 + zeta * zeta));
  const double cosine = 1.0 / std::sqrt(1.0 + t * t);
  const double sine = cosine * t;
  const auto turn = [&](Matrix3& M) {
    const Vector3 first = cosine * M.col(p) - sine * M.col(q);
    M.col(q) = sine * M.col(p) + cosine * M.col(q);
    M.col(p) = first;
  };
  turn(B);
  turn(V);
  return std::abs(t) > kSmallAngle;
}

/// Swaps two columns and turns one around, which keeps the determinant.
void swap_columns(Matrix3& M, int p, int q) {
  const Vector3 first = M.col(p);
  M.col(p) = M.col(q);
  M.col(q) = -first;
}

}  // namespace

SignedSvd signed_svd(const Matrix3& F) {
  constexpr int kSweeps = 12;  // three to five are needed; quadratic at the end
  SignedSvd svd;
  Matrix3 B = F;
  svd.V.setIdentity();
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    const bool first = orthogonalise(B, svd.V, 0, 1);
    const bool second = orthogonalise(B, svd.V, 0, 2);
    const bool third = orthogonalise(B, svd.V, 1, 2);
    if (!first && !second && !third) break;
  }
  Vector3 length2 = B.colwise().squaredNorm();
  for (const auto& [p, q] : {std::pair{0, 1}, std::pair{1, 2}, std::pair{0, 1}}) {
    if (!(length2[p] < length2[q])) continue;
    std::swap(length2[p], length2[q]);
    swap_columns(B, p, q);
    swap_columns(svd.V, p, q);
  }

  const double scale = B.col(0).norm();
  if (scale == 0.0) {
    svd.U.setIdentity();
    svd.sigma.setZero();
    return svd;
  }
  const Vector3 u0 = B.col(0) / scale;
  // What is left of column 1 beside u₁; for rank one any unit vector across serves.
  Vector3 u1 = B.col(1) - u0 * u0.dot(B.col(1));
  const double second = u1.norm();
  u1 = second > 1e-15 * scale ? Vector3(u1 / second) : u0.unitOrthogonal();
  u1 = (u1 - u0 * u0.dot(u1)).normalized();
  svd.U << u0, u1, u0.cross(u1);
  svd.sigma << scale, svd.U.col(1).dot(B.col(1)), svd.U.col(2).dot(B.col(2));
  return svd;
}

}  // namespace signorini
