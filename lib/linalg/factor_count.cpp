#include "linalg/factor_count.h"

#include <vector>

#include <Eigen/OrderingMethods>

namespace signorini {
namespace {

/// Both triangles, a one for every block.
SparseColumns pattern_of(const BlockSparseMatrix& A, std::span<const Index> kept) {
  std::vector<Index> place(A.block_rows, -1);
  for (std::size_t i = 0; i < kept.size(); ++i) place[kept[i]] = static_cast<Index>(i);
  std::vector<Eigen::Triplet<double, Index>> entries;
  for (const Index row : kept) {
    const Index i = place[row];
    entries.emplace_back(i, i, 1.0);
    for (Index b = A.row_begin[row]; b < A.row_begin[row + 1] && A.column[b] < row; ++b) {
      const Index j = place[A.column[b]];
      if (j < 0) continue;
      entries.emplace_back(i, j, 1.0);
      entries.emplace_back(j, i, 1.0);
    }
  }
  SparseColumns pattern(std::ssize(kept), std::ssize(kept));
  pattern.setFromTriplets(entries.begin(), entries.end());
  return pattern;
}

}  // namespace

double factor_products(const BlockSparseMatrix& A, std::span<const Index> kept) {
  return factor_products(pattern_of(A, kept));
}

double factor_products(const SparseColumns& pattern) {
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, Index> order;
  Eigen::AMDOrdering<Index>()(pattern, order);
  SparseColumns ordered;
  ordered = pattern.twistedBy(order.inverse());
  // row k of L: the paths in the elimination tree from the entries of row k of A up to k
  const Index n = static_cast<Index>(ordered.cols());
  std::vector<Index> parent(n, -1), seen_by(n, -1), below(n, 0);
  for (Index k = 0; k < n; ++k) {
    seen_by[k] = k;
    for (SparseColumns::InnerIterator entry(ordered, k); entry && entry.row() < k; ++entry) {
      for (Index j = static_cast<Index>(entry.row()); seen_by[j] != k; j = parent[j]) {
        if (parent[j] < 0) parent[j] = k;
        seen_by[j] = k;
        ++below[j];
      }
    }
  }
  double products = 0.0;
  for (const Index c : below) products += static_cast<double>(c) * c;
  return products;
}

}  // namespace signorini
