#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "linalg/block_sparse_matrix.h"
#include "linalg/types.h"

namespace signorini::test {

/// Random pattern with about `per_row` blocks in a block row; every fifth block row is empty when `holes`.
inline SparseRows random_rows(Index block_rows, Index block_columns, double per_row, bool holes,
                              std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> number(-1.0, 1.0);
  std::uniform_real_distribution<double> chance(0.0, 1.0);
  std::vector<Eigen::Triplet<double, Index>> entries;
  for (Index i = 0; i < block_rows; ++i) {
    if (holes && i % 5 == 0) continue;
    for (Index j = 0; j < block_columns; ++j) {
      if (chance(engine) * block_columns > per_row) continue;
      for (Index a = 0; a < 3; ++a) {
        for (Index b = 0; b < 3; ++b) entries.emplace_back(3 * i + a, 3 * j + b, number(engine));
      }
    }
  }
  SparseRows A(3 * block_rows, 3 * block_columns);
  A.setFromTriplets(entries.begin(), entries.end());
  return A;
}

inline Vector random_vector(Eigen::Index n, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> number(-1.0, 1.0);
  Vector x(n);
  for (Eigen::Index i = 0; i < n; ++i) x[i] = number(engine);
  return x;
}

inline std::span<const double> view(const Vector& x) { return span_of(x); }
inline std::span<double> view(Vector& x) { return span_of(x); }

}  // namespace signorini::test
