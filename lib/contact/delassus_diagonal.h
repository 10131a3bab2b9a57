#pragma once

#include "contact/direction_rows.h"
#include "contact/mass_factor.h"

namespace signorini {

/// W_kk = H_kᵀ M⁻¹ H_k, symmetric to the last bit: solves restricted to the bodies that contact k touches.
Matrix3 delassus_diagonal_block(const DirectionRows& H, const MassFactor& mass, Index k);

}  // namespace signorini
