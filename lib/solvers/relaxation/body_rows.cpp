#include "solvers/relaxation/body_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/check.h"
#include "contact/body_touches.h"
#include "contact/direction_rows.h"
#include "contact/mass_factor.h"
#include "linalg/connected_components.h"

namespace signorini {

namespace {

/// A body of so many dofs, and one of them; nothing where all are small.
std::optional<std::pair<Index, Index>> large_body(const ContactProblem& problem) {
  const Index size = problem.node_size();
  const Components bodies = connected_components(problem.M, size);
  std::vector<Index> dofs(bodies.count, 0);
  for (const Index body : bodies.label) dofs[body] += size;
  for (Index node = 0; node < count(bodies.label); ++node) {
    if (dofs[bodies.label[node]] > MassFactor::kDenseBody)
      return std::pair(node * size, dofs[bodies.label[node]]);
  }
  return std::nullopt;
}

Index slots_of(std::size_t dofs) { return static_cast<Index>((dofs + 2) / 3); }

/// Blocks that J and P hold, and those of W, from the bodies that every contact touches.
class BlocksToRead {
 public:
  explicit BlocksToRead(const ContactProblem& problem) {
    const Index size = problem.node_size();
    const Components bodies = connected_components(problem.M, size);
    std::vector<Index> dofs(bodies.count, 0), touches(bodies.count, 0);
    for (const Index body : bodies.label) dofs[body] += size;
    for (Index contact = 0; contact < problem.contacts(); ++contact) {
      find_bodies(problem, bodies, size, contact);
      for (const Index body : touched_) ++touches[body];
      if (touched_.size() == 2) pairs_.emplace_back(std::minmax(touched_[0], touched_[1]));
    }
    for (std::size_t b = 0; b < dofs.size(); ++b) {
      const double touching = touches[b];
      own += 2.0 * touching * slots_of(dofs[b]);
      delassus += touching * touching;
      largest_body = std::max(largest_body, dofs[b]);
    }
  }

  /// Whether J and P are fewer. Contacts that share two bodies have one block, which `delassus` counts twice: these are
  /// counted where they decide.
  bool own_are_fewer() {
    if (own >= delassus) return false;
    if (own < 0.5 * delassus) return true;
    std::ranges::sort(pairs_);
    double twice = 0.0;
    for (std::size_t k = 0; k < pairs_.size();) {
      const std::size_t first = k;
      while (k < pairs_.size() && pairs_[k] == pairs_[first]) ++k;
      const auto shared = static_cast<double>(k - first);
      twice += shared * shared;
    }
    return own < delassus - twice;
  }

  double own = 0.0, delassus = 0.0;  ///< the latter from above
  Index largest_body = 0;            ///< dofs

 private:
  void find_bodies(const ContactProblem& problem, const Components& bodies, Index size, Index contact) {
    touched_.clear();
    for (Index column = 3 * contact; column < 3 * contact + 3; ++column) {
      for (SparseColumns::InnerIterator entry(problem.H, column); entry; ++entry) {
        const Index body = bodies.label[entry.index() / size];
        if (std::ranges::find(touched_, body) == touched_.end()) touched_.push_back(body);
      }
    }
  }

  std::vector<Index> touched_;                  ///< by one contact
  std::vector<std::pair<Index, Index>> pairs_;  ///< bodies of the contacts that touch two
};

/// Writes the rows contact by contact.
class BodyRowsBuilder {
 public:
  BodyRowsBuilder(const ContactProblem& problem, const DirectionRows& H)
      : mass_(problem.M, problem.node_size(), H.dof), table_(make_body_touches(H, mass_)) {
    number_slots();
    rows_.w = problem.w;
    rows_.J.block_rows = problem.contacts();
    rows_.J.block_columns = slots_;
    rows_.J.row_begin.assign(1, 0);
    set_free(problem);
  }

