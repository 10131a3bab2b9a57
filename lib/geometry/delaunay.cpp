#include "geometry/delaunay.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace signorini {

namespace {

__extension__ using Wide = __int128;

/// Coordinates within ±2¹⁹: differences have 20 bits and a sign, `orientation` 63, `in_sphere` 109.
using Point = std::array<std::int64_t, 3>;
constexpr double kGrid = 0x1.0p19;

/// The fourth corner of tetrahedra over hull faces; they hold everything on the other side.
constexpr Index kInfinity = -1;

Point minus(const Point& a, const Point& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }

Wide determinant(const Point& a, const Point& b, const Point& c) {
  return Wide{a[0]} * (b[1] * c[2] - b[2] * c[1]) + Wide{a[1]} * (b[2] * c[0] - b[0] * c[2]) +
         Wide{a[2]} * (b[0] * c[1] - b[1] * c[0]);
}

int sign(Wide value) { return value > 0 ? 1 : value < 0 ? -1 : 0; }

class Triangulation {
 public:
  explicit Triangulation(std::vector<Point> points) : points_(std::move(points)) {
    const int first = orientation(0, 1, 2, 3);
    if (first == 0) throw_usage("delaunay: the first four points lie in one plane; shuffle them");
    const Tetrahedron tet = first > 0 ? Tetrahedron{0, 1, 2, 3} : Tetrahedron{0, 1, 3, 2};
    tets_.push_back(tet);
    for (const Triangle& face : faces_of(tet)) tets_.push_back({face[0], face[1], face[2], kInfinity});
    for (Index p = 4; p < count(points_); ++p) insert(p);
  }

  std::vector<Tetrahedron> finite_tets() const {
    std::vector<Tetrahedron> result;
    for (const Tetrahedron& tet : tets_) {
      if (tet[3] != kInfinity) result.push_back(lowest_first(tet));
    }
    std::sort(result.begin(), result.end());
    return result;
  }

 private:
  /// A face with its corners ascending, and as it stands in a tetrahedron, seen from outside.
  struct Face {
    Triangle key, outward;
  };

  const Point& at(Index i) const { return points_[i]; }

  int orientation(Index a, Index b, Index c, Index d) const {
    return sign(determinant(minus(at(b), at(a)), minus(at(c), at(a)), minus(at(d), at(a))));
  }

  /// p strictly inside the sphere through a positive tetrahedron: det(x_i − p, |x_i − p|²)_i > 0 in the
  /// orientation that makes it so.
  bool in_sphere(const Tetrahedron& tet, Index p) const {
    std::array<Point, 4> x;
    std::array<std::int64_t, 4> lift;
    for (std::size_t i = 0; i < 4; ++i) {
      x[i] = minus(at(tet[i]), at(p));
      lift[i] = x[i][0] * x[i][0] + x[i][1] * x[i][1] + x[i][2] * x[i][2];
    }
    const Wide value = -lift[0] * determinant(x[1], x[2], x[3]) + lift[1] * determinant(x[0], x[2], x[3]) -
                       lift[2] * determinant(x[0], x[1], x[3]) + lift[3] * determinant(x[0], x[1], x[2]);
    return value < 0;
  }

  static std::array<Triangle, 4> faces_of(const Tetrahedron& t) {
    return {{{t[1], t[2], t[3]}, {t[0], t[3], t[2]}, {t[0], t[1], t[3]}, {t[0], t[2], t[1]}}};
  }

  static Face face(const Triangle& outward) {
    Triangle key = outward;
    std::sort(key.begin(), key.end());
    return {key, outward};
  }

  /// An even permutation with the lowest corner first, then the lowest of the others.
  static Tetrahedron lowest_first(Tetrahedron t) {
    const std::size_t low = std::min_element(t.begin(), t.end()) - t.begin();
    if (low != 0) {
      std::swap(t[0], t[low]);
      std::swap(t[low == 1 ? 2 : 1], t[low == 3 ? 2 : 3]);
    }
    std::rotate(t.begin() + 1, std::min_element(t.begin() + 1, t.end()), t.end());
    return t;
  }

