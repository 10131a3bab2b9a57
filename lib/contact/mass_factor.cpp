#include "contact/mass_factor.h"

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <algorithm>
#include <array>
#include <exception>
#include <numeric>
#include <optional>
#include <utility>

#include "base/check.h"
#include "contact/factor_store.h"
#include "linalg/asymmetry.h"
#include "linalg/connected_components.h"
#include "linalg/general_factor.h"
#include "linalg/same_bits.h"
#include "linalg/spd_factor.h"

namespace signorini {

struct MassFactor::Sparse {
  struct Body : FactorStore::Body {
    std::optional<GeneralFactor> general;  // of an unsymmetric body
  };
  Body& of(Index number) { return body[slot[number]]; }
  const Body& of(Index number) const { return body[slot[number]]; }

  std::vector<Index> slot;  // per body of M: in `body`, −1 when dense or not wanted
  std::vector<Body> body;
  mutable std::vector<double> workspace;
};

MassFactor::MassFactor() : begin_(1, 0), task_begin_(1, 0), sparse_(std::make_unique<Sparse>()) {}
MassFactor::~MassFactor() = default;
MassFactor::MassFactor(MassFactor&&) noexcept = default;
MassFactor& MassFactor::operator=(MassFactor&&) noexcept = default;

MassFactor::MassFactor(const SparseRows& M, Index node_size, TaskArena* arena)
    : sparse_(std::make_unique<Sparse>()) {
  number_dofs(M, node_size);
  const std::vector<char> wanted(bodies(), 1);
  factor_all(M, wanted, nullptr, arena);
}

MassFactor::MassFactor(const SparseRows& M, Index node_size, std::span<const Index> touched,
                       FactorStore* store, TaskArena* arena)
    : sparse_(std::make_unique<Sparse>()) {
  number_dofs(M, node_size);
  std::vector<char> wanted(bodies(), 0);
  for (const Index dof : touched) wanted[body_of(dof)] = 1;
  factor_all(M, wanted, store, arena);
}

/// The distinct patterns among some matrices, first those known before.
class MassFactor::Patterns {
 public:
  struct Entry {
    const SparseRows* matrix;
    std::shared_ptr<const SpdPattern> analysis;  // null until made
  };
  /// Number of the entry with this pattern. A linear search that ends at the first kLongestSearch: scenes
  /// repeat a few meshes.
  std::size_t number(const SparseRows& matrix) {
    const auto end = entries.begin() + std::min(entries.size(), kLongestSearch);
    const auto found =
        std::find_if(entries.begin(), end, [&](const Entry& e) { return same_pattern(*e.matrix, matrix); });
    if (found == end) entries.push_back({&matrix, nullptr});
    return (found == end ? entries.end() - 1 : found) - entries.begin();
  }
  std::vector<Entry> entries;

 private:
  static constexpr std::size_t kLongestSearch = 64;
};

/// Runs work(body) and keeps what it throws, with the body's name where the matrix is to blame.
class MassFactor::Guard {
 public:
  explicit Guard(const MassFactor& mass) : mass_(mass), errors_(mass.bodies()) {}
  template <class Work>
  void operator()(Index body, const Work& work) {
    try {
      work();
    } catch (const InputError& error) {
      const std::span<const Index> dofs = mass_.dofs(body);
      errors_[body] = std::make_exception_ptr(
          InputError(fmt::format("body of dof {} ({} dofs): {}", dofs[0], dofs.size(), error.what())));
    } catch (...) {
      errors_[body] = std::current_exception();
    }
  }
  /// That of the first body, whatever the threads did.
  void rethrow() const {
    for (const std::exception_ptr& error : errors_) {
      if (error) std::rethrow_exception(error);
    }
  }

