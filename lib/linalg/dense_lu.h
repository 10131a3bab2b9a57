#pragma once

#include <span>
#include <vector>

#include "linalg/types.h"

/// L U = P A with partial pivoting in one square array, columns one after the other.
///
/// Every entry is a sum in the order of its terms, so that the bits depend on A alone. Eigen's blocked LU sums in blocks whose
/// sizes depend on the registers and caches of the processor, and with fused multiplications on arm64.
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
  /// Additions and multiplications of the last `factor`; those with a zero of U are not done.
  double flops() const { return flops_; }

 private:
  bool factor_entries();

  Index n_ = 0;
  std::vector<double> entries_;
  std::vector<Index> pivot_;  ///< row k was swapped with row pivot_[k]
  double flops_ = 0.0;
};

}  // namespace signorini
