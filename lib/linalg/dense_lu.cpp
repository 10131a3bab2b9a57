#include "linalg/dense_lu.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace signorini {

void DenseLu::reserve(Index order) {
  const std::size_t n = order;
  if (pivot_.size() >= n) return;
  entries_.resize(n * n);
  pivot_.resize(n);
}

bool DenseLu::factor(const Eigen::Ref<const SparseColumns>& A) {
  n_ = static_cast<Index>(A.rows());
  reserve(n_);
  Eigen::Map<Matrix> entries(entries_.data(), n_, n_);
  entries.setZero();
  for (Index j = 0; j < n_; ++j) {
    for (Eigen::Ref<const SparseColumns>::InnerIterator entry(A, j); entry; ++entry)
      entries(entry.row(), j) = entry.value();
  }
  return factor_entries();
}

bool DenseLu::factor(const Matrix& A) {
  n_ = static_cast<Index>(A.rows());
  reserve(n_);
  Eigen::Map<Matrix>(entries_.data(), n_, n_) = A;
  return factor_entries();
}

bool DenseLu::factor_entries() {
  flops_ = 0.0;
  Eigen::Map<Matrix> entries(entries_.data(), n_, n_);
  for (Index k = 0; k < n_; ++k) {
    Index pivot = k;
    for (Index i = k + 1; i < n_; ++i) {
      if (std::abs(entries(i, k)) > std::abs(entries(pivot, k))) pivot = i;
    }
    pivot_[k] = pivot;
    const double largest = entries(pivot, k);
    if (!(std::abs(largest) > 0.0) || !std::isfinite(largest)) return false;
    if (pivot != k) entries.row(k).swap(entries.row(pivot));
    const Index below = n_ - k - 1;
    auto column = entries.col(k).tail(below);
    column /= largest;
    for (Index j = k + 1; j < n_; ++j) {
      const double factor = entries(k, j);
      if (factor == 0.0) continue;
      entries.col(j).tail(below) -= factor * column;
      flops_ += 2.0 * below;
    }
    flops_ += below;
  }
  return entries.allFinite();
}

void DenseLu::solve(std::span<double> x) const {
  const Eigen::Map<const Matrix> entries(entries_.data(), n_, n_);
  Eigen::Map<Vector> y(x.data(), n_);
  for (Index k = 0; k < n_; ++k) std::swap(y[k], y[pivot_[k]]);
  for (Index k = 0; k < n_; ++k) y.tail(n_ - k - 1) -= y[k] * entries.col(k).tail(n_ - k - 1);
  for (Index k = n_ - 1; k >= 0; --k) {
    y[k] /= entries(k, k);
    y.head(k) -= y[k] * entries.col(k).head(k);
  }
}

}  // namespace signorini
