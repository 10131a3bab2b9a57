#include "bodies/embedding.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/check.h"
#include "geometry/point_triangle.h"

namespace signorini {

namespace {

const Vector3& corner(const TetMesh& mesh, const Tetrahedron& tet, std::size_t i) {
  return mesh.vertices[tet[i]];
}

/// Weights w with Σ w = 1 and Σ w_i x_i = p. The tetrahedron has volume.
std::array<double, 4> barycentric(const Vector3& p, const TetMesh& mesh, const Tetrahedron& tet) {
  const Vector3& x_0 = corner(mesh, tet, 0);
  const Vector3 a = corner(mesh, tet, 1) - x_0;
  const Vector3 b = corner(mesh, tet, 2) - x_0;
  const Vector3 c = corner(mesh, tet, 3) - x_0;
  const Vector3 d = p - x_0;
  const double volume = a.dot(b.cross(c));
  const double w_1 = d.dot(b.cross(c)) / volume;
  const double w_2 = d.dot(c.cross(a)) / volume;
  const double w_3 = d.dot(a.cross(b)) / volume;
  return {1.0 - w_1 - w_2 - w_3, w_1, w_2, w_3};
}

/// Squared distance of p to a tetrahedron, zero inside.
double squared_distance(const Vector3& p, const TetMesh& mesh, const Tetrahedron& tet) {
  const std::array<double, 4> w = barycentric(p, mesh, tet);
  if (*std::min_element(w.begin(), w.end()) >= 0.0) return 0.0;
  double nearest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < 4; ++i) {
    if (w[i] >= 0.0) continue;  // p lies on the inner side of the face opposite to corner i
    const PointTriangle face = closest_point(p, corner(mesh, tet, (i + 1) % 4),
                                             corner(mesh, tet, (i + 2) % 4), corner(mesh, tet, (i + 3) % 4));
    nearest = std::min(nearest, face.distance * face.distance);
  }
  return nearest;
}

/// Tree of boxes over the tetrahedra, split at the median of the longest axis of their centres.
class TetTree {
 public:
  explicit TetTree(const TetMesh& mesh) : mesh_(mesh), order_(mesh.tets.size()) {
    std::iota(order_.begin(), order_.end(), Index{0});
    centre_.reserve(mesh.tets.size());
    for (const Tetrahedron& tet : mesh.tets) {
      centre_.push_back(
          0.25 * (corner(mesh, tet, 0) + corner(mesh, tet, 1) + corner(mesh, tet, 2) + corner(mesh, tet, 3)));
    }
    nodes_.reserve(mesh.tets.size());
    build(0, order_.size());
  }

  struct Nearest {
    Index tet = -1;
    double squared_distance = std::numeric_limits<double>::infinity();
  };
  /// The nearest tetrahedron, of equal ones the lowest number.
  Nearest nearest(const Vector3& p) const {
    Nearest best;
    visit(0, p, best);
    return best;
  }

 private:
  static constexpr std::size_t kLeaf = 4;
  struct Node {
    Vector3 low, high;
    std::size_t right = 0;           // of an inner node; its left child is the next node
    std::size_t begin = 0, end = 0;  // of order_ in a leaf, empty in an inner node
  };

  std::size_t build(std::size_t begin, std::size_t end) {
    const std::size_t number = nodes_.size();
    Node node;
    node.low.setConstant(std::numeric_limits<double>::infinity());
    node.high = -node.low;
    Vector3 low = node.low, high = node.high;  // of the centres
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t tet = order_[i];
      for (std::size_t c = 0; c < 4; ++c) {
        node.low = node.low.cwiseMin(corner(mesh_, mesh_.tets[tet], c));
        node.high = node.high.cwiseMax(corner(mesh_, mesh_.tets[tet], c));
      }
      low = low.cwiseMin(centre_[tet]);
      high = high.cwiseMax(centre_[tet]);
    }
    nodes_.push_back(node);
    if (end - begin <= kLeaf) {
      nodes_[number].begin = begin;
      nodes_[number].end = end;
      return number;
    }
    Eigen::Index axis = 0;
    (high - low).maxCoeff(&axis);
    const std::size_t middle = begin + (end - begin) / 2;
    const auto first = order_.begin();
    std::nth_element(first + begin, first + middle, first + end, [this, axis](Index a, Index b) {
      const double x = centre_[a][axis];
      const double y = centre_[b][axis];
      return x != y ? x < y : a < b;
    });
    build(begin, middle);
    const std::size_t right = build(middle, end);
    nodes_[number].right = right;
    return number;
  }

