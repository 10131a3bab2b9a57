#include "solvers/accelerated/anderson_history.h"

#include <Eigen/Cholesky>
#include <algorithm>

#include "linalg/dot.h"
#include "linalg/types.h"

namespace signorini {

namespace {

/// Doubles of a vector that are worked on at once: two of them and a column stay in the first cache.
constexpr std::size_t kPiece = 1024;

}  // namespace

void AndersonHistory::prepare(std::span<const double> scale, int window) {
  scale_.assign(scale.begin(), scale.end());
  df_.assign(window, std::vector<double>(scale.size()));
  dy_ = df_;
  last_f_.assign(scale.size(), 0.0);
  last_y_ = last_f_;
  normal_ = Small::Zero(window, window);
  right_ = Few::Zero(window);
  forget();
}

void AndersonHistory::forget() { pairs_ = newest_ = used_ = 0; }

void AndersonHistory::append(std::span<const double> y, std::span<const double> f) {
  const int window = count(df_);
  if (pairs_ > 0) {
    newest_ = (pairs_ - 1) % window;
    used_ = std::min(pairs_, window);
    normal_.row(newest_).setZero();
    right_.setZero();
  }
  ++pairs_;
  for (std::size_t begin = 0; begin < y.size(); begin += kPiece)
    append_piece(begin, std::min(kPiece, y.size() - begin), y, f);
  normal_.col(newest_) = normal_.row(newest_).transpose();
}

void AndersonHistory::append_piece(std::size_t begin, std::size_t size, std::span<const double> y,
                                   std::span<const double> f) {
  double* const newest_f = df_[newest_].data();
  double* const newest_y = dy_[newest_].data();
  for (std::size_t i = begin; i < begin + size; ++i) {
    const double scaled = scale_[i] * f[i];
    newest_f[i] = scaled - last_f_[i];
    newest_y[i] = y[i] - last_y_[i];
    last_f_[i] = scaled;
    last_y_[i] = y[i];
  }
  const std::span<const double> difference(newest_f + begin, size);
  const std::span<const double> present(last_f_.data() + begin, size);
  for (int j = 0; j < used_; ++j) {
    const std::span<const double> column(df_[j].data() + begin, size);
    normal_(newest_, j) += dot(column, difference);
    right_[j] += dot(column, present);
  }
}

bool AndersonHistory::extrapolate(std::span<double> y) const {
  if (used_ == 0) return false;
  const Few size = normal_.diagonal().head(used_).cwiseSqrt();
  if (!(size.minCoeff() > 0.0)) return false;
  const Few inverse = size.cwiseInverse();
  Small even = inverse.asDiagonal() * normal_.topLeftCorner(used_, used_) * inverse.asDiagonal();
  even.diagonal().array() += kShift;
  const Eigen::LLT<Small> factor(even);
  if (factor.info() != Eigen::Success) return false;
  Few gamma = right_.head(used_).cwiseProduct(inverse);
  factor.solveInPlace(gamma);
  gamma = gamma.cwiseProduct(inverse).eval();
  if (!gamma.allFinite()) return false;
  for (std::size_t begin = 0; begin < y.size(); begin += kPiece) {
    const std::size_t end = std::min(begin + kPiece, y.size());
    for (int j = 0; j < used_; ++j) {
      const double* const column = dy_[j].data();
      for (std::size_t i = begin; i < end; ++i) y[i] -= gamma[j] * column[i];
    }
  }
  return true;
}

}  // namespace signorini
