#include "solvers/active_set/fixed_point_history.h"

#include <algorithm>

#include <Eigen/Dense>

namespace signorini {

void FixedPointHistory::resize(std::size_t n) {
  for (auto* all : {&points_, &errors_}) {
    for (auto& x : *all) x.assign(n, 0.0);
  }
  last_point_.assign(n, 0.0);
  last_error_.assign(n, 0.0);
  known_ = 0;
}

void FixedPointHistory::step(std::span<const double> scale, std::span<const double> e, std::span<double> b) {
  using Small = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, kLength, kLength>;
  using Few = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, kLength, 1>;
  const int used = std::min(known_, kLength);
  if (known_ > 0) {
    auto& dp = points_[(known_ - 1) % kLength];
    auto& de = errors_[(known_ - 1) % kLength];
    for (std::size_t i = 0; i < b.size(); ++i) {
      dp[i] = b[i] - last_point_[i];
      de[i] = e[i] - last_error_[i];
    }
  }
  std::copy(b.begin(), b.end(), last_point_.begin());
  std::copy(e.begin(), e.end(), last_error_.begin());
  ++known_;
  Small normal = Small::Zero(used, used);
  Few right = Few::Zero(used);
  for (int i = 0; i < used; ++i) {
    const auto& ei = errors_[i];
    for (std::size_t k = 0; k < b.size(); ++k) {
      const double weighted = scale[k] * scale[k] * ei[k];
      right[i] += weighted * e[k];
      for (int j = 0; j <= i; ++j) normal(i, j) += weighted * errors_[j][k];
    }
    for (int j = 0; j < i; ++j) normal(j, i) = normal(i, j);
  }
  // differences of steps far apart in size: equilibrated, and cut where they are nearly dependent
  Few gamma = Few::Zero(used);
  if (used > 0) {
    const Few size = normal.diagonal().cwiseSqrt().cwiseMax(1e-300);
    const Small even = size.cwiseInverse().asDiagonal() * normal * size.cwiseInverse().asDiagonal();
    const Eigen::SelfAdjointEigenSolver<Small> eigen(even);
    const Few along = eigen.eigenvectors().transpose() * right.cwiseQuotient(size);
    for (int i = 0; i < used; ++i) {
      if (eigen.eigenvalues()[i] > 1e-10 * used)
        gamma += eigen.eigenvectors().col(i) * (along[i] / eigen.eigenvalues()[i]);
    }
    gamma = gamma.cwiseQuotient(size).eval();
  }
  for (std::size_t k = 0; k < b.size(); ++k) {
    double next = b[k] + kPart * e[k];
    for (int i = 0; i < used; ++i) {
      const std::size_t slot = i;
      next -= gamma[i] * (points_[slot][k] + kPart * errors_[slot][k]);
    }
    b[k] = std::max(0.0, next);
  }
}

}  // namespace signorini
