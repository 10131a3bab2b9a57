#include "contact/delassus_diagonal.h"

#include <vector>

namespace signorini {

Matrix3 delassus_diagonal_block(const DirectionRows& H, const MassFactor& mass, Index k) {
  Matrix3 block = Matrix3::Zero();
  const auto begin = static_cast<std::size_t>(H.begin[static_cast<std::size_t>(k)]);
  const auto end = static_cast<std::size_t>(H.begin[static_cast<std::size_t>(k) + 1]);
  std::vector<double> X;
  std::vector<Index> done;
  for (std::size_t first = begin; first < end; ++first) {
    const Index body = mass.body_of(H.dof[first]);
    bool seen = false;
    for (const Index other : done) seen = seen || other == body;
    if (seen) continue;
    done.push_back(body);
    const std::size_t size = mass.dofs(body).size();
    X.assign(3 * size, 0.0);
    for (std::size_t e = first; e < end; ++e) {
      if (mass.body_of(H.dof[e]) != body) continue;
      for (std::size_t a = 0; a < 3; ++a) X[a * size + static_cast<std::size_t>(mass.local(H.dof[e]))] = H.coefficient[3 * e + a];
    }
    mass.solve_body(body, X, 3);
    for (std::size_t e = first; e < end; ++e) {
      if (mass.body_of(H.dof[e]) != body) continue;
      for (std::size_t b = 0; b < 3; ++b) {
        const double x = X[b * size + static_cast<std::size_t>(mass.local(H.dof[e]))];
        for (std::size_t a = 0; a < 3; ++a) {
          block(static_cast<Eigen::Index>(a), static_cast<Eigen::Index>(b)) += H.coefficient[3 * e + a] * x;
        }
      }
    }
  }
  return 0.5 * (block + block.transpose());
}

}  // namespace signorini