  /// The side of a hull face that p lies on. In its plane, p conflicts with what lies beyond exactly when it
  /// conflicts with the tetrahedron below: both spheres cut the plane in the same circle.
  bool beyond(const Tetrahedron& hull, Index p, const std::vector<Face>& conflict_faces) const {
    const int side = orientation(hull[0], hull[1], hull[2], p);
    if (side != 0) return side > 0;
    const Triangle key = face({hull[0], hull[1], hull[2]}).key;
    return std::any_of(conflict_faces.begin(), conflict_faces.end(),
                       [&](const Face& f) { return f.key == key; });
  }

  void insert(Index p) {
    conflict_.assign(tets_.size(), 0);
    std::vector<Face> faces;
    const auto take = [&](std::size_t t) {
      conflict_[t] = 1;
      for (const Triangle& f : faces_of(tets_[t])) faces.push_back(face(f));
    };
    for (std::size_t t = 0; t < tets_.size(); ++t) {
      if (tets_[t][3] != kInfinity && in_sphere(tets_[t], p)) take(t);
    }
    const std::vector<Face> finite = faces;
    for (std::size_t t = 0; t < tets_.size(); ++t) {
      if (tets_[t][3] == kInfinity && beyond(tets_[t], p, finite)) take(t);
    }
    if (faces.empty()) throw_usage("delaunay: point {} lies on another one", p);
    std::size_t kept = 0;
    for (std::size_t t = 0; t < tets_.size(); ++t) {
      if (!conflict_[t]) tets_[kept++] = tets_[t];
    }
    tets_.resize(kept);
    std::sort(faces.begin(), faces.end(), [](const Face& a, const Face& b) { return a.key < b.key; });
    for (std::size_t i = 0; i < faces.size(); ++i) {
      const bool paired = (i > 0 && faces[i - 1].key == faces[i].key) ||
                          (i + 1 < faces.size() && faces[i + 1].key == faces[i].key);
      if (!paired) add(faces[i].outward, p);
    }
  }

  /// The tetrahedron of p and a face of the cavity, infinity last.
  void add(const Triangle& outward, Index p) {
    Tetrahedron tet{p, outward[0], outward[1], outward[2]};
    for (std::size_t i = 1; i < 3; ++i) {
      if (tet[i] != kInfinity) continue;
      std::swap(tet[i], tet[3]);  // odd, and so is the next swap
      std::swap(tet[0], tet[i]);
      break;
    }
    tets_.push_back(tet);
  }

  std::vector<Point> points_;
  std::vector<Tetrahedron> tets_;
  std::vector<char> conflict_;
};

}  // namespace

TetMesh delaunay(const std::vector<Vector3>& points) {
  constexpr std::size_t kMost = 10000;
  if (points.size() < 4 || points.size() > kMost)
    throw_usage("delaunay: {} points, [4, {}] are possible", points.size(), kMost);
  Vector3 low = points[0], high = points[0];
  for (const Vector3& x : points) {
    if (!x.allFinite()) throw_usage("delaunay: a coordinate is not finite");
    low = low.cwiseMin(x);
    high = high.cwiseMax(x);
  }
  const Vector3 centre = 0.5 * (low + high);
  const double unit = 0.5 * (high - low).maxCoeff() / kGrid;
  if (!(unit > 0.0)) throw_usage("delaunay: all points are one");
  TetMesh mesh;
  std::vector<Point> rounded;
  for (const Vector3& x : points) {
    Point p;
    for (Index d = 0; d < 3; ++d) {
      p[d] = std::llround((x[d] - centre[d]) / unit);
    }
    rounded.push_back(p);
    mesh.vertices.push_back(centre + unit * Vector3(static_cast<double>(p[0]), static_cast<double>(p[1]),
                                                    static_cast<double>(p[2])));
  }
  mesh.tets = Triangulation(std::move(rounded)).finite_tets();
  return mesh;
}

}  // namespace signorini
