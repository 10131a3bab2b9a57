#include "linalg/dense_cholesky.h"

#include <algorithm>
#include <cmath>

namespace signorini {

namespace {

constexpr Eigen::Index kColumns = 32;  // of a panel; a multiple of 4
constexpr Eigen::Index kRows =
    256;  // of a panel that are updated at a time: 4 + 1 columns of them fit the first cache

/// Subtracts the terms of columns 0 … from−1 from columns from … end−1, rows from … : four terms at a time, in their order.
void subtract_earlier(Eigen::Ref<Matrix> A, Eigen::Index from, Eigen::Index end) {
  for (Eigen::Index top = from; top < A.rows(); top += kRows) {
    const Eigen::Index bottom = std::min(A.rows(), top + kRows);
    for (Eigen::Index k = 0; k < from; k += 4) {
      for (Eigen::Index j = from; j < std::min(end, bottom); ++j) {
        const Eigen::Index begin = std::max(top, j), size = bottom - begin;
        const auto part = [&](Eigen::Index column) { return A.col(column).segment(begin, size); };
        part(j) = (((part(j) - A(j, k) * part(k)) - A(j, k + 1) * part(k + 1)) - A(j, k + 2) * part(k + 2)) -
                  A(j, k + 3) * part(k + 3);
      }
    }
  }
}

}  // namespace

bool cholesky_in_order(Eigen::Ref<Matrix> A) {
  const Eigen::Index n = A.rows();
  for (Eigen::Index from = 0; from < n; from += kColumns) {
    const Eigen::Index end = std::min(n, from + kColumns);
    subtract_earlier(A, from, end);
    for (Eigen::Index k = from; k < end; ++k) {
      if (!(A(k, k) > 0.0)) return false;
      A(k, k) = std::sqrt(A(k, k));
      auto below = A.col(k).tail(n - k - 1);
      below /= A(k, k);
      for (Eigen::Index j = k + 1; j < end; ++j) A.col(j).tail(n - j) -= A(j, k) * A.col(k).tail(n - j);
    }
  }
  return true;
}

}  // namespace signorini