 private:
  const MassFactor& mass_;
  std::vector<std::exception_ptr> errors_;
};

void MassFactor::refactor(const SparseRows& M, Index node_size, FactorStore& store, TaskArena* arena) {
  number_dofs(M, node_size);
  const std::vector<char> wanted(bodies(), 1);
  factor_all(M, wanted, &store, arena);
}

void MassFactor::factor_all(const SparseRows& M, std::span<const char> wanted, FactorStore* store,
                            TaskArena* arena) {
  std::vector<Index> large;
  std::ptrdiff_t small_values = 0;
  for (Index body = 0; body < bodies(); ++body) {
    if (wanted[body] == 0) continue;
    const std::size_t size = dofs(body).size();
    if (size > kDenseBody) {
      large.push_back(body);
    } else {
      inverse_begin_[body] = small_values;
      small_values += size * size;
    }
  }
  inverse_.resize(small_values);
  Guard guard(*this);
  for_each_task(arena, task_begin_.size() - 1, [&](std::size_t task) {
    for (Index body = task_begin_[task]; body < task_begin_[task + 1]; ++body) {
      if (is_dense(body)) guard(body, [&] { factor_dense(M, body); });
    }
  });
  factor_sparse(M, large, store, guard, arena);
  guard.rethrow();
}

void MassFactor::factor_sparse(const SparseRows& M, std::span<const Index> wanted, FactorStore* store,
                               Guard& guard, TaskArena* arena) {
  sparse_->body.resize(wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) sparse_->slot[wanted[i]] = static_cast<Index>(i);
  for_each_task(arena, wanted.size(), [&](std::size_t i) {
    SparseRows block = extract(M, wanted[i]);
    FactorStore::Body& body = sparse_->body[i];
    if (store != nullptr) {
      body = FactorStore::with_digest(std::move(block));
    } else {
      body.block = std::make_shared<const SparseRows>(std::move(block));
    }
  });
  std::vector<Index> left(wanted.begin(), wanted.end());
  Patterns patterns;
  if (store != nullptr) {
    std::vector<FactorStore::Body*> bodies;
    for (Sparse::Body& body : sparse_->body) bodies.push_back(&body);
    store->give_factors(bodies);
    std::erase_if(left, [&](Index b) { return sparse_->of(b).factor != nullptr; });
    store->for_analyses([&](const SparseRows& block, const std::shared_ptr<const SpdPattern>& analysis) {
      patterns.entries[patterns.number(block)].analysis = analysis;
    });
  }
  for_each_task(arena, left.size(), [&](std::size_t i) {
    Sparse::Body& body = sparse_->of(left[i]);
    if (asymmetry(*body.block) <= kSymmetric) return;
    unsymmetric_[left[i]] = 1;
    guard(left[i], [&] { body.general.emplace(*body.block); });
  });
  std::erase_if(left, [&](Index b) { return !is_symmetric(b); });
  analyse_and_factor(left, patterns, guard, arena);
  if (store != nullptr) {
    for (const Index b : left) {
      if (sparse_->of(b).factor) store->keep(sparse_->of(b));
    }
  }
  for (Sparse::Body& body : sparse_->body) {  // the store has its own
    body.block.reset();
    body.pattern.reset();
  }
}

/// Bodies of the same pattern share its analysis.
void MassFactor::analyse_and_factor(std::span<const Index> left, Patterns& patterns, Guard& guard,
                                    TaskArena* arena) {
  std::vector<std::size_t> number(left.size());
  for (std::size_t i = 0; i < left.size(); ++i) number[i] = patterns.number(*sparse_->of(left[i]).block);
  std::vector<Index> owner(patterns.entries.size(), -1);  // the first body of each pattern: the one to blame
  for (std::size_t i = left.size(); i-- > 0;) owner[number[i]] = left[i];
  for_each_task(arena, patterns.entries.size(), [&](std::size_t p) {
    Patterns::Entry& entry = patterns.entries[p];
    if (owner[p] >= 0 && !entry.analysis)
      guard(owner[p], [&] { entry.analysis = std::make_shared<const SpdPattern>(*entry.matrix); });
  });
  for_each_task(arena, left.size(), [&](std::size_t i) {
    Sparse::Body& body = sparse_->of(left[i]);
    body.pattern = patterns.entries[number[i]].analysis;
    guard(left[i], [&] { body.factor = std::make_shared<const SpdFactor>(*body.block, body.pattern.get()); });
  });
}

void MassFactor::number_dofs(const SparseRows& M, Index node_size) {
  SIGNORINI_CHECK(M.rows() % node_size == 0);
  const Components found = connected_components(M, node_size);
  const Index n = count(found.label) * node_size;
  begin_.assign(found.count + 1, 0);
  body_.resize(n);
  local_.resize(n);
  dofs_.resize(n);
  for (Index dof = 0; dof < n; ++dof) {
    body_[dof] = found.label[dof / node_size];
    local_[dof] = begin_[body_[dof] + 1]++;
  }
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  for (Index dof = 0; dof < n; ++dof) {
    dofs_[begin_[body_[dof]] + local_[dof]] = dof;
  }
  inverse_begin_.assign(found.count, -1);
  unsymmetric_.assign(found.count, 0);
  sparse_->slot.assign(found.count, -1);
  sparse_->body.clear();
  sparse_->workspace.resize(n);
  constexpr Index kTaskDofs = 96;
  task_begin_.assign(1, 0);
  for (Index body = 0; body < bodies(); ++body) {
    const bool full = begin_[body + 1] - begin_[task_begin_.back()] >= kTaskDofs;
    if (full || body + 1 == bodies()) task_begin_.push_back(body + 1);
  }
}

/// M_b without its stored zeros. Local numbers ascend with the dofs, so the rows stay sorted.
SparseRows MassFactor::extract(const SparseRows& M, Index body) const {
  const std::span<const Index> own = dofs(body);
  const Index size = count(own);
  SparseRows block(size, size);
  for (Index i = 0; i < size; ++i) {
    block.startVec(i);
    for (SparseRows::InnerIterator entry(M, own[i]); entry; ++entry) {
      if (entry.value() != 0.0) block.insertBack(i, local(entry.index())) = entry.value();
    }
  }
  block.finalize();
  return block;
}

namespace {

/// Column by column: several right sides at a time Eigen solves by its product of dense matrices, whose last bits depend on the
/// processor.
template <class Factor, class Small>
void invert(const Factor& factor, Small& inverse) {
  using Column = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, Small::MaxRowsAtCompileTime, 1>;
  for (Eigen::Index j = 0; j < inverse.cols(); ++j) {
    const Column unit = Column::Unit(inverse.rows(), j);
    inverse.col(j) = factor.solve(unit);
  }
}

}  // namespace

void MassFactor::factor_dense(const SparseRows& M, Index body) {
  const std::span<const Index> own = dofs(body);
  const Eigen::Index size = own.size();
  using Small =
      Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, kDenseBody, kDenseBody>;
  Small block = Small::Zero(size, size);
  bool diagonal = true;
  for (Eigen::Index i = 0; i < size; ++i) {
    for (SparseRows::InnerIterator entry(M, own[i]); entry; ++entry) {
      if (entry.value() == 0.0) continue;
      const Index j = local(entry.index());
      block(i, j) = entry.value();
      diagonal = diagonal && i == j;
    }
  }
  const auto is_symmetric = [&block] {  // linalg/asymmetry.h
    const Small root = block.diagonal().cwiseAbs().cwiseSqrt();
    const Small scale = root * root.transpose();
    return ((block - block.transpose()).cwiseAbs().array() <= kSymmetric * scale.array()).all();
  };
  const bool symmetric = diagonal || is_symmetric();
  unsymmetric_[body] = symmetric ? 0 : 1;
  Small inverse = Small::Zero(size, size);
  bool positive = true;
  if (diagonal) {
    positive = size == 0 || block.diagonal().minCoeff() > 0.0;
    if (positive) inverse.diagonal() = block.diagonal().cwiseInverse();
  } else {
    const Eigen::LLT<Small> factor(symmetric ? block : Small(0.5 * (block + block.transpose())));
    positive = factor.info() == Eigen::Success;
    if (positive && !symmetric) {
      invert(Eigen::PartialPivLU<Small>(block), inverse);
    } else if (positive) {
      invert(factor, inverse);
      inverse = (0.5 * (inverse + inverse.transpose())).eval();
    }
  }
  if (!positive) throw_input("M is not positive definite");
  std::copy_n(inverse.data(), size * size, inverse_.data() + inverse_begin_[body]);
}

std::span<const Index> MassFactor::dofs(Index body) const {
  const std::size_t begin = begin_[body];
  return std::span<const Index>(dofs_).subspan(begin, begin_[body + 1] - begin);
}

Index MassFactor::largest_body() const {
  Index largest = 0;
  for (std::size_t b = 0; b + 1 < begin_.size(); ++b) largest = std::max(largest, begin_[b + 1] - begin_[b]);
  return largest;
}

bool MassFactor::is_symmetric() const {
  return std::all_of(unsymmetric_.begin(), unsymmetric_.end(), [](char flag) { return flag == 0; });
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
    const Sparse::Body& own = sparse_->of(body);
    X = own.general ? own.general->solve_columns(X) : own.factor->solve_columns(X);
    return;
  }
  const double* inverse = inverse_.data() + inverse_begin_[body];
  for (Eigen::Index column = 0; column < X.cols(); ++column) {
    multiply_small(inverse, X.rows(), X.data() + column * X.rows());
  }
}

