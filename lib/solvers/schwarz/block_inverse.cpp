#include "solvers/schwarz/block_inverse.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "linalg/dense_cholesky.h"
#include "linalg/dot.h"
#include "solvers/schwarz/subdomains.h"

namespace signorini {
namespace {

/// Links up to this share of the diagonal blocks are weak: subdomains grow along the others (subdomains.h).
constexpr double kStrength = 0.1;

using Square = Eigen::Map<Matrix>;

}  // namespace

bool ContactRows::operator==(const ContactRows& other) const {
  if (size != other.size) return false;
  for (int i = 0; i < size; ++i)
    if (direction[i] != other.direction[i] || added[i] != other.added[i]) return false;
  return true;
}

void ContactBlockOptions::validate(std::string_view solver) const {
  if (blocks < 0 || blocks > kMost)
    throw_usage("{}: blocks = {} is not between 0 and {}", solver, blocks, kMost);
  if (!(shift >= 0.0 && std::isfinite(shift)))
    throw_usage("{}: shift = {} must be a number of at least 0", solver, shift);
}

void BlockInverse::prepare(const BlockSparseMatrix& W, const ContactBlockOptions& options, int most_rows) {
  shift_ = options.shift;
  parts_.clear();
  if (W.block_rows > 0) {
    const Index size = std::clamp<Index>(options.blocks, 1, W.block_rows);
    const Vector no_velocity = Vector::Zero(3 * static_cast<Eigen::Index>(W.block_rows));
    Subdomains subdomains = make_subdomains(W, {size, 0, kStrength});
    for (Subdomain& from : subdomains.parts) {
      Part part;
      part.W = cut_subdomain(W, no_velocity, from).W;
      part.contacts = std::move(from.contacts);
      const std::size_t contacts = part.contacts.size(),
                        most = contacts * static_cast<std::size_t>(most_rows);
      part.rows.resize(contacts);
      part.seen.resize(contacts);
      part.begin.assign(contacts + 1, 0);
      part.factor.assign(most * most, 0.0);
      part.x.assign(most, 0.0);
      parts_.push_back(std::move(part));
    }
  }
  changed_.assign(parts_.size(), 0);
}

void BlockInverse::forget() {
  for (Part& part : parts_) part.factored = false;
}

int BlockInverse::set_rows(std::span<const ContactRows> rows, TaskArena* arena) {
  for_each_task(parts_.size() > 1 ? arena : nullptr, parts_.size(), [&](std::size_t p) {
    Part& part = parts_[p];
    changed_[p] = take_rows(part, rows) ? 1 : 0;
    if (changed_[p] != 0) factor(part);
  });
  return static_cast<int>(std::ranges::count(changed_, 1));
}

/// False where they are those of the present factor.
bool BlockInverse::take_rows(Part& part, std::span<const ContactRows> rows) const {
  bool changed = !std::exchange(part.factored, true);
  for (std::size_t i = 0; i < part.contacts.size(); ++i) {
    const ContactRows& now = rows[part.contacts[i]];
    if (!changed && part.seen[i] == now) continue;
    changed = true;
    part.seen[i] = now;
  }
  if (!changed) return false;
  for (std::size_t i = 0; i < part.contacts.size(); ++i) {
    const Matrix3 W = diagonal_block(part.W, static_cast<Index>(i));
    part.rows[i].size = 0;
    for (int a = 0; a < part.seen[i].size; ++a) {
      const Vector3& d = part.seen[i].direction[a];
      if (d.dot(W * d) > 0.0) part.rows[i].add(d, part.seen[i].added[a]);
    }
    part.begin[i + 1] = part.begin[i] + part.rows[i].size;
  }
  SIGNORINI_CHECK(static_cast<std::size_t>(part.begin.back()) <= part.x.size());
  return true;
}

/// The lower triangle of A_E.
void BlockInverse::assemble(Part& part) const {
  const Index n = part.begin.back();
  Square A(part.factor.data(), n, n);
  A.setZero();
  for (Index i = 0; i < part.W.block_rows; ++i) {
    const ContactRows& of_i = part.rows[i];
    for (Index b = part.W.row_begin[i]; b < part.W.row_begin[i + 1] && part.W.column[b] <= i; ++b) {
      const Index j = part.W.column[b];
      const ContactRows& of_j = part.rows[j];
      const Eigen::Map<const Matrix3> W(part.W.block(b));
      for (int c = 0; c < of_j.size; ++c) {
        const Vector3 column = W * of_j.direction[c];
        for (int a = i == j ? c : 0; a < of_i.size; ++a)
          A(part.begin[i] + a, part.begin[j] + c) = of_i.direction[a].dot(column);
      }
    }
    for (int a = 0; a < of_i.size; ++a) {
      double& diagonal = A(part.begin[i] + a, part.begin[i] + a);
      diagonal = (1.0 + shift_) * diagonal + of_i.added[a];
    }
  }
}

void BlockInverse::factor(Part& part) const {
  const Index n = part.begin.back();
  assemble(part);
  Square A(part.factor.data(), n, n);
  if (cholesky_in_order(A)) return;
  assemble(part);
  for (Index j = 0; j < n; ++j) {
    A(j, j) = std::sqrt(A(j, j));
    A.col(j).tail(n - j - 1).setZero();
  }
}

/// x ← A_E⁻¹ x.
void BlockInverse::solve(Part& part) {
  const std::size_t n = part.begin.back();
  const std::span<double> x = std::span<double>(part.x).first(n);
  const std::span<const double> factor(part.factor);
  for (std::size_t j = 0; j < n; ++j) {
    const double* L = factor.data() + n * j;
    const double xj = x[j] /= L[j];
    for (std::size_t i = j + 1; i < n; ++i) x[i] -= L[i] * xj;
  }
  for (std::size_t j = n; j-- > 0;) {
    const std::span<const double> L = factor.subspan(n * j, n);
    x[j] = (x[j] - dot(L.subspan(j + 1), x.subspan(j + 1))) / L[j];
  }
}

void BlockInverse::apply(std::span<const double> x, std::span<double> y, TaskArena* arena) {
  for_each_task(parts_.size() > 1 ? arena : nullptr, parts_.size(), [&](std::size_t p) {
    Part& part = parts_[p];
    for (std::size_t i = 0; i < part.contacts.size(); ++i) {
      const Eigen::Map<const Vector3> from(x.data() + 3 * static_cast<std::size_t>(part.contacts[i]));
      for (int a = 0; a < part.rows[i].size; ++a)
        part.x[part.begin[i] + a] = part.rows[i].direction[a].dot(from);
    }
    solve(part);
    for (std::size_t i = 0; i < part.contacts.size(); ++i) {
      Eigen::Map<Vector3> to(y.data() + 3 * static_cast<std::size_t>(part.contacts[i]));
      to.setZero();
      for (int a = 0; a < part.rows[i].size; ++a) to += part.x[part.begin[i] + a] * part.rows[i].direction[a];
    }
  });
}

}  // namespace signorini
