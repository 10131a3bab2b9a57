#pragma once

#include "linalg/types.h"

/// Neo-Hookean energy in principal stretches with the linear extension of Stomakhin et al. 2012, and its
/// derivatives in the form of singular values (Verschoor and Jalba 2019, section 2.1; docs/theory.md, C47).
///
///     Ψ(σ) = ½ μ (‖σ‖² − 3) − μ ln J + ½ λ (ln J)²,   J = σ₁ σ₂ σ₃ ≥ J₀
///     g_i = μ (σ_i − 1/σ_i) + λ ln J / σ_i
///
/// Below the volume ratio J₀ the energy is linear along the ray from (1,1,1) to σ, from the point q
/// where the ray meets J = J₀:
///
///     Ψ(σ) = Ψ(q) + g(q)·(σ − q),   q = 1 + t (σ − 1),   Π q_i = J₀,   0 < t < 1
///
/// ln J is concave along the ray, so there is one such t, and the ray crosses J = J₀ at a slope: q depends
/// smoothly on σ. With e = q − 1, m_i = 1/q_i, c = μ − λ ln J₀, a_i = μ + c m_i², B = Σ a_i e_i², S = m·e < 0
/// (the terms in λ m mᵀ of ∂g/∂q drop out, because J is constant where q moves):
///
///     ∂q/∂σ = t (I − e mᵀ/S),   ∂t/∂σ = −(t²/S) m
///     P_i   = ∂Ψ/∂σ_i = g_i(q) + (1 − t) (a_i e_i − (B/S) m_i)
///
/// which meets g at t = 1 (J = J₀); the curvature along the ray is zero and jumps there.
///
/// Second derivatives in the frame of F = U Σ Vᵀ act on dF̂ = Uᵀ dF V: `diagonal` = ∂²Ψ/∂σ_i∂σ_j on its
/// diagonal and, for each pair i < j, on (dF̂_ij, dF̂_ji) the matrix with
///
///     eigenvector (1, 1):   α = (P_i − P_j)/(σ_i − σ_j)
///     eigenvector (1, −1):  β = (P_i + P_j)/(σ_i + σ_j)
///
/// α and, outside the extension, β have no difference to divide by when written out:
///
///     α = t (μ + c m_i m_j + (1 − t)(μ + c m_i m_j (m_i + m_j − 1) + (B/S) m_i m_j)),   m of q;   t = 1
///     outside β = μ − c/(σ_i σ_j) outside
///
/// so equal singular values need no limit. Inside the extension σ₂ + σ₃ can vanish (σ₃ < 0): there the energy
/// of F has an edge, the sum is taken as kSmallestSum at least, and forces jump across the edge.
namespace signorini {

struct NeoHookean {
  double mu = 0.0, lambda = 0.0;   ///< Pa
  double compression_limit = 0.7;  ///< J₀ in (0, 1)
};

/// Of one set of singular values σ₁ ≥ σ₂ ≥ |σ₃| with σ₂ ≥ 0.
struct PrincipalStress {
  double energy = 0.0;          ///< Ψ, J/m³
  Vector3 P = Vector3::Zero();  ///< ∂Ψ/∂σ, Pa
};
struct PrincipalStiffness {
  Matrix3 diagonal = Matrix3::Zero();  ///< ∂²Ψ/∂σ_i∂σ_j, Pa
  Vector3 alpha = Vector3::Zero();     ///< of the pairs (1,2), (1,3), (2,3) of σ, Pa
  Vector3 beta = Vector3::Zero();
};

/// Smallest σ_i + σ_j that β is divided by.
inline constexpr double kSmallestSum = 0.05;

PrincipalStress principal_stress(const NeoHookean& material, const Vector3& sigma);
struct PrincipalResponse {
  PrincipalStress stress;
  PrincipalStiffness stiffness;
};
PrincipalResponse principal_response(const NeoHookean& material, const Vector3& sigma);
/// The nearest positive semi-definite one in the Frobenius norm: negative eigenvalues of `diagonal`, α and β
/// become 0.
PrincipalStiffness clamped(const PrincipalStiffness& stiffness);

}  // namespace signorini
