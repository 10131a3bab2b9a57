#include "contact/delassus_operator.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "contact/body_touches.h"
#include "contact/direction_rows.h"
#include "contact/mass_factor.h"

namespace signorini {

namespace {

/// Calls add(s, t, block) with the blocks (W_b)_st = H_sᵀ M_b⁻¹ H_t of one body b; s and t count the touches of the
/// body. Of a symmetric body only s ≤ t, with diagonal blocks symmetric to the last bit; of another all of them.
template <class Add>
void visit_body_blocks(const BodyTouches& table, const MassFactor& mass, Index body, Matrix& X,
                       const Add& add) {
  const Index begin = table.body_begin[body];
  const Index end = table.body_begin[body + 1];
  const bool symmetric = mass.is_symmetric(body);
  for (Index first = begin; first < end; first += MassFactor::kBatch) {
    const Index count = std::min(MassFactor::kBatch, end - first);
    solve_touches(table, mass, body, first, count, X);
    for (Index t = first; t < first + count; ++t) {
      const double* column[3] = {&X(0, 3 * (t - first)), &X(0, 3 * (t - first) + 1),
                                 &X(0, 3 * (t - first) + 2)};
      for (Index s = begin; s < (symmetric ? t + 1 : end); ++s) {
        const BodyTouch& touch = table.touches[s];
        Matrix3 block = Matrix3::Zero();
        for (Index e = touch.begin; e < touch.end; ++e) {
          const double* h = table.coefficient.data() + 3 * e;
          for (Index b = 0; b < 3; ++b) {
            const double x = column[b][table.local[e]];
            for (Index a = 0; a < 3; ++a) block(a, b) += h[a] * x;
          }
        }
        if (s == t && symmetric) block = (0.5 * (block + block.transpose())).eval();
        add(s - begin, t - begin, block);
      }
    }
  }
}

/// W_b of every body, all its blocks, computed side by side.
class BodyBlocks {
 public:
  BodyBlocks(const BodyTouches& table, const MassFactor& mass, TaskArena* arena) : table_(table) {
    begin_.reserve(mass.bodies() + 1);
    begin_.push_back(0);
    for (Index body = 0; body < mass.bodies(); ++body) {
      const std::size_t own = touches(body);  // its square in 64 bits
      begin_.push_back(begin_.back() + 9 * own * own);
    }
    // not initialised: the tasks write every number that is read
    values_ = std::make_unique_for_overwrite<double[]>(begin_.back());
    const std::span<const Index> tasks = mass.tasks();
    for_each_task(arena, tasks.size() - 1, [&](std::size_t task) {
      Matrix X;
      for (Index body = tasks[task]; body < tasks[task + 1]; ++body) {
        visit_body_blocks(table, mass, body, X, [&](Index s, Index t, const Matrix3& block) {
          Eigen::Map<Matrix3>(at_block(body, s, t)) = block;
          if (mass.is_symmetric(body)) Eigen::Map<Matrix3>(at_block(body, t, s)) = block.transpose();
        });
      }
    });
  }

  Index touches(Index body) const { return table_.body_begin[body + 1] - table_.body_begin[body]; }
  /// (W_b)_s0, (W_b)_s1, …
  const double* row(Index body, Index s) const { return at_block(body, s, 0); }

 private:
  double* at_block(Index body, Index s, Index t) const {
    const std::size_t own = touches(body);  // products in 64 bits
    return values_.get() + begin_[body] + 9 * (s * own + t);
  }

