#include "contact/mass_factor.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "base/check.h"
#include "linalg/connected_components.h"
#include "linalg/spd_factor.h"

namespace signorini {

namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

}  // namespace

struct MassFactor::Sparse {
  std::vector<std::optional<SpdFactor>> factor;  // per body, empty when dense
  mutable std::vector<double> workspace;
};

MassFactor::~MassFactor() = default;
MassFactor::MassFactor(MassFactor&&) noexcept = default;
MassFactor& MassFactor::operator=(MassFactor&&) noexcept = default;

MassFactor::MassFactor(const SparseRows& M, Index node_size) : sparse_(std::make_unique<Sparse>()) {
  number_dofs(M, node_size);
  for (Index body = 0; body < bodies(); ++body) factor(M, body);
}

MassFactor::MassFactor(const SparseRows& M, Index node_size, std::span<const Index> touched)
    : sparse_(std::make_unique<Sparse>()) {
  number_dofs(M, node_size);
  std::vector<char> wanted(at(bodies()), 0);
  for (const Index dof : touched) wanted[at(body_of(dof))] = 1;
  for (Index body = 0; body < bodies(); ++body) {
    if (wanted[at(body)] != 0) factor(M, body);
  }
}

void MassFactor::factor(const SparseRows& M, Index body) {
  if (static_cast<Index>(dofs(body).size()) <= kDenseBody) {
    factor_dense(M, body);
    return;
  }
  try {
    sparse_->factor[at(body)].emplace(extract(M, body));
  } catch (const InputError& error) {
    throw_input("body of dof {} ({} dofs): {}", dofs(body)[0], dofs(body).size(), error.what());
  }
}

void MassFactor::number_dofs(const SparseRows& M, Index node_size) {
  SIGNORINI_CHECK(M.rows() % node_size == 0);
  const Components found = connected_components(M, node_size);
  const std::size_t n = found.label.size() * at(node_size);
  begin_.assign(at(found.count) + 1, 0);
  body_.resize(n);
  local_.resize(n);
  dofs_.resize(n);
  for (std::size_t dof = 0; dof < n; ++dof) {
    body_[dof] = found.label[dof / at(node_size)];
    local_[dof] = begin_[at(body_[dof]) + 1]++;
  }
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  for (std::size_t dof = 0; dof < n; ++dof) {
    dofs_[at(begin_[at(body_[dof])] + local_[dof])] = static_cast<Index>(dof);
  }
  inverse_begin_.assign(at(found.count), -1);
  sparse_->factor.resize(at(found.count));
  sparse_->workspace.resize(at(largest_body()));
}

/// M_b without its stored zeros. Local numbers ascend with the dofs, so the rows stay sorted.
SparseRows MassFactor::extract(const SparseRows& M, Index body) const {
  const std::span<const Index> own = dofs(body);
  const auto size = static_cast<Index>(own.size());
  SparseRows block(size, size);
  for (Index i = 0; i < size; ++i) {
    block.startVec(i);
    for (SparseRows::InnerIterator entry(M, own[at(i)]); entry; ++entry) {
      if (entry.value() != 0.0) block.insertBack(i, local(static_cast<Index>(entry.col()))) = entry.value();
    }
  }
  block.finalize();
  return block;
}

void MassFactor::factor_dense(const SparseRows& M, Index body) {
  const std::span<const Index> own = dofs(body);
  const auto size = static_cast<Eigen::Index>(own.size());
  inverse_begin_[at(body)] = static_cast<std::ptrdiff_t>(inverse_.size());
  using Small =
      Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, kDenseBody, kDenseBody>;
  Small block = Small::Zero(size, size);
  bool diagonal = true;
  for (Eigen::Index i = 0; i < size; ++i) {
    for (SparseRows::InnerIterator entry(M, own[static_cast<std::size_t>(i)]); entry; ++entry) {
      if (entry.value() == 0.0) continue;
      const Index j = local(static_cast<Index>(entry.col()));
      block(i, j) = entry.value();
      diagonal = diagonal && i == j;
    }
  }
  Small inverse = Small::Zero(size, size);
  bool positive = true;
  if (diagonal) {
    positive = size == 0 || block.diagonal().minCoeff() > 0.0;
    if (positive) inverse.diagonal() = block.diagonal().cwiseInverse();
  } else {
    const Eigen::LLT<Small> factor(block);
    positive = factor.info() == Eigen::Success;
    if (positive) {
      inverse = factor.solve(Small::Identity(size, size));
      inverse = (0.5 * (inverse + inverse.transpose())).eval();
    }
  }
  if (!positive) throw_input("body of dof {} ({} dofs): M is not positive definite", own[0], own.size());
  inverse_.insert(inverse_.end(), inverse.data(), inverse.data() + size * size);
}

std::span<const Index> MassFactor::dofs(Index body) const {
  const std::size_t begin = at(begin_[at(body)]);
  return std::span<const Index>(dofs_).subspan(begin, at(begin_[at(body) + 1]) - begin);
}

Index MassFactor::largest_body() const {
  Index largest = 0;
  for (std::size_t b = 0; b + 1 < begin_.size(); ++b) largest = std::max(largest, begin_[b + 1] - begin_[b]);
  return largest;
}

namespace {

/// x := A x with A column-major of the given size ≤ kDenseBody.
void multiply_small(const double* A, std::size_t size, double* x) {
  if (size == 3) {
    const double x0 = x[0];
    const double x1 = x[1];
    const double x2 = x[2];
    for (std::size_t i = 0; i < 3; ++i) x[i] = A[i] * x0 + A[3 + i] * x1 + A[6 + i] * x2;
    return;
  }
  std::array<double, MassFactor::kDenseBody> sum{};
  for (std::size_t j = 0; j < size; ++j) {
    for (std::size_t i = 0; i < size; ++i) sum[i] += A[j * size + i] * x[j];
  }
  std::copy_n(sum.begin(), size, x);
}

}  // namespace

void MassFactor::solve_body(Index body, Matrix& X) const {
  if (!is_dense(body)) {
    X = sparse_->factor[at(body)]->solve_columns(X);
    return;
  }
  const double* inverse = inverse_.data() + inverse_begin_[at(body)];
  for (Eigen::Index column = 0; column < X.cols(); ++column) {
    multiply_small(inverse, static_cast<std::size_t>(X.rows()), X.data() + column * X.rows());
  }
}

void MassFactor::half_solve_body(Index body, Matrix& X) const {
  SIGNORINI_CHECK(!is_dense(body));
  X = sparse_->factor[at(body)]->half_solve(X);
}

void MassFactor::solve(std::span<const double> b, std::span<double> x) const {
  for (Index body = 0; body < bodies(); ++body) {
    const std::span<const Index> own = dofs(body);
    const std::span<double> own_x = std::span<double>(sparse_->workspace).first(own.size());
    for (std::size_t i = 0; i < own.size(); ++i) own_x[i] = b[at(own[i])];
    if (!is_dense(body) && !sparse_->factor[at(body)]) {
      std::fill(own_x.begin(), own_x.end(), 0.0);
    } else if (is_dense(body)) {
      multiply_small(inverse_.data() + inverse_begin_[at(body)], own.size(), own_x.data());
    } else {
      sparse_->factor[at(body)]->solve(own_x, own_x);
    }
    for (std::size_t i = 0; i < own.size(); ++i) x[at(own[i])] = own_x[i];
  }
}

}  // namespace signorini
