#include "solvers/global_newton/contact_matrix.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "linalg/connected_components.h"

namespace signorini {

namespace {

/// Order from which a symmetric K takes a Cholesky factor, whose supernodes pay there and which allocates.
constexpr Index kLargestLu = 600;

}  // namespace

void ContactMatrix::prepare(const PrimalSystem& system, Symmetry symmetry) {
  system_ = &system;
  symmetry_ = symmetry;
  number_nodes();
  gather_nodes();
  build_pattern();
  copy_mass();
  place_contacts();
  work_.assign(order(), 0.0);
  cholesky_.reset();
  definite_pattern_.reset();
  if (symmetry_ == Symmetry::positive_definite && order() > kLargestLu) {
    // columns read as rows: the pattern and the values are symmetric
    definite_ = SparseRows(K_.transpose());
    definite_pattern_.emplace(definite_);
    return;
  }
  if (!lu_.analyse(K_))
    throw_input("the velocities of {} contacts: the pattern of M + H C Hᵀ cannot be factored",
                system.contacts());
  lu_.choose_pivots(K_);  // those of M
}

/// Node blocks of bodies (components of M) that a contact touches.
void ContactMatrix::number_nodes() {
  const Components bodies = connected_components(system_->M);
  std::vector<char> touched(bodies.count, 0);
  for (const Index dof : system_->H.dof) touched[bodies.label[dof / 3]] = 1;
  kept_.clear();
  place_.assign(system_->M.block_rows, -1);
  for (Index i = 0; i < count(place_); ++i) {
    if (touched[bodies.label[i]] == 0) continue;
    place_[i] = count(kept_);
    kept_.push_back(i);
  }
}

/// The rows of H by contact and node block.
void ContactMatrix::gather_nodes() {
  const DirectionRows& H = system_->H;
  begin_.assign(1, 0);
  node_.clear();
  direction_.clear();
  for (Index k = 0; k < H.contacts(); ++k) {
    for (Index e = H.begin[k]; e < H.begin[k + 1]; ++e) {
      const Index node = place_[H.dof[e] / 3];
      if (count(node_) == begin_[k] || node_.back() != node) {
        node_.push_back(node);
        direction_.emplace_back(Matrix3::Zero());
      }
      direction_.back().row(H.dof[e] % 3) =
          Eigen::Map<const Vector3>(H.coefficient.data() + 3 * e).transpose();
    }
    begin_.push_back(count(node_));
  }
}

void ContactMatrix::build_pattern() {
  const BlockSparseMatrix& M = system_->M;
  std::vector<std::vector<Index>> neighbours(kept_.size());
  for (Index j = 0; j < count(kept_); ++j) {
    for (Index b = M.row_begin[kept_[j]]; b < M.row_begin[kept_[j] + 1]; ++b) {
      neighbours[j].push_back(place_[M.column[b]]);
      neighbours[place_[M.column[b]]].push_back(j);  // where rounding left a zero on one side only
    }
  }
  for (Index k = 0; k + 1 < count(begin_); ++k) {
    for (Index e = begin_[k]; e < begin_[k + 1]; ++e)
      neighbours[node_[e]].insert(neighbours[node_[e]].end(), node_.begin() + begin_[k],
                                  node_.begin() + begin_[k + 1]);
  }
  row_begin_.assign(1, 0);
  row_.clear();
  for (std::vector<Index>& rows : neighbours) {
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    row_.insert(row_.end(), rows.begin(), rows.end());
    row_begin_.push_back(count(row_));
  }
  if (row_.size() > std::numeric_limits<Index>::max() / 9)
    throw_input("M + H C Hᵀ has {} blocks of 3×3, more than its 32-bit indices can number", row_.size());
  const Index order = 3 * count(kept_);
  K_.resize(order, order);
  K_.resizeNonZeros(9 * count(row_));
  Index place = 0;
  for (Index j = 0; j < count(kept_); ++j) {
    for (Index c = 0; c < 3; ++c) {
      K_.outerIndexPtr()[3 * j + c] = place;
      for (Index b = row_begin_[j]; b < row_begin_[j + 1]; ++b) {
        for (Index a = 0; a < 3; ++a) K_.innerIndexPtr()[place++] = 3 * row_[b] + a;
      }
    }
  }
  K_.outerIndexPtr()[order] = place;
}

/// Number of the block (row, column) in `row_`.
std::size_t ContactMatrix::offset(Index row, Index column) const {
  const auto first = row_.begin() + row_begin_[column], last = row_.begin() + row_begin_[column + 1];
  const auto found = std::lower_bound(first, last, row);
  SIGNORINI_DCHECK(found != last && *found == row);
  return static_cast<std::size_t>(found - row_.begin());
}

namespace {

/// A 3×3 block of a matrix whose columns are stored one after the other: columns `stride` numbers apart.
using BlockOfColumns = Eigen::Map<Matrix3, 0, Eigen::OuterStride<>>;

}  // namespace

void ContactMatrix::copy_mass() {
  const BlockSparseMatrix& M = system_->M;
  mass_.assign(K_.nonZeros(), 0.0);
  for (const Index node : kept_) {
    const Index i = place_[node];
    for (Index b = M.row_begin[node]; b < M.row_begin[node + 1]; ++b) {
      const Index j = place_[M.column[b]];
      const Index stride = 3 * (row_begin_[j + 1] - row_begin_[j]);
      const std::size_t start =
          9 * static_cast<std::size_t>(row_begin_[j]) + 3 * (offset(i, j) - row_begin_[j]);
      BlockOfColumns(mass_.data() + start, Eigen::OuterStride<>(stride)) =
          Eigen::Map<const Matrix3>(M.block(b));
    }
  }
  std::copy(mass_.begin(), mass_.end(), K_.valuePtr());
}

void ContactMatrix::place_contacts() {
  pair_begin_.assign(1, 0);
  pair_.clear();
  for (Index k = 0; k + 1 < count(begin_); ++k) {
    for (Index e = begin_[k]; e < begin_[k + 1]; ++e) {
      for (Index d = begin_[k]; d < begin_[k + 1]; ++d)
        pair_.push_back(static_cast<Index>(offset(node_[d], node_[e])));
    }
    pair_begin_.push_back(pair_.size());
  }
}

/// Contact by contact, so that the order of sums is fixed.
void ContactMatrix::assemble(std::span<const Matrix3> C) {
  double* value = K_.valuePtr();
  std::copy(mass_.begin(), mass_.end(), value);
  for (Index k = 0; k + 1 < count(begin_); ++k) {
    if (C[k].isZero(0.0)) continue;
    const Index* pair = pair_.data() + pair_begin_[k];
    for (Index e = begin_[k]; e < begin_[k + 1]; ++e) {
      const Matrix3 right = C[k] * direction_[e].transpose();
      const Index j = node_[e];
      const Index stride = 3 * (row_begin_[j + 1] - row_begin_[j]);
      double* column = value + 9 * static_cast<std::size_t>(row_begin_[j]);
      for (Index d = begin_[k]; d < begin_[k + 1]; ++d, ++pair) {
        BlockOfColumns block(column + 3 * (*pair - row_begin_[j]), Eigen::OuterStride<>(stride));
        block.noalias() += direction_[d] * right;
      }
    }
  }
}

bool ContactMatrix::factor(std::span<const Matrix3> C) {
  assemble(C);
  return definite_pattern_ ? factor_definite() : lu_.factor(K_);
}

bool ContactMatrix::factor_definite() {
  // the upper triangle of C's blocks may differ from the lower one by rounding; the factor reads one of them
  std::copy_n(K_.valuePtr(), K_.nonZeros(), definite_.valuePtr());
  try {
    cholesky_.emplace(definite_, &*definite_pattern_);
  } catch (const InputError&) {
    cholesky_.reset();
  }
  return cholesky_.has_value();
}

void ContactMatrix::solve(std::span<const double> b, std::span<double> x) {
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    for (std::size_t a = 0; a < 3; ++a) work_[3 * i + a] = b[3 * static_cast<std::size_t>(kept_[i]) + a];
  }
  if (definite_pattern_) {
    cholesky_->solve(work_, work_);
  } else {
    lu_.solve(work_, work_);
  }
  std::fill(x.begin(), x.end(), 0.0);
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    for (std::size_t a = 0; a < 3; ++a) x[3 * static_cast<std::size_t>(kept_[i]) + a] = work_[3 * i + a];
  }
}

}  // namespace signorini
