#include "contact/delassus_operator.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "contact/body_touches.h"
#include "contact/direction_rows.h"
#include "contact/mass_factor.h"

namespace signorini {

namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// Block pattern of W: contacts i and j meet when they touch a common body; the diagonal is always present.
BlockSparseMatrix make_pattern(const BodyTouches& table, Index contacts) {
  BlockSparseMatrix W;
  W.block_rows = W.block_columns = contacts;
  W.row_begin.reserve(at(contacts) + 1);
  W.row_begin.push_back(0);
  std::vector<Index> seen(at(contacts), -1);
  for (Index i = 0; i < contacts; ++i) {
    const auto first = static_cast<std::ptrdiff_t>(W.column.size());
    const auto add = [&](Index j) {
      if (seen[at(j)] == i) return;
      seen[at(j)] = i;
      W.column.push_back(j);
    };
    add(i);
    for (Index c = table.contact_begin[at(i)]; c < table.contact_begin[at(i) + 1]; ++c) {
      const std::size_t body = at(table.contact_bodies[at(c)]);
      for (Index t = table.body_begin[body]; t < table.body_begin[body + 1]; ++t)
        add(table.touches[at(t)].contact);
    }
    std::sort(W.column.begin() + first, W.column.end());
    W.row_begin.push_back(static_cast<Index>(W.column.size()));
  }
  W.values.assign(9 * W.column.size() + BlockSparseMatrix::kPadding, 0.0);
  return W;
}

/// Adds H_iᵀ X_j (i ≤ j) of one body, X = M_b⁻¹ H_b.
void add_body(const BodyTouches& table, const MassFactor& mass, Index body, Matrix& X, BlockSparseMatrix& W) {
  const Index begin = table.body_begin[at(body)];
  const Index end = table.body_begin[at(body) + 1];
  for (Index first = begin; first < end; first += MassFactor::kBatch) {
    const Index count = std::min(MassFactor::kBatch, end - first);
    solve_touches(table, mass, body, first, count, X);
    for (Index t = first; t < first + count; ++t) {
      const Index j = table.touches[at(t)].contact;
      const double* column[3] = {&X(0, 3 * (t - first)), &X(0, 3 * (t - first) + 1),
                                 &X(0, 3 * (t - first) + 2)};
      for (Index s = begin; s <= t; ++s) {
        const BodyTouch& touch = table.touches[at(s)];
        double* block = W.block(find_block(W, touch.contact, j));
        for (Index e = touch.begin; e < touch.end; ++e) {
          const double* h = table.coefficient.data() + 3 * at(e);
          for (std::size_t b = 0; b < 3; ++b) {
            const double x = column[b][table.local[at(e)]];
            for (std::size_t a = 0; a < 3; ++a) block[3 * b + a] += h[a] * x;
          }
        }
      }
    }
  }
}

/// Makes the diagonal blocks symmetric and copies the upper blocks, transposed, below the diagonal.
void mirror_upper(BlockSparseMatrix& W) {
  std::vector<Index> cursor(W.row_begin.begin(), W.row_begin.end() - 1);
  for (Index i = 0; i < W.block_rows; ++i) {
    for (Index b = W.row_begin[at(i)]; b < W.row_begin[at(i) + 1]; ++b) {
      const Index j = W.column[at(b)];
      if (j < i) continue;
      Eigen::Map<Matrix3> block(W.block(b));
      if (j == i) {
        block = (0.5 * (block + block.transpose())).eval();
      } else {
        // Rows are visited in ascending order, so the lower part of row j fills from the left.
        Eigen::Map<Matrix3>(W.block(cursor[at(j)]++)) = block.transpose();
      }
    }
  }
}

BlockSparseMatrix blocks_with_diagonal(const SparseRows& W) {
  std::vector<Eigen::Triplet<double, Index>> missing;
  for (Index i = 0; i < static_cast<Index>(W.rows()); ++i) {
    const double* found = nullptr;
    for (SparseRows::InnerIterator entry(W, i); entry && !found; ++entry) {
      if (entry.col() == i) found = &entry.value();
    }
    if (!found) missing.emplace_back(i, i, 0.0);
  }
  if (missing.empty()) return to_blocks(W);
  for (Index i = 0; i < static_cast<Index>(W.rows()); ++i) {
    for (SparseRows::InnerIterator entry(W, i); entry; ++entry) {
      missing.emplace_back(i, static_cast<Index>(entry.col()), entry.value());
    }
  }
  SparseRows full(W.rows(), W.cols());
  full.setFromTriplets(missing.begin(), missing.end());
  return to_blocks(full);
}

}  // namespace

