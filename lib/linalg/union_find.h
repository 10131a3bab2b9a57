#pragma once

#include <numeric>
#include <utility>
#include <vector>

#include "linalg/types.h"

namespace signorini {

/// Disjoint sets over 0 … n−1: union by size, path halving; both operations cost α(n) amortised.
class UnionFind {
 public:
  explicit UnionFind(Index n) : parent_(n), size_(n, 1) {
    std::iota(parent_.begin(), parent_.end(), Index{0});
  }

  Index size() const { return count(parent_); }

  Index find(Index i) {
    while (parent(i) != i) {
      parent(i) = parent(parent(i));
      i = parent(i);
    }
    return i;
  }

  /// True when the two were in different sets.
  bool unite(Index i, Index j) {
    if (parent(i) == parent(j)) return false;  // without a search, as most are
    i = find(i);
    j = find(j);
    if (i == j) return false;
    if (size_[i] < size_[j]) std::swap(i, j);
    parent(j) = i;
    size_[i] += size_[j];
    return true;
  }

 private:
  Index& parent(Index i) { return parent_[i]; }

  std::vector<Index> parent_;
  std::vector<Index> size_;
};

}  // namespace signorini
