#pragma once

#include "linalg/types.h"

/// The impulse of one contact in the convex model of Castro, Permenter and Han (2022): the projection of y onto
/// the friction cone K_μ in the norm of R = diag(R_N, R_T, R_T), and its derivative. With y_r = ‖y_T‖, t̂ = y_T/y_r,
/// μ̂ = μ R_T/R_N and μ̃² = μ μ̂ (section V, "analytical inverse dynamics"),
///
///     stick   y_r ≤ μ y_N:            γ = y
///     open    y_N ≤ −μ̂ y_r:           γ = 0
///     slip    otherwise:              γ_N = (y_N + μ̂ y_r)/(1 + μ̃²),   γ_T = μ γ_N t̂
///
///     ∂γ/∂y   stick: I   open: 0
///             slip: [1, μ̂ t̂ᵀ; μ t̂, μ μ̂ t̂ t̂ᵀ]/(1 + μ̃²) + μ γ_N/y_r [0 0; 0 I − t̂ t̂ᵀ]
///
/// G = ∂γ/∂y R⁻¹ is symmetric and positive semi-definite.
///
///     y, γ: N·s     R: 1/kg     G: kg     order N, T1, T2 as everywhere here; the paper's is T, T, N
namespace signorini {

struct ConeRegularisation {
  double normal = 0.0;   ///< R_N
  double tangent = 0.0;  ///< R_T

  Vector3 diagonal() const { return {normal, tangent, tangent}; }
};

struct ConeImpulse {
  Vector3 gamma = Vector3::Zero();
  Matrix3 G = Matrix3::Zero();
};

/// R > 0. With μ = 0 the tangential part of γ and G is exactly zero.
ConeImpulse project_in_norm(const ConeRegularisation& R, double mu, const Vector3& y);

}  // namespace signorini
