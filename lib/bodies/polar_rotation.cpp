#include "bodies/polar_rotation.h"

#include <Eigen/Geometry>
#include <Eigen/SVD>

namespace signorini {

namespace {

/// Columns are the cross products of F's columns: cof F = det(F) F⁻ᵀ.
Matrix3 cofactors(const Matrix3& F) {
  Matrix3 C;
  C.col(0) = F.col(1).cross(F.col(2));
  C.col(1) = F.col(2).cross(F.col(0));
  C.col(2) = F.col(0).cross(F.col(1));
  return C;
}

Matrix3 nearest_rotation(const Matrix3& F) {
  const Eigen::JacobiSVD<Matrix3> svd(F, Eigen::ComputeFullU | Eigen::ComputeFullV);
  Matrix3 U = svd.matrixU();
  // The sign goes to the smallest singular value, which Eigen sorts last.
  if ((U * svd.matrixV().transpose()).determinant() < 0.0) U.col(2) = -U.col(2);
  return U * svd.matrixV().transpose();
}

}  // namespace

Matrix3 polar_rotation(const Matrix3& F) {
  constexpr int kIterations = 12;
  // det(F/‖F‖) of the identity is 3^(−3/2) ≈ 0.19; below 1/20 of that Newton's first steps overshoot and lose
  // digits.
  constexpr double kFlat = 0.01;
  constexpr double kStep2 = 1e-18;  // squared norm of a step; the error after it is half its square
  Matrix3 X = F;
  Matrix3 C = cofactors(X);
  double det = X.col(0).dot(C.col(0));
  const double norm2 = F.squaredNorm();
  if (!(det > kFlat * norm2 * std::sqrt(norm2))) return nearest_rotation(F);
  for (int i = 0; i < kIterations; ++i) {
    // X⁺ = ½ (X + cof X / det X)
    const Matrix3 next = 0.5 * (X + C / det);
    const double step2 = (next - X).squaredNorm();
    X = next;
    if (step2 < kStep2) return X;
    C = cofactors(X);
    det = X.col(0).dot(C.col(0));
  }
  return nearest_rotation(F);
}

}  // namespace signorini
