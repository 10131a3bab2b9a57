#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/roots.h"
#include "bodies/spring_network.h"

namespace signorini {

namespace {

/// An undirected edge of a triangulation and what lies across it.
struct Side {
  Index from = -1, to = -1;  // from < to
  Index tip = -1;            // third vertex of the triangle
  bool forward = false;      // the triangle runs from `from` to `to`
  std::size_t triangle = 0;
};

/// All sides of all triangles, those of one edge next to each other, the forward one first.
std::vector<Side> sorted_sides(const std::vector<Triangle>& triangles) {
  std::vector<Side> sides;
  sides.reserve(3 * triangles.size());
  for (std::size_t t = 0; t < triangles.size(); ++t) {
    for (std::size_t e = 0; e < 3; ++e) {
      const Index a = triangles[t][e];
      const Index b = triangles[t][(e + 1) % 3];
      sides.push_back({std::min(a, b), std::max(a, b), triangles[t][(e + 2) % 3], a < b, t});
    }
  }
  std::sort(sides.begin(), sides.end(), [](const Side& a, const Side& b) {
    if (a.from != b.from) return a.from < b.from;
    if (a.to != b.to) return a.to < b.to;
    if (a.forward != b.forward) return a.forward;
    return a.triangle < b.triangle;
  });
  return sides;
}

/// Calls f(first side, second side or null) for every edge.
template <class F>
void for_each_edge(const std::vector<Side>& sides, F&& f) {
  for (std::size_t s = 0; s < sides.size();) {
    std::size_t end = s + 1;
    while (end < sides.size() && sides[end].from == sides[s].from && sides[end].to == sides[s].to) ++end;
    if (end > s + 2) {
      throw_usage("cloth: edge ({}, {}) belongs to {} triangles, at most 2 are possible", sides[s].from,
                  sides[s].to, end - s);
    }
    if (end == s + 2 && sides[s].forward == sides[s + 1].forward) {
      throw_usage(
          "cloth: triangles {} and {} run through edge ({}, {}) in the same direction; orient them alike",
          sides[s].triangle, sides[s + 1].triangle, sides[s].from, sides[s].to);
    }
    f(sides[s], end == s + 2 ? &sides[s + 1] : nullptr);
    s = end;
  }
}

double area_of(const SpringNetwork& cloth, std::size_t triangle) {
  const auto& [i, j, k] = cloth.triangles[triangle];
  return 0.5 * area_vector(cloth.vertices[i], cloth.vertices[j], cloth.vertices[k]).norm();
}

/// Spring along (i, j) that stands for a strip of cloth of this width.
void add_spring(SpringNetwork& cloth, Index i, Index j, double modulus, double width,
                const ClothMaterial& material) {
  const double k = modulus * width;
  if (k > 0.0) {
    cloth.springs.push_back(
        {i, j, k, k * material.spring_damping, (cloth.vertices[i] - cloth.vertices[j]).norm()});
  }
}

/// Folds over all inner edges of the triangles.
void add_folds(SpringNetwork& cloth, const std::vector<Side>& sides, double rigidity) {
  for_each_edge(sides, [&](const Side& first, const Side* second) {
    if (second == nullptr || !(rigidity > 0.0)) return;
    // Triangle (i, j, k) runs from j to k: that is the forward one.
    Fold fold{first.tip, first.from, first.to, second->tip, 0.0, 0.0};
    const double squared_edge = (cloth.vertices[fold.j] - cloth.vertices[fold.k]).squaredNorm();
    fold.stiffness =
        rigidity * squared_edge / (area_of(cloth, first.triangle) + area_of(cloth, second->triangle));
    fold.rest = fold_angle(cloth.vertices[fold.i], cloth.vertices[fold.j], cloth.vertices[fold.k],
                           cloth.vertices[fold.l]);
    cloth.folds.push_back(fold);
  });
}

void check_mesh(const TriangleMesh& mesh) {
  if (mesh.triangles.empty()) throw_usage("cloth: the mesh has no triangles");
  std::vector<bool> used(mesh.vertices.size(), false);
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    for (const Index v : mesh.triangles[t]) {
      if (v < 0 || v >= count(mesh.vertices)) {
        throw_usage("cloth: triangle {} uses vertex {}, the mesh has {}", t, v, mesh.vertices.size());
      }
      if (!mesh.vertices[v].allFinite()) throw_usage("cloth: vertex {} is not finite", v);
      used[v] = true;
    }
    const auto& [i, j, k] = mesh.triangles[t];
    const Vector3& a = mesh.vertices[i];
    const Vector3& b = mesh.vertices[j];
    const Vector3& c = mesh.vertices[k];
    const double longest = std::max({(a - b).squaredNorm(), (b - c).squaredNorm(), (c - a).squaredNorm()});
    // Height over the longest side below 10⁻⁶ of it: the folds would not exist.
    if (!(area_vector(a, b, c).norm() > 1e-6 * longest)) throw_usage("cloth: triangle {} has no area", t);
  }
  const auto unused = std::find(used.begin(), used.end(), false);
  if (unused != used.end()) {
    throw_usage("cloth: vertex {} belongs to no triangle and would have no mass", unused - used.begin());
  }
}

}  // namespace

