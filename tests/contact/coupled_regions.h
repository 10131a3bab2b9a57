#pragma once

#include <tuple>
#include <vector>

#include "contact/planted_problem.h"

namespace signorini::zoo {

/// Three regions of mass points whose bodies are tied together by springs: `points-approx` drops couplings here.
inline ContactProblem coupled_regions() {
  ContactProblem problem = make_planted_problem({.contacts = 12, .regions = 3, .seed = 2}).problem;
  const Index first = problem.points.row(0).maxCoeff();
  std::vector<Eigen::Triplet<double, Index>> springs;
  for (Index k = 1; k < problem.contacts(); ++k) {
    const Index other = problem.points.row(k).maxCoeff();
    if (other == first) continue;
    const double stiffness = problem.M.coeff(3 * first, 3 * first);
    for (Index i = 0; i < 3; ++i) {
      const Index a = 3 * first + i, b = 3 * other + i;
      for (const auto& [row, column, sign] : {std::tuple{a, a, 1.0}, {b, b, 1.0}, {a, b, -1.0}, {b, a, -1.0}})
        springs.emplace_back(row, column, sign * stiffness);
    }
  }
  SparseRows K(problem.M.rows(), problem.M.cols());
  K.setFromTriplets(springs.begin(), springs.end());
  problem.M = SparseRows(problem.M + K);
  problem.M.makeCompressed();
  return problem;
}

}  // namespace signorini::zoo
