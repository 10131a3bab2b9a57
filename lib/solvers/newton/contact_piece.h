#pragma once

#include <algorithm>
#include <cmath>

#include "contact/friction_law.h"
#include "linalg/types.h"

/// One contact of the Alart–Curnier equations (Alart and Curnier 1991) and the piece of them that it is on:
///
///     p = r_N − ρ_N u_N,   t = r_T − ρ_T u_T,   b = μ max(0, p)
///     F = [(r_N − max(0, p))/ρ_N ;  (r_T − P(t; b))/ρ_T]          P: disc or clamp of radius b; F in the unit of u
///     dF = A_r dr + A_u du
///
///     open    p ≤ 0       r = 0
///     stick   |t| ≤ b     F = u,   A_u = I,   A_r = 0
///     slip    |t| > b     F_N = u_N,   F_T = (r_T − b e)/ρ_T,   e = t/|t|,   Q = (b/|t|)(I − e eᵀ)
///                         A_u = [1 0 ; μ ρ_N e/ρ_T   Q],   A_r = [0 0 ; −μ e/ρ_T   (I − Q)/ρ_T]
///
/// With the pyramid every tangential component is of a piece of its own, e = ±1 and Q = 0. Where nothing moves along
/// the tangents (ρ_T = 0), r_T = 0.
namespace signorini {

struct ContactPiece {
  bool open = false;
  Vector3 F = Vector3::Zero();
  Matrix3 by_u = Matrix3::Zero();
  Matrix3 by_r = Matrix3::Zero();
};

/// ρ of the map; 0 where nothing moves.
struct ContactSteps {
  double normal = 0.0;
  double tangent = 0.0;
};

/// F alone.
template <ContactLaw Law>
Vector3 contact_residual(double mu, ContactSteps rho, const Vector3& r, const Vector3& u) {
  const double p = std::max(0.0, r[0] - rho.normal * u[0]);
  Vector3 F((r[0] - p) / rho.normal, r[1], r[2]);
  if (!(rho.tangent > 0.0)) return F;
  const Vector2 t = r.tail<2>() - rho.tangent * u.tail<2>();
  F.tail<2>() = (r.tail<2>() - Law::project_tangent(t, mu * p)) / rho.tangent;
  return F;
}

namespace detail {

/// Rows of a tangential part that slips along `e`; `Q` = (b/|t|)(I − e eᵀ).
inline void slip(double mu, ContactSteps rho, const Vector2& e, const Eigen::Matrix2d& Q,
                 ContactPiece& piece) {
  piece.by_u.block<2, 1>(1, 0) = (mu * rho.normal / rho.tangent) * e;
  piece.by_u.block<2, 2>(1, 1) = Q;
  piece.by_r.block<2, 1>(1, 0) = (-mu / rho.tangent) * e;
  piece.by_r.block<2, 2>(1, 1) = (Eigen::Matrix2d::Identity() - Q) / rho.tangent;
}

}  // namespace detail

/// r, u: (N, T1, T2) in units with ρ u of the unit of r; ρ_N > 0.
template <ContactLaw Law>
ContactPiece contact_piece(double mu, ContactSteps rho, const Vector3& r, const Vector3& u) {
  ContactPiece piece;
  piece.F = contact_residual<Law>(mu, rho, r, u);
  const double p = r[0] - rho.normal * u[0];
  piece.open = !(p > 0.0);
  if (piece.open) return piece;
  piece.by_u(0, 0) = 1.0;
  if (!(rho.tangent > 0.0)) {
    piece.by_r(1, 1) = piece.by_r(2, 2) = 1.0;
    return piece;
  }
  const Vector2 t = r.tail<2>() - rho.tangent * u.tail<2>();
  const double bound = mu * p;
  if constexpr (Law::kParts == 1) {
    const double length = t.norm();
    if (length <= bound && bound > 0.0) {
      piece.by_u.block<2, 2>(1, 1).setIdentity();
    } else {
      const Vector2 e = length > 0.0 ? Vector2(t / length) : Vector2(0.0, 0.0);
      const Eigen::Matrix2d across = Eigen::Matrix2d::Identity() - e * e.transpose();
      detail::slip(mu, rho, e, (length > 0.0 ? bound / length : 0.0) * across, piece);
    }
  } else {
    for (int j = 0; j < 2; ++j) {
      const int row = 1 + j;
      if (std::abs(t[j]) <= bound && bound > 0.0) {
        piece.by_u(row, row) = 1.0;
        continue;
      }
      const double side = t[j] > 0.0 ? 1.0 : t[j] < 0.0 ? -1.0 : 0.0;
      piece.by_u(row, 0) = side * mu * rho.normal / rho.tangent;
      piece.by_r(row, 0) = -side * mu / rho.tangent;
      piece.by_r(row, row) = 1.0 / rho.tangent;
    }
  }
  return piece;
}

}  // namespace signorini
