#include "linalg/dense_cholesky.h"

#include <cmath>

#include "linalg/dense_kernels.h"

namespace signorini {
namespace {

constexpr Eigen::Index kColumns = 16;  // that are factored one after the other

bool factor_one_by_one(Isa level, Eigen::Ref<Matrix> A, Eigen::Index from, Eigen::Index end) {
  for (Eigen::Index k = from; k < end; ++k) {
    if (!(A(k, k) > 0.0)) return false;
    A(k, k) = std::sqrt(A(k, k));
    A.col(k).tail(A.rows() - k - 1) /= A(k, k);
    for (Eigen::Index j = k + 1; j < end; ++j)
      subtract_multiple(level, A(j, k), &A(j, k), &A(j, j), A.rows() - j);
  }
  return true;
}

/// Columns from … end−1, whose earlier terms have been subtracted.
bool factor_columns(Isa level, Eigen::Ref<Matrix> A, Eigen::Index from, Eigen::Index end) {
  if (end - from <= kColumns) return factor_one_by_one(level, A, from, end);
  const Eigen::Index half = ((end - from) / 2 + kColumns - 1) / kColumns * kColumns, middle = from + half;
  if (!factor_columns(level, A, from, middle)) return false;
  const Eigen::Index stride = A.outerStride();
  const double* left = &A(middle, from);
  subtract_product(level, {left, 1, stride}, {left, stride, 1}, half,
                   {&A(middle, middle), A.rows() - middle, end - middle, stride}, DensePart::lower);
  return factor_columns(level, A, middle, end);
}

}  // namespace

bool cholesky_in_order(Isa level, Eigen::Ref<Matrix> A) { return factor_columns(level, A, 0, A.rows()); }

bool cholesky_in_order(Eigen::Ref<Matrix> A) { return cholesky_in_order(isa(), A); }

}  // namespace signorini