  double to_box(const Vector3& p, const Node& node) const {
    return (p - p.cwiseMax(node.low).cwiseMin(node.high)).squaredNorm();
  }

  void visit(std::size_t number, const Vector3& p, Nearest& best) const {
    const Node& node = nodes_[number];
    if (node.begin == node.end) {
      std::array<std::size_t, 2> children{number + 1, node.right};
      std::array<double, 2> distance{to_box(p, nodes_[children[0]]), to_box(p, nodes_[children[1]])};
      if (distance[1] < distance[0]) {
        std::swap(children[0], children[1]);
        std::swap(distance[0], distance[1]);
      }
      for (std::size_t c = 0; c < 2; ++c) {
        if (distance[c] <= best.squared_distance) visit(children[c], p, best);
      }
      return;
    }
    for (std::size_t i = node.begin; i < node.end; ++i) {
      const Index tet = order_[i];
      const double d = squared_distance(p, mesh_, mesh_.tets[tet]);
      if (d < best.squared_distance || (d == best.squared_distance && tet < best.tet)) best = {tet, d};
    }
  }

  const TetMesh& mesh_;
  std::vector<Index> order_;
  std::vector<Vector3> centre_;
  std::vector<Node> nodes_;
};

void check_cage(const TetMesh& cage, std::string_view context) {
  if (cage.tets.empty()) throw_usage("{}: the cage of an embedded surface has no tetrahedra", context);
  for (std::size_t t = 0; t < cage.tets.size(); ++t) {
    if (!(tet_volume(cage, cage.tets[t]) > 0.0)) {
      throw_usage("{}: tetrahedron {} of the cage is flat or inverted", context, t);
    }
  }
}

double mean_edge(const TetMesh& cage) {
  double sum = 0.0;
  for (const Tetrahedron& tet : cage.tets) {
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = i + 1; j < 4; ++j) sum += (corner(cage, tet, i) - corner(cage, tet, j)).norm();
    }
  }
  return sum / static_cast<double>(6 * cage.tets.size());
}

}  // namespace

Embedding embed(const TriangleMesh& surface, const TetMesh& cage, std::string_view context) {
  check_cage(cage, context);
  const TetTree tree(cage);
  const double allowed = 0.5 * mean_edge(cage);
  Embedding result;
  result.nodes.reserve(surface.vertices.size());
  result.weights.reserve(surface.vertices.size());
  for (std::size_t v = 0; v < surface.vertices.size(); ++v) {
    const Vector3& x = surface.vertices[v];
    if (!x.allFinite()) throw_usage("{}: vertex {} of the embedded surface is not finite", context, v);
    const TetTree::Nearest nearest = tree.nearest(x);
    const double distance = std::sqrt(nearest.squared_distance);
    if (distance > allowed) {
      throw_usage(
          "{}: vertex {} of the embedded surface at ({:.4g}, {:.4g}, {:.4g}) is {:.3g} m outside its cage, "
          "more "
          "than half a mean edge ({:.3g} m); use a cage that encloses the surface",
          context, v, x[0], x[1], x[2], distance, allowed);
    }
    const Tetrahedron& tet = cage.tets[nearest.tet];
    result.nodes.push_back(tet);
    result.weights.push_back(barycentric(x, cage, tet));
  }
  return result;
}

}  // namespace signorini
