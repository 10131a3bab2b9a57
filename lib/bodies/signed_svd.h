#pragma once

#include "linalg/types.h"

namespace signorini {

/// F = U diag(σ) Vᵀ with rotations U and V (det = +1) and σ₁ ≥ σ₂ ≥ |σ₃|; σ₃ < 0 exactly when det F < 0.
///
/// One-sided Jacobi rotations (Hestenes 1958): F V has orthogonal columns, which are σ_i u_i; u₃ = u₁ × u₂
/// makes det U = +1 and σ₃ = u₃·(F v₃) takes the sign (Irving, Teran and Fedkiw 2004). Exact to rounding of
/// ‖F‖ for flat, rank-one and zero F too (where squares of its entries do not underflow). A pure function of
/// F; not-a-number in, not-a-number out.
struct SignedSvd {
  Matrix3 U, V;
  Vector3 sigma;
};
SignedSvd signed_svd(const Matrix3& F);

}  // namespace signorini