void ClothMaterial::validate(std::string_view context) const {
  const auto check = [context](const char* name, double value, bool zero_allowed) {
    if (!std::isfinite(value) || value < 0.0 || (value == 0.0 && !zero_allowed)) {
      throw_usage("{}: cloth {} = {} must be {}", context, name, value,
                  zero_allowed ? "finite and not negative" : "positive");
    }
  };
  check("density", density, false);
  check("stretch", stretch, false);
  check("shear", shear, true);
  check("bending", bending, true);
  check("damping", damping, true);
  check("spring_damping", spring_damping, true);
}

SpringNetwork grid_cloth(Index columns, Index rows, double width, double depth,
                         const ClothMaterial& material) {
  material.validate("cloth");
  if (columns < 2 || rows < 2 || columns > 20000 || rows > 20000) {
    throw_usage("cloth: a grid of {} x {} vertices; both must be in [2, 20000]", columns, rows);
  }
  if (!(width > 0.0) || !(depth > 0.0) || !std::isfinite(width) || !std::isfinite(depth)) {
    throw_usage("cloth: width {} m and depth {} m must be positive", width, depth);
  }
  SpringNetwork cloth;
  cloth.damping = material.damping;
  const double a = width / (columns - 1);  // cell sizes, m
  const double b = depth / (rows - 1);
  const auto number = [columns](Index i, Index j) { return i + columns * j; };
  // A border vertex has half the cloth of an inner one, in each direction.
  const auto share = [](Index i, Index n) { return i == 0 || i == n - 1 ? 0.5 : 1.0; };
  for (Index j = 0; j < rows; ++j) {
    for (Index i = 0; i < columns; ++i) {
      cloth.vertices.emplace_back(i * a - 0.5 * width, j * b - 0.5 * depth, 0.0);
      cloth.mass.push_back(material.density * a * b * share(i, columns) * share(j, rows));
    }
  }
  for (Index j = 0; j < rows; ++j) {
    for (Index i = 0; i + 1 < columns; ++i) {
      add_spring(cloth, number(i, j), number(i + 1, j), material.stretch, b * share(j, rows), material);
    }
  }
  for (Index j = 0; j + 1 < rows; ++j) {
    for (Index i = 0; i < columns; ++i) {
      add_spring(cloth, number(i, j), number(i, j + 1), material.stretch, a * share(i, columns), material);
    }
  }
  const double strip = a * b / hypotenuse(a, b);
  for (Index j = 0; j + 1 < rows; ++j) {
    for (Index i = 0; i + 1 < columns; ++i) {
      const Index low = number(i, j), right = number(i + 1, j);
      const Index left = number(i, j + 1), high = number(i + 1, j + 1);
      add_spring(cloth, low, high, material.shear, strip, material);
      add_spring(cloth, right, left, material.shear, strip, material);
      if ((i + j) % 2 == 0) {
        cloth.triangles.push_back({low, right, high});
        cloth.triangles.push_back({low, high, left});
      } else {
        cloth.triangles.push_back({low, right, left});
        cloth.triangles.push_back({right, high, left});
      }
    }
  }
  add_folds(cloth, sorted_sides(cloth.triangles), material.bending);
  return cloth;
}

SpringNetwork mesh_cloth(const TriangleMesh& mesh, const ClothMaterial& material) {
  material.validate("cloth");
  check_mesh(mesh);
  SpringNetwork cloth;
  cloth.damping = material.damping;
  cloth.vertices = mesh.vertices;
  cloth.triangles = mesh.triangles;
  cloth.mass.assign(mesh.vertices.size(), 0.0);
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    for (const Index v : mesh.triangles[t]) {
      cloth.mass[v] += material.density * area_of(cloth, t) / 3.0;
    }
  }
  const std::vector<Side> sides = sorted_sides(cloth.triangles);
  const auto length = [&cloth](Index i, Index j) { return (cloth.vertices[i] - cloth.vertices[j]).norm(); };
  for_each_edge(sides, [&](const Side& first, const Side* second) {
    const double area =
        area_of(cloth, first.triangle) + (second != nullptr ? area_of(cloth, second->triangle) : 0.0);
    add_spring(cloth, first.from, first.to, material.stretch, area / length(first.from, first.to), material);
    // Two triangles on the same three vertices have no opposite ones.
    if (second == nullptr || first.tip == second->tip) return;
    const double across = length(first.tip, second->tip);
    if (across > 0.0) add_spring(cloth, first.tip, second->tip, material.shear, area / across, material);
  });
  add_folds(cloth, sides, material.bending);
  return cloth;
}

}  // namespace signorini
