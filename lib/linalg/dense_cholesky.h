#pragma once

#include "linalg/simd.h"
#include "linalg/types.h"

namespace signorini {

/// The lower triangle of A becomes that of L with L Lᵀ = A; above the diagonal nothing is read or written. False where a
/// pivot is not positive.
///
/// Every entry is a sum in the order of its terms (linalg/dense_kernels.h), so that the bits depend on A alone. Eigen's blocked
/// Cholesky sums in blocks whose sizes depend on the registers and caches of the processor.
bool cholesky_in_order(Eigen::Ref<Matrix> A);
/// The same with the kernels of one level, which must not be above `best_isa()`; for tests.
bool cholesky_in_order(Isa level, Eigen::Ref<Matrix> A);

}  // namespace signorini
