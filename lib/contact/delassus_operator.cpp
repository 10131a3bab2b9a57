#include "contact/delassus_operator.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <vector>

#include "base/check.h"
#include "contact/delassus_diagonal.h"
#include "contact/direction_rows.h"
#include "contact/mass_factor.h"

namespace signorini {

namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// The rows of H that one contact owns on one mechanical body.
struct Touch {
  Index contact = 0;
  std::size_t begin = 0;  // range of entries
  std::size_t end = 0;
};

/// H grouped by mechanical bodies: contacts of a body ascending, entries with local dof numbers.
struct TouchTable {
  std::vector<Index> local;           // per entry
  std::vector<double> coefficient;    // 3 per entry
  std::vector<Touch> touches;         // by body
  std::vector<Index> body_begin;      // bodies + 1 offsets into touches
  std::vector<Index> contact_begin;   // contacts + 1 offsets into contact_bodies
  std::vector<Index> contact_bodies;  // ascending within a contact
};

TouchTable make_touch_table(const DirectionRows& H, const MassFactor& mass) {
  TouchTable table;
  table.local.reserve(H.dof.size());
  table.coefficient.reserve(H.coefficient.size());
  table.body_begin.assign(at(mass.bodies()) + 1, 0);
  table.contact_begin.push_back(0);
  std::vector<std::pair<Touch, Index>> found;  // with its body, by contact
  std::vector<std::size_t> order;
  for (Index k = 0; k < H.contacts(); ++k) {
    order.resize(at(H.begin[at(k) + 1] - H.begin[at(k)]));
    std::iota(order.begin(), order.end(), at(H.begin[at(k)]));
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return mass.body_of(H.dof[a]) < mass.body_of(H.dof[b]);
    });
    Index last = -1;
    for (const std::size_t e : order) {
      const Index body = mass.body_of(H.dof[e]);
      if (body != last) {
        found.push_back({Touch{k, table.local.size(), 0}, body});
        table.contact_bodies.push_back(body);
        ++table.body_begin[at(body) + 1];
        last = body;
      }
      table.local.push_back(mass.local(H.dof[e]));
      table.coefficient.insert(table.coefficient.end(), {H.coefficient[3 * e], H.coefficient[3 * e + 1], H.coefficient[3 * e + 2]});
      found.back().first.end = table.local.size();
    }
    table.contact_begin.push_back(static_cast<Index>(table.contact_bodies.size()));
  }
  std::partial_sum(table.body_begin.begin(), table.body_begin.end(), table.body_begin.begin());
  table.touches.resize(found.size());
  std::vector<Index> cursor(table.body_begin.begin(), table.body_begin.end() - 1);
  for (const auto& [touch, body] : found) table.touches[at(cursor[at(body)]++)] = touch;
  return table;
}

/// Block pattern of W: contacts i and j meet when they touch a common body; the diagonal is always present.
BlockSparseMatrix make_pattern(const TouchTable& table, Index contacts) {
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
      for (Index t = table.body_begin[body]; t < table.body_begin[body + 1]; ++t) add(table.touches[at(t)].contact);
    }
    std::sort(W.column.begin() + first, W.column.end());
    W.row_begin.push_back(static_cast<Index>(W.column.size()));
  }
  W.values.assign(9 * W.column.size() + BlockSparseMatrix::kPadding, 0.0);
  return W;
}

/// Adds H_iᵀ X_j (i ≤ j) of one body, X = M_b⁻¹ H_b.
void add_body(const TouchTable& table, const MassFactor& mass, Index body, std::vector<double>& X, BlockSparseMatrix& W) {
  const std::size_t size = mass.dofs(body).size();
  const Index begin = table.body_begin[at(body)];
  const Index end = table.body_begin[at(body) + 1];
  for (Index t = begin; t < end; ++t) {
    const Touch& touch_j = table.touches[at(t)];
    X.assign(3 * size, 0.0);
    for (std::size_t e = touch_j.begin; e < touch_j.end; ++e) {
      for (std::size_t a = 0; a < 3; ++a) X[a * size + at(table.local[e])] = table.coefficient[3 * e + a];
    }
    mass.solve_body(body, X, 3);
    for (Index s = begin; s <= t; ++s) {
      const Touch& touch_i = table.touches[at(s)];
      double* block = W.block(find_block(W, touch_i.contact, touch_j.contact));
      for (std::size_t e = touch_i.begin; e < touch_i.end; ++e) {
        const double* h = table.coefficient.data() + 3 * e;
        for (std::size_t b = 0; b < 3; ++b) {
          const double x = X[b * size + at(table.local[e])];
          for (std::size_t a = 0; a < 3; ++a) block[3 * b + a] += h[a] * x;
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

BlockSparseMatrix assemble_delassus(const ContactProblem& problem) {
  if (problem.has_dual()) return blocks_with_diagonal(problem.W);
  const MassFactor mass(problem.M, problem.node_size());
  const DirectionRows H = make_direction_rows(problem.H, problem.contacts());
  const TouchTable table = make_touch_table(H, mass);
  BlockSparseMatrix W = make_pattern(table, problem.contacts());
  std::vector<double> X;
  for (Index body = 0; body < mass.bodies(); ++body) add_body(table, mass, body, X, W);
  mirror_upper(W);
  return W;
}

Vector assemble_q(const ContactProblem& problem) {
  if (problem.has_dual()) return problem.q;
  if (!problem.has_primal()) return problem.w;
  const MassFactor mass(problem.M, problem.node_size());
  Vector v(problem.dofs());
  mass.solve(span_of(problem.f), span_of(v));
  return problem.H.transpose() * v + problem.w;
}

struct DelassusOperator::Impl {
  Index contacts = 0;
  BlockSparseMatrix W;  // dual only
  std::optional<MassFactor> mass;
  DirectionRows H;
  std::vector<double> impulse;   // n
  std::vector<double> velocity;  // n
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
  return delassus_diagonal_block(impl_->H, *impl_->mass, k);
}

void DelassusOperator::solve_mass(std::span<const double> b, std::span<double> v) const {
  impl_->mass->solve(b, v);
}

}  // namespace signorini
