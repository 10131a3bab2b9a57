#include "geometry/ball.h"

#include <cmath>
#include <map>

#include "base/check.h"
#include "geometry/octahedron.h"

namespace signorini {

namespace {

TriangleMesh icosahedron() {
  const double a = 1.0 / std::sqrt(1.0 + 0.25 * (1.0 + std::sqrt(5.0)) * (1.0 + std::sqrt(5.0)));
  const double b = 0.5 * (1.0 + std::sqrt(5.0)) * a;  // golden ratio
  return {{{-a, b, 0},
           {a, b, 0},
           {-a, -b, 0},
           {a, -b, 0},
           {0, -a, b},
           {0, a, b},
           {0, -a, -b},
           {0, a, -b},
           {b, 0, -a},
           {b, 0, a},
           {-b, 0, -a},
           {-b, 0, a}},
          {{0, 11, 5},  {0, 5, 1},  {0, 1, 7},  {0, 7, 10}, {0, 10, 11}, {1, 5, 9}, {5, 11, 4},
           {11, 10, 2}, {10, 7, 6}, {7, 1, 8},  {3, 9, 4},  {3, 4, 2},   {3, 2, 6}, {3, 6, 8},
           {3, 8, 9},   {4, 9, 5},  {2, 4, 11}, {6, 2, 10}, {8, 6, 7},   {9, 8, 1}}};
}

/// One subdivision; new vertices are appended in the order in which faces meet their edges.
TriangleMesh refined(const TriangleMesh& coarse) {
  TriangleMesh fine{coarse.vertices, {}};
  std::map<std::pair<Index, Index>, Index> midpoints;
  const auto midpoint = [&](Index i, Index j) {
    const auto [entry, added] = midpoints.try_emplace(std::minmax(i, j), count(fine.vertices));
    if (added) {
      const Vector3 sum = coarse.vertices[i] + coarse.vertices[j];
      fine.vertices.push_back(sum.normalized());
    }
    return entry->second;
  };
  fine.triangles.reserve(4 * coarse.triangles.size());
  for (const Triangle& t : coarse.triangles) {
    const Index ab = midpoint(t[0], t[1]);
    const Index bc = midpoint(t[1], t[2]);
    const Index ca = midpoint(t[2], t[0]);
    fine.triangles.push_back({t[0], ab, ca});
    fine.triangles.push_back({t[1], bc, ab});
    fine.triangles.push_back({t[2], ca, bc});
    fine.triangles.push_back({ab, bc, ca});
  }
  return fine;
}

void check_level(int level) {
  if (level < 0 || level > kMaxBallLevel)
    throw_usage("ball: level {} is outside [0, {}]", level, kMaxBallLevel);
}

}  // namespace

TriangleMesh icosphere(int level, double radius) {
  check_level(level);
  TriangleMesh mesh = icosahedron();
  for (int l = 0; l < level; ++l) mesh = refined(mesh);
  for (Vector3& x : mesh.vertices) x *= radius;
  return mesh;
}

TetMesh tet_ball(int level, double radius) {
  check_level(level);
  if (!(radius > 0.0) || !std::isfinite(radius)) throw_usage("ball: radius {} m is not positive", radius);
  TetMesh ball;
  std::vector<TriangleMesh> shells(level + 1);
  std::vector<Index> first(shells.size());  // vertex number of shell l's vertex 0; the surface comes first
  shells[0] = icosahedron();
  for (std::size_t l = 1; l < shells.size(); ++l) shells[l] = refined(shells[l - 1]);
  for (std::size_t l = shells.size(); l-- > 0;) {
    first[l] = count(ball.vertices);
    const double r = radius * static_cast<double>(l + 1) / static_cast<double>(shells.size());
    for (const Vector3& x : shells[l].vertices) ball.vertices.push_back(r * x);
  }
  const Index centre = count(ball.vertices);
  ball.vertices.push_back(Vector3::Zero());

  for (std::size_t l = shells.size() - 1; l > 0; --l) {
    const Index in = first[l - 1];
    const Index out = first[l];
    for (std::size_t f = 0; f < shells[l - 1].triangles.size(); ++f) {
      const auto& [a, b, c] = shells[l - 1].triangles[f];
      const auto& [ab, bc, ca] = shells[l].triangles[4 * f + 3];
      add_positive(ball, {out + a, out + ab, out + ca, in + a});
      add_positive(ball, {out + b, out + bc, out + ab, in + b});
      add_positive(ball, {out + c, out + ca, out + bc, in + c});
      add_octahedron(ball, {{{in + a, out + bc}, {in + b, out + ca}, {in + c, out + ab}}});
    }
  }
  for (const Triangle& t : shells[0].triangles) {
    add_positive(ball, {centre, first[0] + t[0], first[0] + t[1], first[0] + t[2]});
  }
  return ball;
}

}  // namespace signorini
