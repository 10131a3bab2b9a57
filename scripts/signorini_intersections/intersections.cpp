/// Intersecting triangles of surfaces, by the exact predicates of CGAL. Independent of the library: this file includes nothing of it.
///
/// Input (stdin, native byte order), any number of times:
///   int64 v, t; double vertices[v][3] (m); int64 triangles[t][3]; int64 body[t] (−1: an obstacle)
/// Output, a line for each: pairs neighbours flat depth a b
///   pairs       intersecting pairs of triangles that share no vertex; touching counts. Two obstacles are no pair.
///   neighbours  pairs of triangles that share one vertex and meet elsewhere too, or share an edge and lie on one another
///   flat        triangles without area, which are left out
///   depth       largest depth of a pair, m: the length of the shortest translation that separates its two triangles
///   a b         bodies of that pair
///
/// CGAL decides in exact arithmetic on the doubles that it is given, so there is no tolerance. Depth is computed in doubles.
#include <CGAL/Box_intersection_d/Box_with_info_d.h>
#include <CGAL/Exact_predicates_inexact_constructions_kernel.h>
#include <CGAL/box_intersection_d.h>
#include <CGAL/version.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <vector>

namespace {

using Kernel = CGAL::Exact_predicates_inexact_constructions_kernel;
using Point = Kernel::Point_3;
using Triangle = Kernel::Triangle_3;
using Segment = Kernel::Segment_3;
using Vector = Kernel::Vector_3;
using Box = CGAL::Box_intersection_d::Box_with_info_d<double, 3, std::size_t>;

struct Surfaces {
  std::vector<Point> vertices;
  std::vector<std::array<std::int64_t, 3>> triangles;
  std::vector<std::int64_t> body;

  Point corner(std::size_t t, int k) const { return vertices[triangles[t][k % 3]]; }
  Triangle triangle(std::size_t t) const { return {corner(t, 0), corner(t, 1), corner(t, 2)}; }
};

struct Found {
  long long pairs = 0, neighbours = 0, flat = 0;
  double depth = 0.0;
  std::int64_t a = -1, b = -1;
};

template <class T>
bool read_values(std::vector<T>& values, std::size_t n) {
  values.resize(n);
  return std::fread(values.data(), sizeof(T), n, stdin) == n;
}

bool read_surfaces(Surfaces& surfaces) {
  std::vector<std::int64_t> sizes, corners;
  std::vector<double> x;
  if (!read_values(sizes, 2) || sizes[0] < 0 || sizes[1] < 0) return false;
  const auto v = static_cast<std::size_t>(sizes[0]), t = static_cast<std::size_t>(sizes[1]);
  if (!read_values(x, 3 * v) || !read_values(corners, 3 * t) || !read_values(surfaces.body, t)) return false;
  surfaces.vertices.clear();
  surfaces.triangles.clear();
  for (std::size_t i = 0; i < v; ++i) surfaces.vertices.emplace_back(x[3 * i], x[3 * i + 1], x[3 * i + 2]);
  for (std::size_t i = 0; i < t; ++i)
    surfaces.triangles.push_back({corners[3 * i], corners[3 * i + 1], corners[3 * i + 2]});
  return true;
}

/// How far the triangles overlap along a direction of any length.
double overlap(const std::array<Point, 6>& corner, const Vector& direction) {
  double low[2], high[2];
  for (int side = 0; side < 2; ++side) {
    low[side] = std::numeric_limits<double>::infinity(), high[side] = -low[side];
    for (int k = 0; k < 3; ++k) {
      const double s = (corner[3 * side + k] - corner[0]) * direction;
      low[side] = std::min(low[side], s), high[side] = std::max(high[side], s);
    }
  }
  return std::min(high[0] - low[1], high[1] - low[0]) / std::sqrt(direction.squared_length());
}

/// Length of the shortest translation that separates two triangles. Their Minkowski difference is a polytope whose faces are
/// normal to a triangle or to two edges, one of each; its distance from the origin is the least overlap along these normals.
double depth_of(const Surfaces& surfaces, std::size_t s, std::size_t t) {
  std::array<Point, 6> corner;
  for (int k = 0; k < 3; ++k) corner[k] = surfaces.corner(s, k), corner[3 + k] = surfaces.corner(t, k);
  const auto edge = [&](int side, int k) { return corner[3 * side + (k + 1) % 3] - corner[3 * side + k]; };
  double least = std::numeric_limits<double>::infinity();
  const auto consider = [&](const Vector& a, const Vector& b) {
    const Vector normal = CGAL::cross_product(a, b);
    // Nearly parallel edges give no direction of their own: the others are the bound there.
    if (normal.squared_length() > 1e-16 * a.squared_length() * b.squared_length())
      least = std::min(least, overlap(corner, normal));
  };
  for (int side = 0; side < 2; ++side) consider(edge(side, 0), edge(side, 1));
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) consider(edge(0, i), edge(1, j));
  return std::isfinite(least) ? std::max(least, 0.0) : 0.0;
}

