#include "regions/contact_neighbours.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"

namespace signorini {
namespace {

/// Which stored blocks of W link their row and column.
class StrongBlocks {
 public:
  StrongBlocks(const BlockSparseMatrix& W, double strength) : W_(W), strength_(strength) {
    if (strength == 0.0) return;
    root_.resize(W.block_rows);
    for (Index k = 0; k < W.block_rows; ++k) root_[k] = std::sqrt(diagonal_block(W, k).norm());
  }
  bool operator()(Index row, Index block) const {
    if (strength_ == 0.0) return true;
    const double size = Eigen::Map<const Matrix3>(W_.block(block)).norm();
    return size > strength_ * root_[row] * root_[W_.column[block]];
  }

 private:
  const BlockSparseMatrix& W_;
  double strength_;
  std::vector<double> root_;  ///< √‖W_kk‖
};

/// Rows in which every column stands: a transposed pattern, rows ascending; of the blocks that counts(row, block) names.
template <class Counts>
ContactNeighbours transposed(const BlockSparseMatrix& A, const Counts& counts) {
  ContactNeighbours result;
  result.begin.assign(static_cast<std::size_t>(A.block_columns) + 1, 0);
  const auto for_each = [&](const auto& visit) {
    for (Index k = 0; k < A.block_rows; ++k)
      for (Index b = A.row_begin[k]; b < A.row_begin[k + 1]; ++b)
        if (counts(k, b)) visit(k, A.column[b]);
  };
  for_each([&](Index, Index l) { ++result.begin[l + 1]; });
  std::partial_sum(result.begin.begin(), result.begin.end(), result.begin.begin());
  std::vector<Index> next(result.begin.begin(), result.begin.end() - 1);
  result.neighbour.resize(result.begin.back());
  for_each([&](Index k, Index l) { result.neighbour[next[l]++] = k; });
  return result;
}

/// Lists of each of `vertices`, from visit(vertex, add), which may add one twice or the vertex itself.
template <class Visit>
ContactNeighbours collect(Index vertices, const Visit& visit) {
  ContactNeighbours result;
  result.begin.reserve(static_cast<std::size_t>(vertices) + 1);
  result.begin.push_back(0);
  std::vector<Index> seen_by(vertices, -1);
  for (Index k = 0; k < vertices; ++k) {
    seen_by[k] = k;
    visit(k, [&](Index l) {
      if (seen_by[l] == k) return;
      seen_by[l] = k;
      result.neighbour.push_back(l);
    });
    std::sort(result.neighbour.begin() + result.begin.back(), result.neighbour.end());
    result.begin.push_back(count(result.neighbour));
  }
  return result;
}

}  // namespace

ContactNeighbours neighbours_by_delassus(const BlockSparseMatrix& W, double strength) {
  SIGNORINI_CHECK(W.block_rows == W.block_columns && strength >= 0.0);
  const StrongBlocks strong(W, strength);
  const ContactNeighbours into = transposed(W, [&](Index k, Index b) { return strong(k, b); });
  return collect(W.block_rows, [&](Index k, const auto& add) {
    for (Index b = W.row_begin[k]; b < W.row_begin[k + 1]; ++b)
      if (strong(k, b)) add(W.column[b]);
    for (const Index l : into.of(k)) add(l);
  });
}

ContactNeighbours neighbours_by_slots(const BlockSparseMatrix& J) {
  const ContactNeighbours at = transposed(J, [](Index, Index) { return true; });
  return collect(J.block_rows, [&](Index k, const auto& add) {
    for (Index b = J.row_begin[k]; b < J.row_begin[k + 1]; ++b)
      for (const Index l : at.of(J.column[b])) add(l);
  });
}

std::vector<Index> first_fit_colours(const ContactNeighbours& graph) {
  std::vector<Index> colour(graph.contacts(), 0);
  std::vector<Index> used_by;  // by colour: the last vertex that may not take it
  for (Index k = 0; k < graph.contacts(); ++k) {
    for (const Index l : graph.of(k))
      if (l < k) used_by[colour[l]] = k;
    const auto free = std::find_if(used_by.begin(), used_by.end(), [&](Index last) { return last != k; });
    colour[k] = static_cast<Index>(free - used_by.begin());
    if (free == used_by.end()) used_by.push_back(-1);
  }
  return colour;
}

}  // namespace signorini