void MassFactor::solve_body_by_columns(Index body, Matrix& X) const {
  if (is_dense(body)) return solve_body(body, X);
  for (Eigen::Index k = 0; k < X.cols(); ++k)
    solve_sparse(body, {X.data() + k * X.rows(), static_cast<std::size_t>(X.rows())});
}

void MassFactor::half_solve_body(Index body, Matrix& X, std::vector<double>& panel) const {
  SIGNORINI_CHECK(!is_dense(body) && is_symmetric(body));
  sparse_->of(body).factor->half_solve(X, panel);
}

const SpdFactor* MassFactor::panels(Index body) const {
  if (is_dense(body) || sparse_->slot[body] < 0) return nullptr;  // or nobody asked for it
  const SpdFactor* factor = sparse_->of(body).factor.get();
  return factor != nullptr && !factor->panel_rows().empty() ? factor : nullptr;
}

void MassFactor::solve_sparse(Index body, std::span<double> x) const {
  if (sparse_->slot[body] < 0) {
    std::fill(x.begin(), x.end(), 0.0);  // a body that nobody asked for
    return;
  }
  const Sparse::Body& own = sparse_->of(body);
  own.factor ? own.factor->solve(x, x) : own.general->solve(x, x);
}

void MassFactor::solve_own(Index body, std::span<const double> b, std::span<double> x) const {
  const std::span<const Index> own = dofs(body);
  const std::span<double> own_x = std::span<double>(sparse_->workspace).subspan(begin_[body], own.size());
  for (std::size_t i = 0; i < own.size(); ++i) own_x[i] = b[own[i]];
  if (is_dense(body)) {
    multiply_small(inverse_.data() + inverse_begin_[body], own.size(), own_x.data());
  } else {
    solve_sparse(body, own_x);
  }
  for (std::size_t i = 0; i < own.size(); ++i) x[own[i]] = own_x[i];
}

void MassFactor::solve(std::span<const double> b, std::span<double> x, TaskArena* arena) const {
  for_each_task(arena, task_begin_.size() - 1, [&](std::size_t task) {
    for (Index body = task_begin_[task]; body < task_begin_[task + 1]; ++body) solve_own(body, b, x);
  });
}

}  // namespace signorini