/// Pairs (corner of s, corner of t) that are the same vertex.
std::vector<std::array<int, 2>> shared_corners(const Surfaces& surfaces, std::size_t s, std::size_t t) {
  std::vector<std::array<int, 2>> shared;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      if (surfaces.triangles[s][i] == surfaces.triangles[t][j]) shared.push_back({i, j});
  return shared;
}

/// Neighbours meet in their common vertex or edge. Whether they meet elsewhere too.
bool neighbours_meet(const Surfaces& surfaces, std::size_t s, std::size_t t,
                     const std::vector<std::array<int, 2>>& shared) {
  if (shared.size() == 3) return true;
  if (shared.size() == 2) {
    const int i = 3 - shared[0][0] - shared[1][0], j = 3 - shared[0][1] - shared[1][1];
    const Point a = surfaces.corner(s, i + 1), b = surfaces.corner(s, i + 2);
    const Point p = surfaces.corner(s, i), q = surfaces.corner(t, j);
    return CGAL::coplanar(a, b, p, q) && CGAL::coplanar_orientation(a, b, p, q) == CGAL::POSITIVE;
  }
  const auto [i, j] = shared[0];
  const Segment beyond_s(surfaces.corner(s, i + 1), surfaces.corner(s, i + 2));
  const Segment beyond_t(surfaces.corner(t, j + 1), surfaces.corner(t, j + 2));
  return CGAL::do_intersect(surfaces.triangle(s), beyond_t) ||
         CGAL::do_intersect(surfaces.triangle(t), beyond_s);
}

void look_at(const Surfaces& surfaces, std::size_t s, std::size_t t, Found& found) {
  if (surfaces.body[s] < 0 && surfaces.body[t] < 0) return;
  const auto shared = shared_corners(surfaces, s, t);
  if (!shared.empty()) {
    found.neighbours += neighbours_meet(surfaces, s, t, shared);
    return;
  }
  if (!CGAL::do_intersect(surfaces.triangle(s), surfaces.triangle(t))) return;
  ++found.pairs;
  const double depth = depth_of(surfaces, s, t);
  if (found.pairs > 1 && depth <= found.depth) return;
  found.depth = depth;
  found.a = std::min(surfaces.body[s], surfaces.body[t]),
  found.b = std::max(surfaces.body[s], surfaces.body[t]);
}

Found intersections(const Surfaces& surfaces) {
  Found found;
  std::vector<Box> boxes;
  for (std::size_t t = 0; t < surfaces.triangles.size(); ++t) {
    const Triangle triangle = surfaces.triangle(t);
    if (triangle.is_degenerate())
      ++found.flat;
    else
      boxes.emplace_back(triangle.bbox(), t);
  }
  CGAL::box_self_intersection_d(boxes.begin(), boxes.end(), [&](const Box& a, const Box& b) {
    look_at(surfaces, std::min(a.info(), b.info()), std::max(a.info(), b.info()), found);
  });
  return found;
}

}  // namespace

int main(int argc, char**) {
  if (argc > 1) return std::printf("CGAL %s\n", CGAL_VERSION_STR), 0;
  Surfaces surfaces;
  while (read_surfaces(surfaces)) {
    const Found found = intersections(surfaces);
    std::printf("%lld %lld %lld %.17g %lld %lld\n", found.pairs, found.neighbours, found.flat, found.depth,
                static_cast<long long>(found.a), static_cast<long long>(found.b));
    std::fflush(stdout);
  }
  return 0;
}
