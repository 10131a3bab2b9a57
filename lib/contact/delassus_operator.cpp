#include "contact/delassus_operator.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "contact/body_touches.h"
#include "contact/delassus_blocks.h"
#include "contact/direction_rows.h"
#include "contact/mass_factor.h"

namespace signorini {

namespace {

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

BlockSparseMatrix assemble_delassus(const MassFactor& mass, const DirectionRows& H, TaskArena* arena,
                                    ColumnSolves columns) {
  return assemble_blocks(make_body_touches(H, mass), mass, arena, columns);
}

namespace {

/// Hᵀ M⁻¹ f
Vector free_velocity(const MassFactor& mass, const DirectionRows& H, const ContactProblem& problem,
                     TaskArena* arena) {
  if (!problem.has_primal()) return Vector::Zero(problem.w.size());
  Vector v(problem.dofs());
  mass.solve(span_of(problem.f), span_of(v), arena);
  Vector u(3 * problem.contacts());
  contact_velocities(H, span_of(std::as_const(v)), span_of(u));
  return u;
}

}  // namespace

ReducedProblem assemble_reduced(const ContactProblem& problem, TaskArena* arena, ColumnSolves columns) {
  return assemble_reduced(problem, problem.node_size(), arena, columns);
}

ReducedProblem assemble_reduced(const ContactProblem& problem, Index node_size, TaskArena* arena,
                                ColumnSolves columns) {
  if (problem.has_dual()) return {blocks_with_diagonal(problem.W), problem.q};
  const DirectionRows H = make_direction_rows(problem.H, problem.contacts());
  const MassFactor mass(problem.M, node_size, H.dof, problem.factors.get(), arena);
  ReducedProblem reduced;
  reduced.W = assemble_delassus(mass, H, arena, columns);
  reduced.free = free_velocity(mass, H, problem, arena);
  reduced.q = reduced.free + problem.w;
  return reduced;
}

BlockSparseMatrix assemble_delassus(const ContactProblem& problem) {
  if (problem.has_dual()) return blocks_with_diagonal(problem.W);
  const MassFactor mass(problem.M, problem.node_size());
  return assemble_delassus(mass, make_direction_rows(problem.H, problem.contacts()), nullptr);
}

Vector assemble_q(const ContactProblem& problem) {
  if (problem.has_dual()) return problem.q;
  const MassFactor mass(problem.M, problem.node_size());
  return free_velocity(mass, make_direction_rows(problem.H, problem.contacts()), problem, nullptr) +
         problem.w;
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
