#include "solvers/active_set/fixed_point_history.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <vector>

#include "solvers/allocation_counter.h"

namespace signorini::fixed_point_history_test {
namespace {

/// F(b) = p + J (b − p), J with the eigenvalues of contacts that replace each other (measured on rings) and
/// harmless ones, in a basis that is not orthogonal.
struct AffineMap {
  Eigen::MatrixXd J;
  Eigen::VectorXd point;
};

AffineMap affine(const std::vector<double>& eigenvalues) {
  const Eigen::Index n = eigenvalues.size();
  Eigen::MatrixXd basis(n, n);
  AffineMap map;
  map.point.resize(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    map.point[i] = 100.0 + 0.3 * std::sin(2.0 * static_cast<double>(i));  // away from the limit 0
    for (Eigen::Index j = 0; j < n; ++j)
      basis(i, j) = (i == j ? 1.0 : 0.0) + 0.4 * std::cos(static_cast<double>(3 * i + 5 * j));
  }
  const Eigen::VectorXd d = Eigen::Map<const Eigen::VectorXd>(eigenvalues.data(), n);
  map.J = basis * d.asDiagonal() * basis.inverse();
  return map;
}

/// ‖b − p‖∞ after `steps`, from 1.
double error_after(const AffineMap& map, int steps) {
  const std::size_t n = map.point.size();
  FixedPointHistory history;
  history.resize(n);
  std::vector<double> b(n), e(n), scale(n, 1.0);
  for (std::size_t i = 0; i < n; ++i) b[i] = map.point[i] + (i % 2 == 0 ? 1.0 : -1.0);
  for (int i = 0; i < steps; ++i) {
    const Eigen::Map<Eigen::VectorXd> at(b.data(), map.point.size());
    Eigen::Map<Eigen::VectorXd>(e.data(), map.point.size()) = map.point + map.J * (at - map.point) - at;
    EXPECT_EQ(test::allocations_during([&] { history.step(scale, e, b); }), 0);
  }
  return (Eigen::Map<Eigen::VectorXd>(b.data(), map.point.size()) - map.point).lpNorm<Eigen::Infinity>();
}

/// As many bad eigenvalues as the history is long leave nothing after one step more: |1 − β (1 − g)| of plain
/// half steps would be 1.45 and 1.5.
TEST(FixedPointHistory, SolvesAnAffineMapWithFewEigenvaluesWhateverTheirSize) {
  EXPECT_LE(error_after(affine({-3.9, 2.0, -3.9, 2.0, 2.0}), 4), 1e-10);
  EXPECT_LE(error_after(affine({-3.9, 0.2, -0.2, 0.1}), 7), 1e-9);
}

TEST(FixedPointHistory, TakesHalfAStepWhereNothingIsKnown) {
  FixedPointHistory history;
  history.resize(2);
  std::vector<double> b{1.0, 1.0};
  history.step(std::vector<double>{1.0, 1.0}, std::vector<double>{0.5, -4.0}, b);
  EXPECT_EQ(b, (std::vector<double>{1.0 + FixedPointHistory::kPart * 0.5, 0.0}));  // bounds are not negative
}

/// Steps that repeat each other leave the least squares without an answer; the point stays finite.
TEST(FixedPointHistory, StaysFiniteWhereStepsRepeatEachOther) {
  FixedPointHistory history;
  history.resize(1);
  std::vector<double> b{1.0};
  for (int i = 0; i < 12; ++i) {
    history.step(std::vector<double>{1.0}, std::vector<double>{0.25}, b);
    EXPECT_TRUE(std::isfinite(b[0]));
  }
}

}  // namespace
}  // namespace signorini::fixed_point_history_test
