#include "linalg/factor_count.h"

#include <vector>

#include <Eigen/OrderingMethods>

namespace signorini {
namespace {

using Pattern = Eigen::SparseMatrix<double, Eigen::ColMajor, int>;

/// Both triangles, a one for every block.
Pattern pattern_of(const BlockSparseMatrix& A, std::span<const Index> kept) {
  std::vector<int> place(A.block_rows, -1);
  for (std::size_t i = 0; i < kept.size(); ++i) place[kept[i]] = static_cast<int>(i);
  std::vector<Eigen::Triplet<double, int>> entries;
  for (const Index row : kept) {
    const int i = place[row];
    entries.emplace_back(i, i, 1.0);
    for (Index b = A.row_begin[row]; b < A.row_begin[row + 1] && A.column[b] < row; ++b) {
      const int j = place[A.column[b]];
      if (j < 0) continue;
      entries.emplace_back(i, j, 1.0);
      entries.emplace_back(j, i, 1.0);
    }
  }
  Pattern pattern(std::ssize(kept), std::ssize(kept));
  pattern.setFromTriplets(entries.begin(), entries.end());
  return pattern;
}

}  // namespace

double factor_products(const BlockSparseMatrix& A, std::span<const Index> kept) {
  const Pattern pattern = pattern_of(A, kept);
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> order;
  Eigen::AMDOrdering<int>()(pattern, order);
  Pattern ordered;
  ordered = pattern.twistedBy(order.inverse());
  // row k of L: the paths in the elimination tree from the entries of row k of A up to k
  const int n = static_cast<int>(ordered.cols());
  std::vector<int> parent(n, -1), seen_by(n, -1), below(n, 0);
  for (int k = 0; k < n; ++k) {
    seen_by[k] = k;
    for (Pattern::InnerIterator entry(ordered, k); entry && entry.row() < k; ++entry) {
      for (int j = static_cast<int>(entry.row()); seen_by[j] != k; j = parent[j]) {
        if (parent[j] < 0) parent[j] = k;
        seen_by[j] = k;
        ++below[j];
      }
    }
  }
  double products = 0.0;
  for (const int c : below) products += static_cast<double>(c) * c;
  return products;
}

}  // namespace signorini
