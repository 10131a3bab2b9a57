#pragma once

#include "linalg/types.h"

namespace signorini {

/// The lower triangle of A becomes that of L with L Lᵀ = A; above the diagonal nothing is read or written. False where a
/// pivot is not positive.
///
/// Every entry is a sum in the order of its terms, so that the bits depend on A alone. Eigen's blocked Cholesky sums in blocks
/// whose sizes depend on the registers and caches of the processor, and with fused multiplications on arm64.
bool cholesky_in_order(Eigen::Ref<Matrix> A);

}  // namespace signorini
