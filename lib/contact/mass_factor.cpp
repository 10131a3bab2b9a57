#include "contact/mass_factor.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <exception>
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

MassFactor::MassFactor(const SparseRows& M, Index node_size, TaskArena* arena)
    : sparse_(std::make_unique<Sparse>()) {
  number_dofs(M, node_size);
  const std::vector<char> wanted(at(bodies()), 1);
  factor_all(M, wanted, arena);
}

MassFactor::MassFactor(const SparseRows& M, Index node_size, std::span<const Index> touched, TaskArena* arena)
    : sparse_(std::make_unique<Sparse>()) {
  number_dofs(M, node_size);
  std::vector<char> wanted(at(bodies()), 0);
  for (const Index dof : touched) wanted[at(body_of(dof))] = 1;
  factor_all(M, wanted, arena);
}

namespace {

bool same_pattern(const SparseRows& A, const SparseRows& B) {
  if (A.rows() != B.rows() || A.nonZeros() != B.nonZeros()) return false;
  return std::equal(A.outerIndexPtr(), A.outerIndexPtr() + A.rows() + 1, B.outerIndexPtr()) &&
         std::equal(A.innerIndexPtr(), A.innerIndexPtr() + A.nonZeros(), B.innerIndexPtr());
}

/// Number of the first matrix with the same pattern, for each. A linear search through the distinct patterns
/// that ends at the first kLongestSearch: scenes repeat a few meshes.
std::vector<std::size_t> pattern_owners(std::span<const SparseRows> matrices) {
  constexpr std::size_t kLongestSearch = 64;
  std::vector<std::size_t> owner(matrices.size());
  std::vector<std::size_t> distinct;
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    owner[i] = i;
    const auto end =
        distinct.begin() + static_cast<std::ptrdiff_t>(std::min(distinct.size(), kLongestSearch));
    const auto found = std::find_if(distinct.begin(), end,
                                    [&](std::size_t j) { return same_pattern(matrices[i], matrices[j]); });
    if (found != end) {
      owner[i] = *found;
    } else {
      distinct.push_back(i);
    }
  }
  return owner;
}

}  // namespace

void MassFactor::factor_all(const SparseRows& M, std::span<const char> wanted, TaskArena* arena) {
  std::vector<Index> large;
  std::ptrdiff_t small_values = 0;
  for (Index body = 0; body < bodies(); ++body) {
    if (wanted[at(body)] == 0) continue;
    const std::size_t size = dofs(body).size();
    if (size > static_cast<std::size_t>(kDenseBody)) {
      large.push_back(body);
    } else {
      inverse_begin_[at(body)] = small_values;
      small_values += static_cast<std::ptrdiff_t>(size * size);
    }
  }
  inverse_.resize(static_cast<std::size_t>(small_values));
  std::vector<std::exception_ptr> errors(at(bodies()));
  const auto guarded = [&](Index body, auto&& work) {
    try {
      work();
    } catch (const InputError& error) {
      errors[at(body)] = std::make_exception_ptr(InputError(
          fmt::format("body of dof {} ({} dofs): {}", dofs(body)[0], dofs(body).size(), error.what())));
    } catch (...) {
      errors[at(body)] = std::current_exception();
    }
  };
  for_each_task(arena, task_begin_.size() - 1, [&](std::size_t task) {
    for (Index body = task_begin_[task]; body < task_begin_[task + 1]; ++body) {
      if (is_dense(body)) guarded(body, [&] { factor_dense(M, body); });
    }
  });
  std::vector<SparseRows> block(large.size());
  for_each_task(arena, large.size(), [&](std::size_t i) { block[i] = extract(M, large[i]); });
  const std::vector<std::size_t> owner = pattern_owners(block);
  std::vector<std::optional<SpdPattern>> pattern(large.size());
  std::vector<std::size_t> shared;
  for (std::size_t i = 0; i < owner.size(); ++i) {
    if (owner[i] != i && std::find(shared.begin(), shared.end(), owner[i]) == shared.end())
      shared.push_back(owner[i]);
  }
  for_each_task(arena, shared.size(), [&](std::size_t i) { pattern[shared[i]].emplace(block[shared[i]]); });
  for_each_task(arena, large.size(), [&](std::size_t i) {
    const std::optional<SpdPattern>& known = pattern[owner[i]];
    guarded(large[i], [&] { sparse_->factor[at(large[i])].emplace(block[i], known ? &*known : nullptr); });
  });
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);  // that of the first body, whatever the threads did
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
  sparse_->workspace.resize(n);
  constexpr Index kTaskDofs = 96;
  task_begin_.assign(1, 0);
  for (Index body = 0; body < bodies(); ++body) {
    const bool full = begin_[at(body) + 1] - begin_[at(task_begin_.back())] >= kTaskDofs;
    if (full || body + 1 == bodies()) task_begin_.push_back(body + 1);
  }
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
  if (!positive) throw_input("M is not positive definite");
  std::copy_n(inverse.data(), size * size, inverse_.data() + inverse_begin_[at(body)]);
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

void MassFactor::solve_own(Index body, std::span<const double> b, std::span<double> x) const {
  const std::span<const Index> own = dofs(body);
  const std::span<double> own_x =
      std::span<double>(sparse_->workspace).subspan(at(begin_[at(body)]), own.size());
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

void MassFactor::solve(std::span<const double> b, std::span<double> x, TaskArena* arena) const {
  for_each_task(arena, task_begin_.size() - 1, [&](std::size_t task) {
    for (Index body = task_begin_[task]; body < task_begin_[task + 1]; ++body) solve_own(body, b, x);
  });
}

}  // namespace signorini
