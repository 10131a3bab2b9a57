#include "solvers/global_newton/coulomb_piece.h"

#include <cmath>

namespace signorini {

namespace {

/// The two tangents of a contact that pushes; `piece` holds its normal part.
struct Tangents {
  double mu;
  double beta;
  double inverse_mass;  ///< 1/ρ_T
  double bound;         ///< b
  Vector2 r, u, t;

  void stick(int j, CoulombPiece& piece) const {
    piece.C(1 + j, 1 + j) = 1.0 / beta;
    piece.F[1 + j] = -u[j] / beta;
  }
  /// Along e the impulse keeps to its bound, which follows the normal impulse `normal` = r_N + F_N.
  void follow(double normal, const Vector2& e, CoulombPiece& piece) const {
    piece.C.col(0).tail<2>() += mu / beta * e;
    piece.F.tail<2>() += e * (mu * normal - e.dot(r));
  }
};

void add_friction(FrictionCone /*law*/, const Tangents& tangents, double normal, CoulombPiece& piece) {
  const double length = tangents.t.norm();
  if (length <= tangents.bound) {
    for (int j = 0; j < 2; ++j) tangents.stick(j, piece);
    return;
  }
  piece.state = FrictionState::sliding;
  const Vector2 e = tangents.t / length;
  const double kappa = tangents.bound / length;
  const double c = 1.0 / ((1.0 - kappa) * tangents.inverse_mass + tangents.beta * kappa);
  const Eigen::Matrix2d across = Eigen::Matrix2d::Identity() - e * e.transpose();
  tangents.follow(normal, e, piece);
  piece.C.bottomRightCorner<2, 2>() = kappa * c * across;
  piece.F.tail<2>() -= c * tangents.inverse_mass * (across * tangents.r);
}

void add_friction(FrictionPyramid /*law*/, const Tangents& tangents, double normal, CoulombPiece& piece) {
  for (int j = 0; j < 2; ++j) {
    if (std::abs(tangents.t[j]) <= tangents.bound) {
      tangents.stick(j, piece);
      continue;
    }
    piece.state = FrictionState::sliding;
    Vector2 e = Vector2::Zero();
    e[j] = std::copysign(1.0, tangents.t[j]);
    tangents.follow(normal, e, piece);
  }
}

}  // namespace

CoulombPiece coulomb_piece(FrictionLaw law, const InverseMass& inverse_mass, double mu, double beta,
                           const Vector3& r, const Vector3& u) {
  CoulombPiece piece;
  piece.F = -r;
  if (!(inverse_mass.normal > 0.0)) return piece;
  const double p = r[0] - u[0] / inverse_mass.normal;
  if (p <= 0.0) return piece;
  piece.C(0, 0) = 1.0 / beta;
  piece.F[0] = -u[0] / beta;
  if (!(mu > 0.0 && inverse_mass.tangent > 0.0)) {  // no friction: r_T + dr_T = 0
    piece.state = FrictionState::sliding;
    return piece;
  }
  piece.state = FrictionState::sticking;
  piece.F.tail<2>().setZero();
  const Vector2 u_T = u.tail<2>(), r_T = r.tail<2>();
  const Tangents tangents{mu, beta, inverse_mass.tangent, mu * p, r_T, u_T, r_T - u_T / inverse_mass.tangent};
  const double normal = r[0] + piece.F[0];
  with_law(law, [&](auto type) { add_friction(type, tangents, normal, piece); });
  return piece;
}

}  // namespace signorini