  BodyRows build() {
    next_.assign(table_.body_begin.begin(), table_.body_begin.end() - 1);
    rows_.diagonal.assign(rows_.J.block_rows, Matrix3::Zero());
    for (Index k = 0; k < rows_.J.block_rows; ++k) {
      for (Index c = table_.contact_begin[k]; c < table_.contact_begin[k + 1]; ++c)
        add(k, table_.contact_bodies[c]);
      rows_.J.row_begin.push_back(count(rows_.J.column));
    }
    pad();
    return std::move(rows_);
  }

 private:
  /// Slots of touched bodies: the first of each, −1 for the others.
  void number_slots() {
    first_.assign(mass_.bodies(), -1);
    for (Index body = 0; body < mass_.bodies(); ++body) {
      if (table_.body_begin[body] == table_.body_begin[body + 1]) continue;
      first_[body] = slots_;
      slots_ += slots_of(mass_.dofs(body).size());
    }
  }

  void set_free(const ContactProblem& problem) {
    rows_.free.assign(3 * static_cast<std::size_t>(slots_), 0.0);
    rows_.workspace = rows_.free;
    std::vector<double> v(problem.dofs());
    mass_.solve(span_of(problem.f), v);
    for (Index body = 0; body < mass_.bodies(); ++body) {
      if (first_[body] < 0) continue;
      double* own = rows_.free.data() + 3 * static_cast<std::size_t>(first_[body]);
      for (const Index dof : mass_.dofs(body)) *own++ = v[dof];
    }
  }

  /// The blocks of contact k on one body; contacts ascend within a body.
  void add(Index k, Index body) {
    const Index t = next_[body]++;
    const BodyTouch& touch = table_.touches[t];
    solve_touches(table_, mass_, body, t, 1, X_);
    const std::size_t begin = rows_.J.values.size(), own = slots_of(mass_.dofs(body).size());
    for (std::size_t s = 0; s < own; ++s) rows_.J.column.push_back(first_[body] + static_cast<Index>(s));
    rows_.J.values.resize(begin + 9 * own, 0.0);
    rows_.response.resize(begin + 9 * own, 0.0);
    double* J = rows_.J.values.data() + begin;
    double* P = rows_.response.data() + begin;
    for (std::size_t e = touch.begin; e < static_cast<std::size_t>(touch.end); ++e) {
      const std::size_t dof = table_.local[e];
      for (std::size_t a = 0; a < 3; ++a)
        J[9 * (dof / 3) + 3 * (dof % 3) + a] = table_.coefficient[3 * e + a];
    }
    for (Eigen::Index i = 0; i < X_.rows(); ++i) {
      for (Eigen::Index a = 0; a < 3; ++a) P[9 * (i / 3) + 3 * a + i % 3] = X_(i, a);
    }
    Matrix3 block = Matrix3::Zero();
    for (std::size_t s = 0; s < own; ++s)
      block += Eigen::Map<const Matrix3>(J + 9 * s) * Eigen::Map<const Matrix3>(P + 9 * s);
    if (mass_.is_symmetric(body)) block = (0.5 * (block + block.transpose())).eval();
    rows_.diagonal[k] += block;
  }

  void pad() {
    rows_.J.values.resize(rows_.J.values.size() + BlockSparseMatrix::kPadding, 0.0);
    rows_.response.resize(rows_.J.values.size(), 0.0);
  }

