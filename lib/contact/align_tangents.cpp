#include "contact/align_tangents.h"

#include <cmath>
#include <numbers>

#include "base/check.h"
#include "base/roots.h"
#include "contact/delassus_operator.h"
#include "linalg/block_sparse_matrix.h"

namespace signorini {

namespace {

struct Turn {
  double cosine;
  double sine;
  explicit Turn(double angle) : Turn(TangentTurn{std::cos(angle), std::sin(angle)}, +1) {}
  Turn(const TangentTurn& turn, int sign) : cosine(turn.cosine), sine(sign * turn.sine) {}

  /// (x, y) := (cos φ x + sin φ y, −sin φ x + cos φ y)
  void apply(double& x, double& y) const {
    const double turned = cosine * x + sine * y;
    y = cosine * y - sine * x;
    x = turned;
  }
};

void turn_vector(Vector& x, std::span<const double> angles) {
  if (x.size() > 0) turn_impulses(span_of(x), angles, +1);
}

/// H' = H Rᵀ: the columns T1 and T2 of a contact mix, so both take the union of their patterns.
SparseColumns turn_directions(const SparseColumns& H, std::span<const double> angles) {
  std::vector<Eigen::Triplet<double, Index>> entries;
  entries.reserve(H.nonZeros() * 5 / 3);
  for (Index column = 0; column < H.cols(); ++column) {
    const Index contact = column / 3;
    const Turn turn(angles[contact]);
    for (SparseColumns::InnerIterator entry(H, column); entry; ++entry) {
      const Index row = entry.index();
      const double h = entry.value();
      if (column % 3 == 0) {
        entries.emplace_back(row, column, h);
        continue;
      }
      double t1 = column % 3 == 1 ? h : 0.0;
      double t2 = column % 3 == 2 ? h : 0.0;
      turn.apply(t1, t2);
      entries.emplace_back(row, 3 * contact + 1, t1);
      entries.emplace_back(row, 3 * contact + 2, t2);
    }
  }
  SparseColumns turned(H.rows(), H.cols());
  turned.setFromTriplets(entries.begin(), entries.end());
  return turned;
}

/// W' = R W Rᵀ, block by block.
SparseRows turn_delassus(const SparseRows& W, std::span<const double> angles) {
  BlockSparseMatrix blocks = to_blocks(W);
  for (Index i = 0; i < blocks.block_rows; ++i) {
    const Turn left(angles[i]);
    for (Index b = blocks.row_begin[i]; b < blocks.row_begin[i + 1]; ++b) {
      const Turn right(angles[blocks.column[b]]);
      double* block = blocks.block(b);  // column-major
      for (std::size_t column = 0; column < 3; ++column)
        left.apply(block[3 * column + 1], block[3 * column + 2]);
      for (std::size_t row = 0; row < 3; ++row) right.apply(block[3 + row], block[6 + row]);
    }
  }
  return to_scalar(blocks);
}

}  // namespace

std::vector<double> aligned_angles(std::span<const double> q) {
  constexpr double kSlowest = 1e-6;   // m/s
  constexpr double kSmallest = 1e-3;  // of ‖q_k‖
  std::vector<double> angles(q.size() / 3, 0.0);
  for (std::size_t k = 0; k < angles.size(); ++k) {
    const double tangential = hypotenuse(q[3 * k + 1], q[3 * k + 2]);
    const double whole = hypotenuse(q[3 * k], tangential);
    if (tangential > kSlowest + kSmallest * whole) angles[k] = std::atan2(q[3 * k + 2], q[3 * k + 1]);
  }
  return angles;
}

std::vector<double> aligned_angles(const ContactProblem& problem) {
  const Vector q = assemble_q(problem);
  return aligned_angles(span_of(q));
}

std::vector<double> turned_angles(const LawSpec& law, std::span<const double> q) {
  SIGNORINI_CHECK(is_turned(law));
  if (is_aligned(law)) return aligned_angles(q);
  return std::vector<double>(q.size() / 3, std::numbers::pi / 4.0);
}

ContactProblem turn_tangents(const ContactProblem& problem, std::span<const double> angles) {
  SIGNORINI_CHECK(count(angles) == problem.contacts());
  ContactProblem turned = problem;
  turned.spacedim = 3;  // turned out of the plane
  if (problem.H.nonZeros() > 0) turned.H = turn_directions(problem.H, angles);
  if (problem.has_dual()) turned.W = turn_delassus(problem.W, angles);
  turn_vector(turned.w, angles);
  turn_vector(turned.q, angles);
  turn_vector(turned.warm_start, angles);
  for (Eigen::Index k = 0; k < turned.frame.rows(); ++k) {
    const Turn turn(angles[k]);
    for (Eigen::Index axis = 0; axis < 3; ++axis)
      turn.apply(turned.frame(k, 3 + axis), turned.frame(k, 6 + axis));
  }
  return turned;
}

void turn_impulses(std::span<double> r, std::span<const double> angles, int sign) {
  SIGNORINI_CHECK(r.size() == 3 * angles.size() && (sign == 1 || sign == -1));
  for (std::size_t k = 0; k < angles.size(); ++k) Turn(sign * angles[k]).apply(r[3 * k + 1], r[3 * k + 2]);
}

std::vector<TangentTurn> tangent_turns(std::span<const double> angles) {
  std::vector<TangentTurn> turns;
  turns.reserve(angles.size());
  for (const double angle : angles) turns.push_back({std::cos(angle), std::sin(angle)});
  return turns;
}

void turn_impulses(std::span<double> r, std::span<const TangentTurn> turns, int sign) {
  SIGNORINI_CHECK(r.size() == 3 * turns.size() && (sign == 1 || sign == -1));
  for (std::size_t k = 0; k < turns.size(); ++k) Turn(turns[k], sign).apply(r[3 * k + 1], r[3 * k + 2]);
}

}  // namespace signorini
