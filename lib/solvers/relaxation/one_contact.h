#pragma once

#include "contact/friction_law.h"
#include "linalg/types.h"

/// The exact solution of the problem of one contact, u = D r + b, all other impulses being fixed; D: 3×3
/// diagonal block of W [1/kg], r [N·s], u, b [m/s].
///
/// Take-off (b_N ≥ 0): r = 0. Stick: D r = −b. Slip: u_N = 0 gives r_N = −(b_N + D_NT r_T)/D_NN and u_T = A
/// r_T + c with A = D_TT − D_TN D_NT/D_NN, c = b_T − D_TN b_N/D_NN.
///
///     cone:     u_T = −s r_T, so r_T(s) = −(A + s I)⁻¹ c, and s ≥ 0 is the root of ‖r_T(s)‖ − μ r_N(s),
///               which is positive at s = 0 (no stick) and negative for s → ∞
///     pyramid:  each tangent sticks or slips to either side: nine linear systems, the one that violates
///               least is the answer
namespace signorini {

/// `D`: 3×3 diagonal block of W with D_NN > 0; `b` = u − D r in m/s.
Vector3 solve_one_contact(FrictionLaw law, double mu, const Matrix3& D, const Vector3& b);

}  // namespace signorini
