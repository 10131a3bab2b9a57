#pragma once

#include "contact/contact_problem.h"
#include "contact/friction_law.h"
#include "linalg/types.h"
#include "solvers/contact_error.h"

/// One contact of the linearised equations of Alart and Curnier (1991), eliminated for its impulse. With
///
///     f = [u_N; (r_T − P(t; b))/ρ_T],   t = r_T − ρ_T u_T,   b = μ p,   p = r_N − ρ_N u_N,   f = r where p ≤ 0
///
/// and A_u = ∂f/∂u, A_r = ∂f/∂r, a step with A_u du + A_r dr = −f where du = ω + β dr is
///
///     dr = F − C ω,   C = (A_r + β A_u)⁻¹ A_u,   F = −(A_r + β A_u)⁻¹ f
///
///     open                    C = 0,                             F = −r
///     normal, p > 0           C_NN = 1/β,                        F_N = −u_N/β
///     stick, ‖t‖ ≤ b          C_TT = I/β,                        F_T = −u_T/β
///     slip, e = t/‖t‖         C_TN = μ e/β,  C_TT = κ c E,       F_T = e (μ (r_N + F_N) − eᵀ r_T) − c/ρ_T E r_T
///                             κ = b/‖t‖,  c = 1/((1 − κ)/ρ_T + β κ),  E = I − e eᵀ
///
/// newton/contact_piece.h has A_u and A_r themselves, for steps through W; a test holds both to each other.
/// The pyramid slips or sticks in each tangent on its own, with e = ±1 and E = 0. Slip keeps eᵀ(r_T + dr_T) =
/// μ (r_N + dr_N) exactly. A contact that nothing moves, and tangents that nothing moves, get r + dr = 0.
///
///     u, ω: m/s     r, F: N·s     β: 1/kg, > 0     C: kg     ρ_N = 1/W_NN, ρ_T = 1/λ_max(W_TT): kg
namespace signorini {

struct CoulombPiece {
  Matrix3 C = Matrix3::Zero();
  Vector3 F = Vector3::Zero();
  FrictionState state = FrictionState::open;
};

CoulombPiece coulomb_piece(FrictionLaw law, const InverseMass& inverse_mass, double mu, double beta,
                           const Vector3& r, const Vector3& u);

}  // namespace signorini
