#include "linalg/connected_components.h"

#include <algorithm>

#include "base/check.h"
#include "linalg/union_find.h"

namespace signorini {
namespace {

Components ranked_labels(UnionFind& sets) {
  Components components;
  components.label.resize(sets.size());
  std::vector<Index> rank_of_root(sets.size(), -1);
  for (Index i = 0; i < sets.size(); ++i) {
    Index& rank = rank_of_root[sets.find(i)];
    if (rank < 0) rank = components.count++;
    components.label[i] = rank;
  }
  return components;
}

}  // namespace

Components connected_components(const SparseRows& matrix, Index node_size) {
  SIGNORINI_CHECK(matrix.rows() == matrix.cols());
  SIGNORINI_CHECK(node_size >= 1 && matrix.rows() % node_size == 0);
  std::vector<Index> node_of(static_cast<std::size_t>(matrix.rows()));  // a table is faster than divisions
  for (Index row = 0; row < count(node_of); ++row) node_of[row] = row / node_size;
  UnionFind sets(count(node_of) / node_size);
  for (Index row = 0; row < count(node_of); ++row) {
    Index last = node_of[row];  // entries of one node lie beside each other
    for (SparseRows::InnerIterator entry(matrix, row); entry; ++entry) {
      const Index other = node_of[entry.index()];
      if (other == last || entry.value() == 0.0) continue;
      sets.unite(node_of[row], other);
      last = other;
    }
  }
  return ranked_labels(sets);
}

Components connected_components(const BlockSparseMatrix& matrix) {
  SIGNORINI_CHECK(matrix.block_rows == matrix.block_columns);
  UnionFind sets(matrix.block_rows);
  for (Index i = 0; i < matrix.block_rows; ++i) {
    const Index end = matrix.row_begin[i + 1];
    for (Index b = matrix.row_begin[i]; b < end; ++b) {
      const double* block = matrix.block(b);
      if (std::any_of(block, block + 9, [](double a) { return a != 0.0; })) {
        sets.unite(i, matrix.column[b]);
      }
    }
  }
  return ranked_labels(sets);
}

}  // namespace signorini
