#include "linalg/asymmetry.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/check.h"

namespace signorini {

namespace {

/// √(|A_ii A_jj|), computed when the first difference asks for it.
class Scale {
 public:
  explicit Scale(const SparseRows& A) : A_(A) {}
  double operator()(Index i, Index j) {
    if (root_.size() == 0) root_ = A_.diagonal().cwiseAbs().cwiseSqrt();
    const double scale = root_[i] * root_[j];
    if (scale > 0.0) return scale;
    if (largest_ < 0.0) largest_ = A_.coeffs().abs().maxCoeff();
    return largest_;
  }

 private:
  const SparseRows& A_;
  Vector root_;
  double largest_ = -1.0;
};

}  // namespace

double asymmetry(const SparseRows& A) {
  SIGNORINI_CHECK(A.rows() == A.cols() && A.isCompressed());
  const Index* begin = A.outerIndexPtr();
  const Index* column = A.innerIndexPtr();
  const double* value = A.valuePtr();
  const auto n = static_cast<Index>(A.rows());
  Scale scale(A);
  double worst = 0.0;
  const auto add = [&](Index i, Index j, double difference) {
    if (difference != 0.0) worst = std::max(worst, std::abs(difference) / scale(i, j));
  };
  // Entries right of the diagonal look for their mates below it. Columns of a row ascend and so do the rows i, so
  // every row j gives up its entries left of the diagonal from the left; those passed over have no mate.
  std::vector<Index> next(begin, begin + n);
  const auto pass_over = [&](Index row, Index end) {
    Index& e = next[row];
    for (; e < begin[row + 1] && column[e] < end; ++e) add(row, column[e], value[e]);
    return e;
  };
  for (Index i = 0; i < n; ++i) {
    for (Index e = pass_over(i, i); e < begin[i + 1]; ++e) {
      const Index j = column[e];
      if (j == i) continue;
      const Index mate = pass_over(j, i);
      const bool found = mate < begin[j + 1] && column[mate] == i;
      add(i, j, found ? value[e] - value[mate] : value[e]);
      if (found) ++next[j];
    }
  }
  return worst;
}

}  // namespace signorini
