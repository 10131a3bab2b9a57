#pragma once

#include <span>
#include <vector>

#include "linalg/simd.h"
#include "linalg/types.h"

/// L U = P A with partial pivoting in one square array.
///
/// Every entry is a sum in the order of its terms (linalg/dense_kernels.h), so that the bits depend on A alone. Eigen's blocked LU
/// sums in blocks whose sizes depend on the registers and caches of the processor.
namespace signorini {

class DenseLu {
 public:
  /// Memory for matrices up to that order: after it nothing is allocated.
  void reserve(Index order);
  /// A: square. False where A is singular or not finite.
  bool factor(const Eigen::Ref<const SparseColumns>& A);
  bool factor(const Matrix& A);
  /// x := A⁻¹ x.
  void solve(std::span<double> x) const;
  /// Additions and multiplications of the last `factor`; in small matrices those with a zero of U are not done.
  double flops() const { return flops_; }
  /// With the kernels of one level, which must not be above `best_isa()`; for tests.
  void use(Isa level) { level_ = level; }

 private:
  bool factor_entries();
  bool factor_one_by_one(Index from, Index end);
  bool factor_columns(Index from, Index end);
  void swap_rows(Index first, Index last, Index from, Index end);

  Isa level_ = isa();
  Index n_ = 0;
  std::vector<double> entries_;
  std::vector<Index> pivot_;  ///< row k was swapped with row pivot_[k]
  double flops_ = 0.0;
};

}  // namespace signorini