  MassFactor mass_;
  BodyTouches table_;
  Index slots_ = 0;
  std::vector<Index> first_, next_;
  Matrix X_;
  BodyRows rows_;
};

}  // namespace

std::string body_rows_refusal(const ContactProblem& problem) {
  if (problem.has_dual() || !problem.has_primal())
    return "needs M and H, and the problem holds no M or a W beside it";
  if (const auto large = large_body(problem)) {
    return fmt::format("needs bodies of at most {} dofs, and that of dof {} has {}", MassFactor::kDenseBody,
                       large->first, large->second);
  }
  return "";
}

bool takes_body_rows(const ContactProblem& problem, SweepMatrix matrix) {
  if (matrix == SweepMatrix::delassus) return false;
  if (matrix == SweepMatrix::bodies) return true;
  if (problem.has_dual() || !problem.has_primal()) return false;
  BlocksToRead blocks(problem);
  return blocks.largest_body <= MassFactor::kDenseBody && blocks.own_are_fewer();
}

double delassus_blocks_at_most(const ContactProblem& problem) { return BlocksToRead(problem).delassus; }

BodyRows make_body_rows(const ContactProblem& problem) {
  return BodyRowsBuilder(problem, make_direction_rows(problem.H, problem.contacts())).build();
}

namespace {

/// v += P r
void add_responses(const BodyRows& rows, std::span<const double> r, std::span<double> v) {
  const BlockSparseMatrix& J = rows.J;
  for (Index k = 0; k < J.block_rows; ++k) {
    const double* rk = r.data() + 3 * static_cast<std::size_t>(k);
    if (rk[0] == 0.0 && rk[1] == 0.0 && rk[2] == 0.0) continue;
    for (Index b = J.row_begin[k]; b < J.row_begin[k + 1]; ++b) {
      const double* p = rows.response.data() + 9 * static_cast<std::size_t>(b);
      double* own = v.data() + 3 * static_cast<std::size_t>(J.column[b]);
      for (std::size_t i = 0; i < 3; ++i) own[i] += p[i] * rk[0] + p[3 + i] * rk[1] + p[6 + i] * rk[2];
    }
  }
}

}  // namespace

void BodyRows::velocities(std::span<const double> r, std::span<double> v) const {
  std::copy(free.begin(), free.end(), v.begin());
  add_responses(*this, r, v);
}

void BodyRows::responses(std::span<const double> r, std::span<double> v) const {
  std::fill(v.begin(), v.end(), 0.0);
  add_responses(*this, r, v);
}

void BodyRows::relative_velocities(std::span<const double> r, std::span<double> u, TaskArena* arena) const {
  velocities(r, workspace);
  multiply(arena, J, workspace, u);
}

std::vector<Index> rows_begin_in_order(std::span<const Index> row_begin, std::span<const Index> order) {
  std::vector<Index> begin{0};
  begin.reserve(row_begin.size());
  for (const Index k : order) begin.push_back(begin.back() + row_begin[k + 1] - row_begin[k]);
  return begin;
}

BodyRows in_order(BodyRows rows, std::span<const Index> order, TaskArena* arena) {
  BodyRows result;
  result.free = std::move(rows.free);
  result.workspace = std::move(rows.workspace);
  result.w.resize(rows.w.size());
  result.diagonal.resize(rows.diagonal.size());
  result.response.resize(rows.response.size());
  BlockSparseMatrix& J = result.J;
  J.block_rows = rows.J.block_rows;
  J.block_columns = rows.J.block_columns;
  J.row_begin = rows_begin_in_order(rows.J.row_begin, order);
  J.column.resize(rows.J.column.size());
  J.values.resize(rows.J.values.size());
  for_each_chunk(arena, order.size(), kRowsOfATask, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Index k = order[i], from = rows.J.row_begin[k], to = J.row_begin[i];
      const Index blocks = rows.J.row_begin[k + 1] - from;
      std::copy_n(rows.J.column.begin() + from, blocks, J.column.begin() + to);
      std::copy_n(rows.J.block(from), 9 * blocks, J.block(to));
      std::copy_n(rows.response.data() + 9 * static_cast<std::ptrdiff_t>(from), 9 * blocks,
                  result.response.data() + 9 * static_cast<std::ptrdiff_t>(to));
      const auto at = 3 * static_cast<Index>(i);
      result.w.segment<3>(at) = rows.w.segment<3>(3 * k);
      result.diagonal[i] = rows.diagonal[k];
    }
  });
  return result;
}

}  // namespace signorini
