#pragma once

#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "contact/contact_problem.h"

/// The shape of a problem of many deformable bodies under implicit integration: a chain of rings of 18 × 4
/// nodes (216 dofs, as Verschoor 2019's Rings), M = mass + dt²K of springs along the edges of six tetrahedra
/// per cell, and contacts between a node of one ring and a face of the next. All rings hang together through
/// their contacts.
namespace signorini::bench {

inline constexpr Index kRingNodes = 72;

/// Springs of one ring: edges of the tetrahedra that share the diagonal of each cell.
inline std::vector<std::array<Index, 2>> ring_edges() {
  std::vector<std::array<Index, 2>> edges;
  constexpr int kSteps[7][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 0}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}};
  for (Index s = 0; s < 18; ++s) {
    for (int a = 0; a < 2; ++a) {
      for (int b = 0; b < 2; ++b) {
        for (const auto& step : kSteps) {
          if (a + step[1] > 1 || b + step[2] > 1) continue;
          const Index to = 4 * ((s + step[0]) % 18) + 2 * (a + step[1]) + b + step[2];
          edges.push_back({4 * s + 2 * a + b, to});
        }
      }
    }
  }
  return edges;
}

inline ContactProblem linked_rings(Index rings, Index contacts_per_link, double stiffness,
                                   unsigned seed = 1) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> unit(0.1, 1.0);
  std::normal_distribution<double> normal;
  const auto direction = [&] { return Vector3(normal(engine), normal(engine), normal(engine)).normalized(); };
  const auto edges = ring_edges();
  const Index m = std::max<Index>(0, rings - 1) * contacts_per_link;
  ContactProblem problem;
  std::vector<Eigen::Triplet<double, Index>> mass, rows;
  problem.f.resize(3 * kRingNodes * rings);
  problem.body_dofs.push_back(0);
  for (Index ring = 0; ring < rings; ++ring) {
    const Index node0 = kRingNodes * ring;
    for (Index i = 0; i < 3 * kRingNodes; ++i) {
      mass.emplace_back(3 * node0 + i, 3 * node0 + i, 1.0);
      problem.f[3 * node0 + i] = normal(engine);
    }
    for (const auto& [a, b] : edges) {
      const Vector3 n = direction();
      const Matrix3 block = stiffness * (n * n.transpose() + 0.05 * Matrix3::Identity());
      for (Index i = 0; i < 3; ++i) {
        for (Index j = 0; j < 3; ++j) {
          const Index p = 3 * (node0 + a), q = 3 * (node0 + b);
          mass.emplace_back(p + i, p + j, block(i, j));
          mass.emplace_back(q + i, q + j, block(i, j));
          mass.emplace_back(p + i, q + j, -block(i, j));
          mass.emplace_back(q + i, p + j, -block(i, j));
        }
      }
    }
    problem.body_dofs.push_back(3 * (node0 + kRingNodes));
  }
  std::uniform_int_distribution<Index> node(0, kRingNodes - 1);
  for (Index k = 0; k < m; ++k) {
    const Index ring = k / contacts_per_link;
    const Vector3 n = direction(), t1 = n.cross(direction()).normalized(), t2 = n.cross(t1);
    const std::array<Vector3, 3> axes{n, t1, t2};
    const auto add = [&](Index which, double weight) {
      for (Index a = 0; a < 3; ++a) {
        for (Index i = 0; i < 3; ++i) rows.emplace_back(3 * which + i, 3 * k + a, weight * axes[a][i]);
      }
    };
    add(kRingNodes * ring + node(engine), 1.0);
    Vector3 weights(unit(engine), unit(engine), unit(engine));
    weights /= weights.sum();
    const Index corner = node(engine);
    for (Index c = 0; c < 3; ++c) add(kRingNodes * (ring + 1) + (corner + c) % kRingNodes, -weights[c]);
  }
  problem.M.resize(problem.f.size(), problem.f.size());
  problem.M.setFromTriplets(mass.begin(), mass.end());
  problem.H.resize(problem.f.size(), 3 * m);
  problem.H.setFromTriplets(rows.begin(), rows.end());
  problem.w = Vector::Zero(3 * m);
  problem.mu = Vector::Constant(m, 0.5);
  problem.kind = ProblemKind::implicit_step;
  problem.dt = 1e-3;
  return problem;
}

}  // namespace signorini::bench
