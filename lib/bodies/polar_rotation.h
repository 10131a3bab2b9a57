#pragma once

#include "linalg/types.h"

namespace signorini {

/// Rotation R of the polar decomposition F = R S, det R = +1 for every finite F, inverted ones included.
///
/// Well-shaped F (det F > 0): Newton's iteration X ← ½ (X + X⁻ᵀ) (Higham 1986), quadratic, until a step is
/// below 1e-9. Flat or inverted F: R = U diag(1, 1, det(U Vᵀ)) Vᵀ of the singular value decomposition, the
/// nearest rotation. A pure function of F.
Matrix3 polar_rotation(const Matrix3& F);

}  // namespace signorini
