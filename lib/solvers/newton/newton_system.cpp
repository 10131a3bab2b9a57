#include "solvers/newton/newton_system.h"

#include <algorithm>
#include <cmath>

#include "solvers/contact_error.h"

namespace signorini {

namespace {

Eigen::Map<const Vector3> block_of(std::span<const double> x, Index k) {
  return Eigen::Map<const Vector3>(x.data() + 3 * static_cast<std::size_t>(k));
}
Eigen::Map<Vector3> block_of(std::span<double> x, Index k) {
  return Eigen::Map<Vector3>(x.data() + 3 * static_cast<std::size_t>(k));
}

}  // namespace

void NewtonSystem::prepare(const GaussSeidelData& data) {
  data_ = &data;
  const std::size_t m = data.contact.size();
  root_.assign(m, 0.0);
  inverse_root_.assign(m, 0.0);
  normal_.assign(m, 0.0);
  tangent_.assign(m, 0.0);
  largest_root_ = 0.0;
  for (std::size_t k = 0; k < m; ++k) {
    const Matrix3& D = data.diagonal[k];
    if (!(D(0, 0) > 0.0)) continue;
    const double s = std::max(D.trace() / 3.0, D(0, 0) / 3.0);
    root_[k] = std::sqrt(s);
    inverse_root_[k] = 1.0 / root_[k];
    largest_root_ = std::max(largest_root_, root_[k]);
    normal_[k] = D(0, 0) / s;
    tangent_[k] = std::max(0.0, data.tangent_inverse_mass[k]) / s;
  }
  for (std::vector<double>* x : {&impulse_, &velocity_, &right_}) x->assign(3 * m, 0.0);
  piece_.assign(m, {});
  closed_.clear();
  closed_.reserve(m);
  closed_before_.clear();
  closed_before_.reserve(m);
  number_.assign(m, -1);
  next_.assign(m, 0);
  column_begin_.assign(3 * m + 1, 0);
  if (contacts() <= kSmall) make_room(9 * data.W.column.size());
  lu_.reserve(static_cast<Index>(3 * m));
  analysed_ = false;
}

void NewtonSystem::make_room(std::size_t entries) {
  if (row_.size() >= entries) return;
  row_.resize(entries);
  value_.resize(entries);
}

void NewtonSystem::begin(double velocity_scale) {
  scale_ = largest_root_ > 0.0 ? velocity_scale / largest_root_ : velocity_scale;
  flops_ = 0.0;
  factorisations_ = 0;
  std::fill(number_.begin(), number_.end(), Index{-1});
  immovable_ = 0.0;
  for (const Index k : data_->fixed) immovable_ = std::max(immovable_, -data_->q[3 * k]);
}

void NewtonSystem::to_unit_free(std::span<const double> r, std::span<double> x) const {
  for (Index k = 0; k < contacts(); ++k) block_of(x, k) = block_of(r, k) * (root_[k] / scale_);
}

void NewtonSystem::to_impulses(std::span<const double> x, std::span<double> r) const {
  for (Index k = 0; k < contacts(); ++k) block_of(r, k) = block_of(x, k) * (inverse_root_[k] * scale_);
}

void NewtonSystem::product(std::span<const double> x, std::span<double> y) {
  to_impulses(x, impulse_);
  multiply(data_->W, impulse_, velocity_);
  for (Index k = 0; k < contacts(); ++k)
    block_of(y, k) = block_of(std::span<const double>(velocity_), k) * per_velocity(k);
}

void NewtonSystem::velocity(std::span<const double> x, std::span<double> y) {
  product(x, y);
  for (Index k = 0; k < contacts(); ++k) block_of(y, k) += data_->q.segment<3>(3 * k) * per_velocity(k);
}

/// y_k/u_k.
double NewtonSystem::per_velocity(Index k) const {
  return (root_[k] > 0.0 ? inverse_root_[k] : 1.0) / scale_;
}

ContactSteps NewtonSystem::steps(Index k, double shift) const {
  const double tangent = tangent_[k] > 0.0 ? 1.0 / (tangent_[k] + shift) : 0.0;
  return {1.0 / (normal_[k] + shift), tangent};
}

NewtonSystem::Size NewtonSystem::residual(std::span<const double> x, std::span<const double> y,
                                          double shift) const {
  Size size;
  with_law(data_->law, [&](auto law) {
    double largest = 0.0;
    for (Index k = 0; k < contacts(); ++k) {
      if (!(root_[k] > 0.0)) continue;
      const Vector3 F =
          contact_residual<decltype(law)>(data_->mu[k], steps(k, shift), block_of(x, k), block_of(y, k));
      const double squares = F.squaredNorm();
      size.squares += squares;
      if (!(squares <= largest)) largest = squares;  // keeps a NaN
    }
    size.largest = std::sqrt(largest) + 0.0 * size.squares;
  });
  return size;
}

double NewtonSystem::error(std::span<const double> x, std::span<const double> y) const {
  double largest = 0.0, poison = 0.0;
  for (Index k = 0; k < contacts(); ++k) {
    if (!(root_[k] > 0.0)) continue;
    const Vector3 r = block_of(x, k) * (inverse_root_[k] * scale_);
    const Vector3 u = block_of(y, k) * (root_[k] * scale_);
    const InverseMass inverse_mass{data_->diagonal[k](0, 0), std::max(0.0, data_->tangent_inverse_mass[k])};
    const double error = contact_error(data_->law, inverse_mass, data_->mu[k], r.data(), u.data());
    poison += 0.0 * error;
    largest = std::max(largest, error);
  }
  return largest + poison;
}

/// Which contacts are closed, and how many of them were not, or no longer are.
void NewtonSystem::find_closed() {
  state_changes_ = 0;
  closed_.clear();
  for (Index k = 0; k < contacts(); ++k) {
    const bool was_closed = number_[k] >= 0, closed = root_[k] > 0.0 && !piece_[k].open;
    number_[k] = closed ? count(closed_) : -1;
    if (closed) closed_.push_back(k);
    if (was_closed != closed) ++state_changes_;
  }
}

bool NewtonSystem::same_pattern() const { return analysed_ && closed_ == closed_before_; }

/// Where the columns begin: three for each closed contact, with three entries for each closed contact that it shares a
/// block of W with.
void NewtonSystem::count_columns() {
  std::fill_n(next_.begin(), closed_.size(), Index{0});
  for (const Index k : closed_) {
    for (Index b = data_->W.row_begin[k]; b < data_->W.row_begin[k + 1]; ++b) {
      const Index column = number_[data_->W.column[b]];
      if (column >= 0) ++next_[column];
    }
  }
  column_begin_[0] = 0;
  for (std::size_t j = 0; j < closed_.size(); ++j) {
    for (std::size_t i = 0; i < 3; ++i)
      column_begin_[3 * j + i + 1] = column_begin_[3 * j + i] + 3 * next_[j];
    next_[j] = 0;
  }
  make_room(column_begin_[3 * closed_.size()]);
}

/// The matrix, row blocks in ascending order.
void NewtonSystem::assemble(double alpha) {
  const BlockSparseMatrix& W = data_->W;
  count_columns();
  for (std::size_t i = 0; i < closed_.size(); ++i) {
    const Index k = closed_[i];
    const ContactPiece& piece = piece_[k];
    for (Index b = W.row_begin[k]; b < W.row_begin[k + 1]; ++b) {
      const Index l = W.column[b], column = number_[l];
      if (column < 0) continue;
      const double unit_free = inverse_root_[k] * inverse_root_[l];
      Matrix3 entry = piece.by_u * (Eigen::Map<const Matrix3>(W.block(b)) * unit_free);
      if (l == k) entry += alpha * piece.by_u + piece.by_r;
      const Index place = 3 * next_[column]++;
      for (Index j = 0; j < 3; ++j) {
        const Index at = column_begin_[3 * column + j] + place;
        for (Index row = 0; row < 3; ++row) {
          row_[at + row] = static_cast<Index>(3 * i) + row;
          value_[at + row] = entry(row, j);
        }
      }
    }
  }
}

Eigen::Map<const SparseColumns> NewtonSystem::matrix() const {
  const Index n = 3 * closed();
  return {n, n, column_begin_[n], column_begin_.data(), row_.data(), value_.data()};
}

bool NewtonSystem::factor(double alpha) {
  find_closed();
  if (closed_.empty()) return true;
  assemble(alpha);
  const Eigen::Map<const SparseColumns> A = matrix();
  if (!same_pattern()) {
    closed_before_ = closed_;
    analysed_ = lu_.analyse(A);
    if (!analysed_) return false;
  }
  ++factorisations_;
  const bool regular = lu_.factor(A);
  flops_ += lu_.flops();
  return regular;
}

/// W̃ x of the open contacts at contact k.
Vector3 NewtonSystem::from_open(Index k, std::span<const double> x) const {
  const BlockSparseMatrix& W = data_->W;
  Vector3 sum = Vector3::Zero();
  for (Index b = W.row_begin[k]; b < W.row_begin[k + 1]; ++b) {
    const Index l = W.column[b];
    if (number_[l] >= 0) continue;
    sum += Eigen::Map<const Matrix3>(W.block(b)) * block_of(x, l) * (inverse_root_[k] * inverse_root_[l]);
  }
  return sum;
}

bool NewtonSystem::solve(std::span<const double> x, std::span<double> d) {
  for (Index k = 0; k < contacts(); ++k) block_of(d, k) = -block_of(x, k);
  if (closed_.empty()) return true;
  for (std::size_t i = 0; i < closed_.size(); ++i) {
    const ContactPiece& piece = piece_[closed_[i]];
    Eigen::Map<Vector3>(right_.data() + 3 * i) = piece.by_u * from_open(closed_[i], x) - piece.F;
  }
  const std::span<double> right(right_.data(), 3 * closed_.size());
  lu_.solve(right, right);
  flops_ += 2.0 * static_cast<double>(lu_.fill());
  double sum = 0.0;
  for (std::size_t i = 0; i < closed_.size(); ++i) {
    const Eigen::Map<const Vector3> part(right_.data() + 3 * i);
    block_of(d, closed_[i]) = part;
    sum += part.cwiseAbs().sum();
  }
  return std::isfinite(sum);
}

bool NewtonSystem::direction(std::span<const double> x, std::span<const double> y, double shift, double alpha,
                             std::span<double> d) {
  with_law(data_->law, [&](auto law) {
    for (Index k = 0; k < contacts(); ++k) {
      if (!(root_[k] > 0.0)) continue;
      piece_[k] = contact_piece<decltype(law)>(data_->mu[k], steps(k, shift), block_of(x, k), block_of(y, k));
    }
  });
  return factor(alpha) && solve(x, d);
}

void NewtonSystem::make_admissible(std::span<double> x) const {
  for (Index k = 0; k < contacts(); ++k) {
    auto part = block_of(x, k);
    part[0] = std::max(0.0, part[0]);
    part.tail<2>() = project_tangent(data_->law, part.tail<2>(), data_->mu[k] * part[0]);
  }
}

}  // namespace signorini