  const BodyTouches& table_;
  std::vector<std::size_t> begin_;
  std::unique_ptr<double[]> values_;
};

/// Appends the contacts that meet contact i (those that touch one of its bodies, and i itself), ascending.
/// `seen` holds one number per contact that is no contact's before the first call.
void append_neighbours(const BodyTouches& table, Index i, std::vector<Index>& seen,
                       std::vector<Index>& columns) {
  const std::ptrdiff_t first = columns.size();
  const auto add = [&](Index j) {
    if (seen[j] == i) return;
    seen[j] = i;
    columns.push_back(j);
  };
  add(i);
  for (Index c = table.contact_begin[i]; c < table.contact_begin[i + 1]; ++c) {
    const std::size_t body = table.contact_bodies[c];
    for (Index t = table.body_begin[body]; t < table.body_begin[body + 1]; ++t) add(table.touches[t].contact);
  }
  std::sort(columns.begin() + first, columns.end());
}

/// Block pattern of W; values are zero.
BlockSparseMatrix make_pattern(const BodyTouches& table, Index contacts, TaskArena* arena) {
  BlockSparseMatrix W;
  W.block_rows = W.block_columns = contacts;
  W.row_begin.assign(contacts + 1, 0);
  // A few large parts: each has its own `seen`.
  const std::size_t parts = arena == nullptr ? 1 : 4 * arena->threads();
  std::vector<std::vector<Index>> columns(parts);
  for_each_task(arena, parts, [&](std::size_t part) {
    std::vector<Index> seen(contacts, -1);
    const auto end = static_cast<Index>(contacts * (part + 1) / parts);
    for (auto i = static_cast<Index>(contacts * part / parts); i < end; ++i) {
      const Index before = count(columns[part]);
      append_neighbours(table, i, seen, columns[part]);
      W.row_begin[i + 1] = count(columns[part]) - before;
    }
  });
  std::partial_sum(W.row_begin.begin(), W.row_begin.end(), W.row_begin.begin());
  if (parts == 1) {
    W.column = std::move(columns[0]);
  } else {
    W.column.reserve(W.row_begin.back());
    for (const std::vector<Index>& part : columns) W.column.insert(W.column.end(), part.begin(), part.end());
  }
  W.values.assign(9 * W.column.size() + BlockSparseMatrix::kPadding, 0.0);
  return W;
}

/// W_ij += (W_b)_st for all touches t of body b, s being that of contact i.
void add_row(const BodyTouches& table, const BodyBlocks& blocks, Index body, Index s, Index i,
             BlockSparseMatrix& W) {
  const Index begin = table.body_begin[body];
  const double* row = blocks.row(body, s);
  Index b = W.row_begin[i];
  for (Index t = 0; t < blocks.touches(body); ++t) {
    const Index j = table.touches[begin + t].contact;
    while (W.column[b] != j) ++b;
    double* block = W.block(b);
    for (std::size_t e = 0; e < 9; ++e)
      block[e] += row[9 * static_cast<std::size_t>(t) + e];  // 9 t in 64 bits
  }
}

/// W = Σ_b W_b, row by row and by ascending bodies, so that the bits are those of the serial loop.
void add_rows(const BodyTouches& table, const BodyBlocks& blocks, BlockSparseMatrix& W, TaskArena* arena) {
  constexpr std::size_t kRows = 32;
  for_each_chunk(arena, W.block_rows, kRows, [&](std::size_t begin, std::size_t end) {
    for (auto i = static_cast<Index>(begin); i < static_cast<Index>(end); ++i) {
      for (Index c = table.contact_begin[i]; c < table.contact_begin[i + 1]; ++c) {
        const Index body = table.contact_bodies[c];
        const auto first = table.touches.begin() + table.body_begin[body];
        const auto found =
            std::lower_bound(first, table.touches.begin() + table.body_begin[body + 1], i,
                             [](const BodyTouch& touch, Index k) { return touch.contact < k; });
        add_row(table, blocks, body, static_cast<Index>(found - first), i, W);
      }
    }
  });
}

/// Adds the upper blocks of one symmetric body.
void add_body(const BodyTouches& table, const MassFactor& mass, Index body, Matrix& X, BlockSparseMatrix& W) {
  const Index begin = table.body_begin[body];
  visit_body_blocks(table, mass, body, X, [&](Index s, Index t, const Matrix3& block) {
    const Index i = table.touches[begin + s].contact;
    const Index j = table.touches[begin + t].contact;
    Eigen::Map<Matrix3>(W.block(find_block(W, i, j))) += block;
  });
}

/// Copies the upper blocks, transposed, below the diagonal.
void mirror_upper(BlockSparseMatrix& W) {
  std::vector<Index> cursor(W.row_begin.begin(), W.row_begin.end() - 1);
  for (Index i = 0; i < W.block_rows; ++i) {
    for (Index b = W.row_begin[i]; b < W.row_begin[i + 1]; ++b) {
      const Index j = W.column[b];
      // Rows are visited in ascending order, so the lower part of row j fills from the left.
      if (j > i) {
        Eigen::Map<Matrix3>(W.block(cursor[j]++)) = Eigen::Map<const Matrix3>(W.block(b)).transpose();
      }
    }
  }
}

BlockSparseMatrix blocks_with_diagonal(const SparseRows& W) {
  std::vector<Eigen::Triplet<double, Index>> missing;
  for (Index i = 0; i < W.rows(); ++i) {
    const double* found = nullptr;
    for (SparseRows::InnerIterator entry(W, i); entry && !found; ++entry) {
      if (entry.col() == i) found = &entry.value();
    }
    if (!found) missing.emplace_back(i, i, 0.0);
  }
  if (missing.empty()) return to_blocks(W);
  for (Index i = 0; i < W.rows(); ++i) {
    for (SparseRows::InnerIterator entry(W, i); entry; ++entry) {
      missing.emplace_back(i, entry.index(), entry.value());
    }
  }
  SparseRows full(W.rows(), W.cols());
  full.setFromTriplets(missing.begin(), missing.end());
  return to_blocks(full);
}

}  // namespace

bool mass_is_block_diagonal(const ContactProblem& problem) {
  const Index size = problem.node_size();
  for (Index row = 0; row < problem.M.rows(); ++row) {
    for (SparseRows::InnerIterator entry(problem.M, row); entry; ++entry) {
      if (entry.value() != 0.0 && entry.index() / size != row / size) return false;
    }
  }
  return true;
}

BlockSparseMatrix assemble_delassus(const MassFactor& mass, const DirectionRows& H, TaskArena* arena) {
  const BodyTouches table = make_body_touches(H, mass);
  if (arena != nullptr && arena->threads() == 1) arena = nullptr;
  BlockSparseMatrix W = make_pattern(table, H.contacts(), arena);
  if (arena != nullptr || !mass.is_symmetric()) {
    add_rows(table, BodyBlocks(table, mass, arena), W, arena);
    return W;
  }
  // on one thread straight into W
  Matrix X;
  for (Index body = 0; body < mass.bodies(); ++body) add_body(table, mass, body, X, W);
  mirror_upper(W);
  return W;
}

namespace {

/// q = Hᵀ M⁻¹ f + w
Vector free_velocity(const MassFactor& mass, const DirectionRows& H, const ContactProblem& problem,
                     TaskArena* arena) {
  if (!problem.has_primal()) return problem.w;
  Vector v(problem.dofs());
  mass.solve(span_of(problem.f), span_of(v), arena);
  Vector u(3 * problem.contacts());
  contact_velocities(H, span_of(std::as_const(v)), span_of(u));
  return u + problem.w;
}

}  // namespace

ReducedProblem assemble_reduced(const ContactProblem& problem, TaskArena* arena) {
  return assemble_reduced(problem, problem.node_size(), arena);
}

ReducedProblem assemble_reduced(const ContactProblem& problem, Index node_size, TaskArena* arena) {
  if (problem.has_dual()) return {blocks_with_diagonal(problem.W), problem.q};
  const DirectionRows H = make_direction_rows(problem.H, problem.contacts());
  const MassFactor mass(problem.M, node_size, H.dof, arena);
  return {assemble_delassus(mass, H, arena), free_velocity(mass, H, problem, arena)};
}

BlockSparseMatrix assemble_delassus(const ContactProblem& problem) {
  if (problem.has_dual()) return blocks_with_diagonal(problem.W);
  const MassFactor mass(problem.M, problem.node_size());
  return assemble_delassus(mass, make_direction_rows(problem.H, problem.contacts()), nullptr);
}

Vector assemble_q(const ContactProblem& problem) {
  if (problem.has_dual()) return problem.q;
  const MassFactor mass(problem.M, problem.node_size());
  return free_velocity(mass, make_direction_rows(problem.H, problem.contacts()), problem, nullptr);
}

struct DelassusOperator::Impl {
  Index contacts = 0;
  BlockSparseMatrix W;  // dual only
  std::optional<MassFactor> mass;
  DirectionRows H;
  std::vector<double> impulse;   // n
  std::vector<double> velocity;  // n
  Matrix diagonal;               // 3m×3, on first use
};

DelassusOperator::DelassusOperator(const ContactProblem& problem) : impl_(std::make_unique<Impl>()) {
  impl_->contacts = problem.contacts();
  if (problem.has_dual()) impl_->W = blocks_with_diagonal(problem.W);
  impl_->mass.emplace(problem.M, problem.node_size());
  impl_->H = make_direction_rows(problem.H, problem.contacts());
  impl_->impulse.resize(problem.dofs());
  impl_->velocity.resize(problem.dofs());
}
DelassusOperator::~DelassusOperator() = default;
DelassusOperator::DelassusOperator(DelassusOperator&&) noexcept = default;
DelassusOperator& DelassusOperator::operator=(DelassusOperator&&) noexcept = default;

Index DelassusOperator::contacts() const { return impl_->contacts; }

void DelassusOperator::apply(std::span<const double> r, std::span<double> u) const {
  SIGNORINI_DCHECK(count(r) == 3 * impl_->contacts && u.size() == r.size());
  if (impl_->contacts == 0) return;
  if (impl_->W.block_rows > 0) {
    multiply(impl_->W, r, u);
    return;
  }
  // u = Hᵀ M⁻¹ (H r)
  std::fill(impl_->impulse.begin(), impl_->impulse.end(), 0.0);
  add_impulses(impl_->H, r, impl_->impulse);
  impl_->mass->solve(impl_->impulse, impl_->velocity);
  contact_velocities(impl_->H, impl_->velocity, u);
}

Matrix3 DelassusOperator::diagonal_block(Index k) const {
  if (impl_->W.block_rows > 0) return signorini::diagonal_block(impl_->W, k);
  // Who asks for one block asks for all: they share their solves.
  if (impl_->diagonal.size() == 0)
    impl_->diagonal = delassus_diagonal(make_body_touches(impl_->H, *impl_->mass), *impl_->mass);
  return impl_->diagonal.middleRows<3>(3 * k);
}

void DelassusOperator::solve_mass(std::span<const double> b, std::span<double> v) const {
  impl_->mass->solve(b, v);
}

}  // namespace signorini
