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
  const auto n = static_cast<Index>(M.rows());
  const Index nodes = n / node_size;
  SIGNORINI_CHECK(nodes * node_size == n);
  const auto [label, count] = connected_components(M, node_size);

  begin_.assign(at(count) + 1, 0);
  body_.resize(at(n));
  local_.resize(at(n));
  dofs_.resize(at(n));
  for (Index dof = 0; dof < n; ++dof) {
    body_[at(dof)] = label[at(dof / node_size)];
    local_[at(dof)] = begin_[at(body_[at(dof)]) + 1]++;
  }
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  for (Index dof = 0; dof < n; ++dof) dofs_[at(begin_[at(body_[at(dof)])] + local_[at(dof)])] = dof;

  inverse_begin_.assign(at(count), -1);
  sparse_->factor.resize(at(count));
  for (Index body = 0; body < count; ++body) {
    const std::span<const Index> own = dofs(body);
    const auto size = static_cast<Index>(own.size());
    if (size <= kDenseBody) {
      factor_dense(M, body);
      continue;
    }
    // Local numbers ascend with the dofs, so the rows stay sorted.
    SparseRows block(size, size);
    for (Index i = 0; i < size; ++i) {
      block.startVec(i);
      for (SparseRows::InnerIterator entry(M, own[at(i)]); entry; ++entry) {
        if (entry.value() != 0.0) block.insertBack(i, local(static_cast<Index>(entry.col()))) = entry.value();
      }
    }
    block.finalize();
    sparse_->factor[at(body)].emplace(block);
  }
  sparse_->workspace.resize(at(largest_body()));
}

void MassFactor::factor_dense(const SparseRows& M, Index body) {
  const std::span<const Index> own = dofs(body);
  const auto size = static_cast<Eigen::Index>(own.size());
  inverse_begin_[at(body)] = static_cast<std::ptrdiff_t>(inverse_.size());
  using Small = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, kDenseBody, kDenseBody>;
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
  if (!positive) throw_input("M is not positive definite on the body of dof {}", own[0]);
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

void MassFactor::solve_body(Index body, std::span<double> x, Index columns) const {
  const std::size_t size = dofs(body).size();
  if (inverse_begin_[at(body)] < 0) {
    const SpdFactor& factor = *sparse_->factor[at(body)];
    if (columns == 1) return factor.solve(x, x);
    Eigen::Map<Matrix> X(x.data(), static_cast<Eigen::Index>(size), columns);
    X = factor.solve_columns(X);
    return;
  }
  const double* inverse = inverse_.data() + inverse_begin_[at(body)];
  for (std::size_t column = 0; column < at(columns); ++column) {
    double* b = x.data() + column * size;
    std::array<double, kDenseBody> sum{};
    for (std::size_t j = 0; j < size; ++j) {
      for (std::size_t i = 0; i < size; ++i) sum[i] += inverse[j * size + i] * b[j];
    }
    std::copy_n(sum.begin(), size, b);
  }
}

void MassFactor::solve(std::span<const double> b, std::span<double> x) const {
  for (Index body = 0; body < bodies(); ++body) {
    const std::span<const Index> own = dofs(body);
    const std::span<double> local_x = std::span<double>(sparse_->workspace).first(own.size());
    for (std::size_t i = 0; i < own.size(); ++i) local_x[i] = b[at(own[i])];
    solve_body(body, local_x, 1);
    for (std::size_t i = 0; i < own.size(); ++i) x[at(own[i])] = local_x[i];
  }
}

}  // namespace signorini
