#include "linalg/spd_factor.h"

#include <cmath>
#include <vector>

#include "base/check.h"
#include "linalg/factor_library.h"
#include "linalg/sparse_factor.h"

namespace signorini {

void throw_not_definite(Index dof) {
  throw_input("mass matrix: not positive definite (Cholesky breaks down at dof {})", dof);
}

namespace {

bool has_only_diagonal(const SparseRows& M) {
  for (Index i = 0; i < M.rows(); ++i) {
    for (SparseRows::InnerIterator entry(M, i); entry; ++entry) {
      if (entry.col() != i && entry.value() != 0.0) return false;
    }
  }
  return true;
}

/// Null for Eigen, whose factor analyses its own pattern.
std::unique_ptr<SparseAnalysis> analyse(const SparseRows& M) {
  return factor_library() == FactorLibrary::cholmod ? analyse_by_cholmod(M) : nullptr;
}

std::unique_ptr<SparseFactor> factor(const SparseRows& M, const SparseAnalysis* analysis) {
  return factor_library() == FactorLibrary::cholmod ? factor_by_cholmod(M, analysis) : factor_by_eigen(M);
}

}  // namespace

struct SpdPattern::Impl {
  std::unique_ptr<SparseAnalysis> analysis;
};

SpdPattern::SpdPattern(const SparseRows& M) : impl_(std::make_unique<Impl>(analyse(M))) {}
SpdPattern::~SpdPattern() = default;
SpdPattern::SpdPattern(SpdPattern&&) noexcept = default;
SpdPattern& SpdPattern::operator=(SpdPattern&&) noexcept = default;

struct SpdFactor::Impl {
  Index n = 0;
  Vector inverse_diagonal;               // when diagonal
  std::unique_ptr<SparseFactor> sparse;  // otherwise
};

SpdFactor::SpdFactor(const SparseRows& M, const SpdPattern* pattern) : impl_(std::make_unique<Impl>()) {
  if (M.rows() != M.cols()) throw_input("mass matrix: {} x {} is not square", M.rows(), M.cols());
  impl_->n = static_cast<Index>(M.rows());
  for (Index i = 0; i < impl_->n; ++i) {
    for (SparseRows::InnerIterator entry(M, i); entry; ++entry) {
      if (!std::isfinite(entry.value()))
        throw_input("mass matrix: entry ({}, {}) is not finite", i, entry.col());
    }
  }
  if (!has_only_diagonal(M)) {
    impl_->sparse = factor(M, pattern != nullptr ? pattern->impl_->analysis.get() : nullptr);
    return;
  }
  impl_->inverse_diagonal = M.diagonal();
  for (Index i = 0; i < impl_->n; ++i) {
    double& d = impl_->inverse_diagonal[i];
    if (!(d > 0.0)) throw_not_definite(i);
    d = 1.0 / d;
  }
}

SpdFactor::~SpdFactor() = default;
SpdFactor::SpdFactor(SpdFactor&&) noexcept = default;
SpdFactor& SpdFactor::operator=(SpdFactor&&) noexcept = default;

Index SpdFactor::size() const { return impl_->n; }
bool SpdFactor::is_diagonal() const { return impl_->sparse == nullptr; }
long long SpdFactor::fill() const { return impl_->sparse ? impl_->sparse->fill() : impl_->n; }

void SpdFactor::solve(std::span<const double> b, std::span<double> x) const {
  SIGNORINI_CHECK(count(b) == impl_->n && x.size() == b.size());
  if (impl_->sparse) {
    impl_->sparse->solve(b.data(), x.data());
    return;
  }
  for (std::size_t i = 0; i < b.size(); ++i) x[i] = b[i] * impl_->inverse_diagonal[i];
}

Matrix SpdFactor::solve_columns(const Matrix& B) const {
  SIGNORINI_CHECK(B.rows() == impl_->n);
  if (B.cols() == 0) return Matrix(B.rows(), 0);
  if (impl_->sparse) return impl_->sparse->solve_columns(B);
  return impl_->inverse_diagonal.asDiagonal() * B;
}

Matrix SpdFactor::half_solve(const Matrix& B) const {
  Matrix Y = B;
  std::vector<double> panel;
  half_solve(Y, panel);
  return Y;
}

void SpdFactor::half_solve(Matrix& B, std::vector<double>& panel) const {
  SIGNORINI_CHECK(B.rows() == impl_->n);
  if (B.cols() == 0) return;
  if (impl_->sparse) return impl_->sparse->half_solve(B, panel);
  B = (impl_->inverse_diagonal.cwiseSqrt().asDiagonal() * B).eval();
}

std::span<const Index> SpdFactor::panel_rows() const {
  return impl_->sparse ? impl_->sparse->panel_rows() : std::span<const Index>{};
}

std::vector<char> SpdFactor::needed_for(std::span<const Index> dofs) const {
  return impl_->sparse->needed_for(dofs);
}

void SpdFactor::solve_panel(std::span<double> X, std::size_t width, std::span<const char> needed) const {
  SIGNORINI_CHECK(!panel_rows().empty() && X.size() == width * panel_rows().size());
  impl_->sparse->solve_panel(X, width, needed);
}

}  // namespace signorini
