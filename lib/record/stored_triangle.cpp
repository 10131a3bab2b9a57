#include "record/stored_triangle.h"

#include <utility>
#include <vector>

#include "record/raw_sparse.h"

namespace signorini {

StoredTriangle stored_triangle(const SparseRows& matrix) {
  bool below = false, above = false;
  for (Eigen::Index r = 0; r < matrix.rows(); ++r) {
    for (SparseRows::InnerIterator entry(matrix, r); entry; ++entry) {
      below = below || entry.col() < r;
      above = above || entry.col() > r;
    }
  }
  // filled up, twice the entries must be countable
  if (below == above || 2 * matrix.nonZeros() > kMaxEntries) return StoredTriangle::both;
  return above ? StoredTriangle::upper : StoredTriangle::lower;
}

SparseRows complete_triangle(SparseRows matrix, StoredTriangle stored) {
  if (stored == StoredTriangle::both) return matrix;
  std::vector<Index> row, column;
  std::vector<double> x;
  for (Index r = 0; r < matrix.rows(); ++r) {
    for (SparseRows::InnerIterator entry(matrix, r); entry; ++entry) {
      row.push_back(r);
      column.push_back(entry.index());
      x.push_back(entry.value());
      if (entry.col() == r) continue;
      row.push_back(entry.index());
      column.push_back(r);
      x.push_back(entry.value());
    }
  }
  return compress<SparseRows>(static_cast<Index>(matrix.rows()), static_cast<Index>(matrix.cols()), row,
                              column, x);
}

SparseRows triangle_of(const SparseRows& matrix, StoredTriangle stored) {
  if (stored == StoredTriangle::both) return matrix;
  SparseRows kept = matrix;
  kept.prune([&](Eigen::Index row, Eigen::Index column, double) {
    return stored == StoredTriangle::upper ? column >= row : column <= row;
  });
  return kept;
}

}  // namespace signorini
