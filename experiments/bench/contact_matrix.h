#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include "linalg/block_sparse_matrix.h"

/// Diagonally dominant random W with a given number of 3×3 blocks in every row.
namespace signorini::bench {

enum class Order {
  chain,     ///< neighbours k ± 1, k ± 2, …: every contact waits for the one before
  scattered  ///< neighbours drawn from a window of contacts around k
};

inline BlockSparseMatrix contact_matrix(Index contacts, Index per_row, Order order) {
  std::mt19937 engine(1);
  std::uniform_real_distribution<double> entry(-0.05, 0.05);
  const Index window = std::min<Index>(contacts / 2 - 1, 500);
  std::uniform_int_distribution<Index> offset(-window, window);
  BlockSparseMatrix W;
  W.block_rows = W.block_columns = contacts;
  W.row_begin.assign(1, 0);
  W.column.reserve(static_cast<std::size_t>(contacts) * per_row);  // in 64 bits
  std::vector<Index> row;
  for (Index k = 0; k < contacts; ++k) {
    row.assign(1, k);
    while (count(row) < per_row) {
      const Index n = count(row);
      const Index step = order == Order::scattered ? offset(engine) : (n % 2 == 1 ? (n + 1) / 2 : -n / 2);
      const Index j = (k + step + contacts) % contacts;
      if (std::find(row.begin(), row.end(), j) == row.end()) row.push_back(j);
    }
    std::sort(row.begin(), row.end());
    W.column.insert(W.column.end(), row.begin(), row.end());
    W.row_begin.push_back(W.blocks());
  }
  W.values.assign(9 * W.column.size() + BlockSparseMatrix::kPadding, 0.0);
  for (Index b = 0; b < W.blocks(); ++b) {
    for (int i = 0; i < 9; ++i) W.block(b)[i] = entry(engine);
  }
  for (Index k = 0; k < contacts; ++k) {
    double* D = W.block(find_block(W, k, k));
    D[0] += 1.2;
    D[4] += 1.5;
    D[8] += 1.1;
  }
  return W;
}

}  // namespace signorini::bench
