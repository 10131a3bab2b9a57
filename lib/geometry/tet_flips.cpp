#include "geometry/tet_flips.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/check.h"

namespace signorini {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A face with its corners ascending, as it stands outward in tetrahedron `tet`, and the corner opposite.
struct Face {
  Triangle key, outward;
  Index tet, apex;
};

std::vector<Face> sorted_faces(const TetMesh& mesh) {
  std::vector<Face> faces;
  faces.reserve(4 * mesh.tets.size());
  for (Index i = 0; i < count(mesh.tets); ++i) {
    const Tetrahedron& t = mesh.tets[i];
    const std::array<Triangle, 4> outward{
        {{t[1], t[2], t[3]}, {t[0], t[3], t[2]}, {t[0], t[1], t[3]}, {t[0], t[2], t[1]}}};
    for (std::size_t f = 0; f < 4; ++f) {
      Triangle key = outward[f];
      std::sort(key.begin(), key.end());
      faces.push_back({key, outward[f], i, t[f]});
    }
  }
  std::sort(faces.begin(), faces.end(), [](const Face& a, const Face& b) { return a.key < b.key; });
  return faces;
}

struct Flip {
  Index first, second;  ///< tetrahedra that make room
  std::array<Tetrahedron, 3> made;
};

std::array<Tetrahedron, 3> around_edge(const Face& below, Index above) {
  const auto& [a, b, c] = below.outward;
  const Index d = below.apex;
  return {{{a, b, d, above}, {b, c, d, above}, {c, a, d, above}}};
}

std::optional<Flip> best_flip(const TetMesh& mesh, const std::vector<double>& penalty) {
  const std::vector<Face> faces = sorted_faces(mesh);
  std::optional<Flip> best;
  double least = kInfinity;
  for (std::size_t i = 0; i + 1 < faces.size(); ++i) {
    const Face &below = faces[i], &above = faces[i + 1];
    if (below.key != above.key) continue;
    const std::array<Tetrahedron, 3> made = around_edge(below, above.apex);
    double growth = -penalty[below.tet] - penalty[above.tet];
    for (const Tetrahedron& tet : made) growth += shape_penalty(tet_quality(mesh, tet));
    if (growth < least) {
      least = growth;
      best = {below.tet, above.tet, made};
    }
  }
  return best;
}

bool has(const Tetrahedron& tet, Index i) { return std::find(tet.begin(), tet.end(), i) != tet.end(); }

}  // namespace

double shape_penalty(double quality) {
  const double square = quality * quality;
  return quality > 0.0 ? 1.0 / (square * square) : kInfinity;
}

void flip_faces(TetMesh& mesh, Index flips) {
  std::vector<double> penalty;
  for (const Tetrahedron& tet : mesh.tets) penalty.push_back(shape_penalty(tet_quality(mesh, tet)));
  for (Index n = 0; n < flips; ++n) {
    const std::optional<Flip> flip = best_flip(mesh, penalty);
    if (!flip) throw_usage("flips: after {} of {} flips no face can be flipped", n, flips);
    const std::array<Index, 3> slots{flip->first, flip->second, count(mesh.tets)};
    mesh.tets.push_back({});
    penalty.push_back(0.0);
    for (std::size_t i = 0; i < 3; ++i) {
      mesh.tets[slots[i]] = flip->made[i];
      penalty[slots[i]] = shape_penalty(tet_quality(mesh, flip->made[i]));
    }
  }
}

void flip_edge(TetMesh& mesh, Index i, Index j) {
  std::vector<std::size_t> around;
  std::vector<Index> others;
  for (std::size_t t = 0; t < mesh.tets.size(); ++t) {
    if (!has(mesh.tets[t], i) || !has(mesh.tets[t], j)) continue;
    around.push_back(t);
    for (const Index k : mesh.tets[t]) {
      if (k != i && k != j) others.push_back(k);
    }
  }
  std::sort(others.begin(), others.end());
  others.erase(std::unique(others.begin(), others.end()), others.end());
  if (around.size() != 3 || others.size() != 3) {
    throw_usage("flips: edge {}–{} has {} tetrahedra around it and {} vertices; 3 and 3 are needed", i, j,
                around.size(), others.size());
  }
  std::array<Tetrahedron, 2> made{
      {{i, others[0], others[1], others[2]}, {j, others[0], others[2], others[1]}}};
  if (tet_volume(mesh, made[0]) < 0.0) {
    for (Tetrahedron& tet : made) std::swap(tet[2], tet[3]);
  }
  if (!(tet_volume(mesh, made[0]) > 0.0) || !(tet_volume(mesh, made[1]) > 0.0)) {
    throw_usage("flips: without edge {}–{} a tetrahedron would not be positive", i, j);
  }
  mesh.tets[around[0]] = made[0];
  mesh.tets[around[1]] = made[1];
  mesh.tets.erase(mesh.tets.begin() + around[2]);
}

}  // namespace signorini