bool mass_is_block_diagonal(const ContactProblem& problem) {
  const Index size = problem.node_size();
  for (Index row = 0; row < static_cast<Index>(problem.M.rows()); ++row) {
    for (SparseRows::InnerIterator entry(problem.M, row); entry; ++entry) {
      if (entry.value() != 0.0 && static_cast<Index>(entry.col()) / size != row / size) return false;
    }
  }
  return true;
}

namespace {

BlockSparseMatrix assemble(const MassFactor& mass, const DirectionRows& H) {
  const BodyTouches table = make_body_touches(H, mass);
  BlockSparseMatrix W = make_pattern(table, H.contacts());
  Matrix X;
  for (Index body = 0; body < mass.bodies(); ++body) add_body(table, mass, body, X, W);
  mirror_upper(W);
  return W;
}

/// q = Hᵀ M⁻¹ f + w
Vector free_velocity(const MassFactor& mass, const DirectionRows& H, const ContactProblem& problem) {
  if (!problem.has_primal()) return problem.w;
  Vector v(problem.dofs());
  mass.solve(span_of(problem.f), span_of(v));
  Vector u(3 * problem.contacts());
  contact_velocities(H, span_of(std::as_const(v)), span_of(u));
  return u + problem.w;
}

}  // namespace

ReducedProblem assemble_reduced(const ContactProblem& problem) {
  return assemble_reduced(problem, problem.node_size());
}

ReducedProblem assemble_reduced(const ContactProblem& problem, Index node_size) {
  if (problem.has_dual()) return {blocks_with_diagonal(problem.W), problem.q};
  const DirectionRows H = make_direction_rows(problem.H, problem.contacts());
  const MassFactor mass(problem.M, node_size, H.dof);
  return {assemble(mass, H), free_velocity(mass, H, problem)};
}

BlockSparseMatrix assemble_delassus(const ContactProblem& problem) {
  if (problem.has_dual()) return blocks_with_diagonal(problem.W);
  const MassFactor mass(problem.M, problem.node_size());
  return assemble(mass, make_direction_rows(problem.H, problem.contacts()));
}

Vector assemble_q(const ContactProblem& problem) {
  if (problem.has_dual()) return problem.q;
  const MassFactor mass(problem.M, problem.node_size());
  return free_velocity(mass, make_direction_rows(problem.H, problem.contacts()), problem);
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
  impl_->impulse.resize(at(problem.dofs()));
  impl_->velocity.resize(at(problem.dofs()));
}
DelassusOperator::~DelassusOperator() = default;
DelassusOperator::DelassusOperator(DelassusOperator&&) noexcept = default;
DelassusOperator& DelassusOperator::operator=(DelassusOperator&&) noexcept = default;

Index DelassusOperator::contacts() const { return impl_->contacts; }

void DelassusOperator::apply(std::span<const double> r, std::span<double> u) const {
  SIGNORINI_DCHECK(r.size() == 3 * at(impl_->contacts) && u.size() == r.size());
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
  return impl_->diagonal.middleRows<3>(3 * static_cast<Eigen::Index>(k));
}

void DelassusOperator::solve_mass(std::span<const double> b, std::span<double> v) const {
  impl_->mass->solve(b, v);
}

}  // namespace signorini
