#include "solvers/first_order/pencil_factor.h"

#include <algorithm>

#include "base/check.h"
#include "linalg/asymmetry.h"
#include "linalg/dense_cholesky.h"

namespace signorini {

namespace {

/// The values of `part` at the entries of `whole`, whose pattern contains that of `part`.
std::vector<double> values_at(const SparseRows& whole, const SparseRows& part) {
  std::vector<double> values(static_cast<std::size_t>(whole.nonZeros()), 0.0);
  for (Index i = 0; i < whole.rows(); ++i) {
    Index at = whole.outerIndexPtr()[i];
    for (SparseRows::InnerIterator entry(part, i); entry; ++entry) {
      while (whole.innerIndexPtr()[at] != entry.index()) ++at;
      values[static_cast<std::size_t>(at)] = entry.value();
    }
  }
  return values;
}

}  // namespace

void PencilFactor::prepare(const SparseRows& A, const SparseRows& B) {
  SIGNORINI_CHECK(A.rows() == A.cols() && B.rows() == A.rows() && B.cols() == A.rows());
  size_ = static_cast<Index>(A.rows());
  sum_ = A + B;
  sum_.makeCompressed();
  A_ = values_at(sum_, A);
  B_ = values_at(sum_, B);
  symmetric_ = asymmetry(A) <= kSymmetric;
  const double entries = static_cast<double>(sum_.nonZeros()), all = static_cast<double>(size_) * size_;
  dense_ = size_ <= kSmall || (size_ <= kLargestDense && entries >= kDense * all);
  pattern_.reset();
  full_.resize(dense_ ? size_ : 0, dense_ ? size_ : 0);
  for (Factor* factor : {&first_, &second_}) {
    *factor = Factor{};
    if (dense_) reserve_dense(*factor);
  }
  if (!dense_ && symmetric_) pattern_ = std::make_unique<SpdPattern>(sum_);
  present_ = &first_;
}

void PencilFactor::reserve_dense(Factor& factor) const {
  if (symmetric_) {
    factor.cholesky.resize(size_, size_);
  } else {
    factor.lu.reserve(size_);
  }
}

bool PencilFactor::factor(double t) {
  if (factor(t, second_)) {
    second_t_ = t;
    present_ = &second_;
    return true;
  }
  if (present_ == &second_) SIGNORINI_CHECK(factor(second_t_, second_));
  return false;
}

bool PencilFactor::factor(double t, Factor& into) {
  if (size_ == 0) return true;
  for (std::size_t e = 0; e < A_.size(); ++e) sum_.valuePtr()[e] = A_[e] + t * B_[e];
  return dense_ ? factor_dense(into) : factor_sparse(into);
}

bool PencilFactor::factor_dense(Factor& into) {
  full_.setZero();
  for (Index i = 0; i < size_; ++i) {
    for (SparseRows::InnerIterator entry(sum_, i); entry; ++entry) full_(i, entry.col()) = entry.value();
  }
  if (!full_.allFinite()) return false;
  if (!symmetric_) return into.lu.factor(full_);
  into.cholesky = full_;
  return cholesky_in_order(into.cholesky);
}

bool PencilFactor::factor_sparse(Factor& into) {
  try {
    if (symmetric_) {
      into.sparse.emplace(sum_, pattern_.get());
    } else {
      into.sparse_lu.emplace(sum_);
    }
    return true;
  } catch (const InputError&) {
    return false;
  }
}

long long PencilFactor::fill() const {
  const long long n = size_;
  if (dense_) return symmetric_ ? n * (n + 1) / 2 : n * n;
  return symmetric_ ? present_->sparse->fill() : present_->sparse_lu->fill();
}

void PencilFactor::solve(std::span<double> x) const {
  if (size_ == 0) return;
  if (dense_) return solve_dense(x);
  if (symmetric_) return present_->sparse->solve(x, x);
  return present_->sparse_lu->solve(x, x);
}

void PencilFactor::solve_dense(std::span<double> x) const {
  if (!symmetric_) return present_->lu.solve(x);
  Eigen::Map<Vector> map(x.data(), size_);
  const auto L = present_->cholesky.triangularView<Eigen::Lower>();
  L.solveInPlace(map);
  L.adjoint().solveInPlace(map);
}

}  // namespace signorini
