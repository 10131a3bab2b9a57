#include "linalg/dense_lu.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "linalg/dense_kernels.h"

namespace signorini {
namespace {

constexpr Index kOneByOne = 40;  // order up to which columns are factored one after the other
constexpr Index kColumns = 8;    // the same within larger matrices

/// Which of the numbers has the largest size; the first of several.
Index first_largest(const double* numbers, Index size) {
  Index found = 0;
  double largest = std::abs(numbers[0]);
  for (Index i = 1; i < size; ++i) {
    if (std::abs(numbers[i]) <= largest) continue;
    largest = std::abs(numbers[i]);
    found = i;
  }
  return found;
}

}  // namespace

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
  if (n_ <= kOneByOne) {
    if (!factor_one_by_one(0, n_)) return false;
  } else {
    if (!factor_columns(0, n_)) return false;
    const double n = static_cast<double>(n_);
    flops_ = 2.0 / 3.0 * n * n * n;
  }
  return Eigen::Map<Matrix>(entries_.data(), n_, n_).allFinite();
}

/// Columns from … end−1, whose earlier terms have been subtracted; terms with a zero of U are left out.
bool DenseLu::factor_one_by_one(Index from, Index end) {
  Eigen::Map<Matrix> entries(entries_.data(), n_, n_);
  for (Index k = from; k < end; ++k) {
    const Index below = n_ - k - 1, pivot = k + first_largest(&entries(k, k), below + 1);
    pivot_[k] = pivot;
    const double largest = entries(pivot, k);
    if (!(std::abs(largest) > 0.0) || !std::isfinite(largest)) return false;
    swap_rows(k, k + 1, from, end);
    entries.col(k).tail(below) /= largest;
    for (Index j = k + 1; j < end; ++j) {
      const double factor = entries(k, j);
      if (factor == 0.0) continue;
      subtract_multiple(level_, factor, &entries(k, k) + 1, &entries(k, j) + 1, below);
      flops_ += 2.0 * below;
    }
    flops_ += below;
  }
  return true;
}

/// The same in halves.
bool DenseLu::factor_columns(Index from, Index end) {
  if (end - from <= kColumns) return factor_one_by_one(from, end);
  const Index half = ((end - from) / 2 + kColumns - 1) / kColumns * kColumns, middle = from + half;
  if (!factor_columns(from, middle)) return false;
  swap_rows(from, middle, middle, end);
  Eigen::Map<Matrix> entries(entries_.data(), n_, n_);
  const Eigen::Index stride = n_;
  const Index right = end - middle, below = n_ - middle;
  solve_unit_lower(level_, {&entries(from, from), 1, stride}, {&entries(from, middle), half, right, stride});
  subtract_product(level_, {&entries(middle, from), 1, stride}, {&entries(from, middle), 1, stride}, half,
                   {&entries(middle, middle), below, right, stride});
  if (!factor_columns(middle, end)) return false;
  swap_rows(middle, end, from, middle);
  return true;
}

/// Rows first … last−1 with those of their pivots, in columns from … end−1.
void DenseLu::swap_rows(Index first, Index last, Index from, Index end) {
  for (Index j = from; j < end; ++j) {
    double* column = entries_.data() + static_cast<std::size_t>(j) * static_cast<std::size_t>(n_);
    for (Index k = first; k < last; ++k) std::swap(column[k], column[pivot_[k]]);
  }
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
