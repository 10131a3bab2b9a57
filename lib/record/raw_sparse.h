#pragma once

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "linalg/types.h"
#include "record/raw_tree.h"

/// Compressed matrices from unchecked arrays: what the readers of FCLib's, numpy's and our own matrices share.
namespace signorini {

inline constexpr Index kMaxEntries = std::numeric_limits<Index>::max();

/// Fails unless every index is in [0, end).
void check_range(const RawReader& raw, const std::string& path, std::span<const Index> indices, Index end);
/// Fails unless `begin` starts with 0, ascends, and ends within the entries.
void check_pointers(const RawReader& raw, const std::string& path, std::span<const Index> begin,
                    std::size_t entries);

/// The outer index of every entry of a compressed matrix.
std::vector<Index> expand(std::span<const Index> begin);

template <class Sparse>
Sparse make_sparse(Index rows, Index columns, std::span<const Index> begin, std::span<const Index> inner,
                   std::span<const double> values) {
  Sparse matrix(rows, columns);
  matrix.resizeNonZeros(inner.size());
  std::copy(begin.begin(), begin.end(), matrix.outerIndexPtr());
  std::copy(inner.begin(), inner.end(), matrix.innerIndexPtr());
  std::copy(values.begin(), values.end(), matrix.valuePtr());
  return matrix;
}

/// Entries (outer[e], inner[e], x[e]) in any order → compressed, sorted; duplicates are summed in their
/// order.
template <class Sparse>
Sparse compress(Index rows, Index columns, std::span<const Index> outer, std::span<const Index> inner,
                std::span<const double> x) {
  const std::size_t outer_size = Sparse::IsRowMajor ? rows : columns;
  std::vector<Index> begin(outer_size + 1, 0);
  for (const Index o : outer) ++begin[o + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<Index> order(outer.size());
  std::vector<Index> next(begin.begin(), begin.end() - 1);
  for (Index e = 0; e < count(outer); ++e) order[next[outer[e]]++] = e;

  std::vector<Index> kept_begin(begin.size(), 0);
  std::vector<Index> kept_inner;
  std::vector<double> kept_x;
  kept_inner.reserve(outer.size());
  kept_x.reserve(outer.size());
  for (std::size_t o = 0; o < outer_size; ++o) {
    const auto first = order.begin() + begin[o];
    const auto last = order.begin() + begin[o + 1];
    const auto less = [&](Index a, Index b) { return inner[a] < inner[b]; };
    if (!std::is_sorted(first, last, less)) std::stable_sort(first, last, less);
    for (auto e = first; e != last; ++e) {
      if (kept_begin[o] < count(kept_inner) && kept_inner.back() == inner[*e]) {
        kept_x.back() += x[*e];
      } else {
        kept_inner.push_back(inner[*e]);
        kept_x.push_back(x[*e]);
      }
    }
    kept_begin[o + 1] = count(kept_inner);
  }
  return make_sparse<Sparse>(rows, columns, kept_begin, kept_inner, kept_x);
}

}  // namespace signorini
