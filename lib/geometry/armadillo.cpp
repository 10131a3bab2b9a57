#include "geometry/armadillo.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/rng.h"
#include "geometry/laplacian.h"
#include "geometry/local_splits.h"
#include "geometry/smooth.h"
#include "geometry/voxels.h"

namespace signorini {

namespace {

using Place = std::array<double, 3>;

/// A box of the lattice and what becomes of it. All lengths in cells of the full mesh.
struct Part {
  std::array<double, 3> low, high;
  int parent;                   ///< the part whose face it grows from; −1: the trunk
  std::size_t axis;             ///< of its length
  double sign;                  ///< grows towards + or − of the axis
  double stretch;               ///< of its length
  std::array<double, 4> width;  ///< of its section over that of the box, at 0, 1/3, 2/3 and 1 of its length
  Place bend;                   ///< shift of its end; it grows with the square of the length
  double droop = 0.0;  ///< its axis is an arc that turns from its direction towards −z by this angle; rad
};

// x: back to front, y: right to left, z: feet to ears.
constexpr std::array<Part, 10> kParts{{
    {{12, 13, 16}, {40, 39, 50}, -1, 2, +1.0, 1.0, {0.88, 1.06, 1.02, 0.82}, {0, 0, 0}},    // trunk
    {{16, 16, 50}, {36, 36, 66}, 0, 2, +1.0, 1.0, {1.0, 0.80, 0.92, 0.74}, {1.5, 0, 0}},    // head
    {{20, 13, 0}, {36, 24, 16}, 0, 2, -1.0, 1.35, {1.0, 0.86, 0.74, 0.84}, {3, -1.5, 0}},   // right leg
    {{20, 28, 0}, {36, 39, 16}, 0, 2, -1.0, 1.35, {1.0, 0.86, 0.74, 0.84}, {3, 1.5, 0}},    // left leg
    {{19, 0, 33}, {33, 13, 47}, 0, 1, -1.0, 1.6, {1.0, 0.80, 0.70, 0.72}, {2, 0, 5}},       // right arm
    {{19, 39, 33}, {33, 52, 47}, 0, 1, +1.0, 1.6, {1.0, 0.80, 0.70, 0.72}, {2, 0, 5}},      // left arm
    {{0, 20, 17}, {12, 32, 29}, 0, 0, -1.0, 1.6, {1.0, 0.80, 0.68, 0.55}, {0, 0, 0}, 1.3},  // tail
    {{36, 21, 53}, {40, 31, 61}, 1, 0, +1.0, 1.7, {1.0, 0.90, 0.76, 0.58}, {0, 0, -1}},     // snout
    {{22, 17, 66}, {28, 22, 70}, 1, 2, +1.0, 1.9, {1.0, 1.0, 0.85, 0.60}, {-1, -2.5, 0}},   // right ear
    {{22, 30, 66}, {28, 35, 70}, 1, 2, +1.0, 1.9, {1.0, 1.0, 0.85, 0.60}, {-1, 2.5, 0}},    // left ear
}};
constexpr std::array<Index, 3> kLattice{40, 52, 70};
constexpr double kRoundness =
    0.2;  ///< of sections; 0.5 makes a disc of a square, with flat elements at its corners

/// Linear between four equally spaced values.
double between(const std::array<double, 4>& values, double t) {
  const double at = 3.0 * std::clamp(t, 0.0, 1.0);
  const auto i = std::min<std::size_t>(2, static_cast<std::size_t>(at));
  const double share = at - static_cast<double>(i);
  return (1.0 - share) * values[i] + share * values[i + 1];
}

/// The parts on a lattice of cells `cell` times as wide, and their map.
class Shape {
 public:
  explicit Shape(double cell) : cell_(cell), parts_(kParts) {
    const auto nearest = [&](double x) { return cell * std::round(x / cell); };
    for (Part& part : parts_) {
      for (std::size_t d = 0; d < 3; ++d) {
        part.low[d] = nearest(part.low[d]);
        part.high[d] = std::max(nearest(part.high[d]), part.low[d] + cell);
      }
    }
  }

  std::array<Index, 3> cells() const {
    std::array<Index, 3> cells{1, 1, 1};
    for (const Part& part : parts_) {
      for (std::size_t d = 0; d < 3; ++d)
        cells[d] = std::max(cells[d], static_cast<Index>(std::lround(part.high[d] / cell_)));
    }
    return cells;
  }
  bool is_filled(Index i, Index j, Index k) const {
    return part_of(cell_ * Vector3(i + 0.5, j + 0.5, k + 0.5)) >= 0;
  }
  /// Where the lattice point u (in cells of the full mesh) goes. On faces that two parts share the first one decides.
  Vector3 placed(const Vector3& u) const { return placed(u, part_of(u)); }

 private:
  int part_of(const Vector3& u) const {
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      bool inside = true;
      for (std::size_t d = 0; d < 3; ++d)
        inside = inside && u[d] > parts_[p].low[d] - 1e-9 && u[d] < parts_[p].high[d] + 1e-9;
      if (inside) return static_cast<int>(p);
    }
    return -1;
  }

  Vector3 placed(const Vector3& u, int number) const {
    const Part& part = parts_[number];
    const std::size_t n = part.axis, a = (n + 1) % 3, b = (n + 2) % 3;
    const double base = part.sign > 0.0 ? part.low[n] : part.high[n];
    const double length = part.high[n] - part.low[n];
    const double along = part.sign * (u[n] - base) / length;
    Vector3 middle;
    middle[a] = 0.5 * (part.low[a] + part.high[a]);
    middle[b] = 0.5 * (part.low[b] + part.high[b]);
    middle[n] = base;
    Vector3 foot = u;
    foot[n] = base;
    Vector3 centre = middle, arm = foot - middle;
    if (part.parent >= 0) {
      centre = placed(middle, part.parent);
      arm = placed(foot, part.parent) - centre;
    }
    const double s = 2.0 * (u[a] - middle[a]) / (part.high[a] - part.low[a]);
    const double t = 2.0 * (u[b] - middle[b]) / (part.high[b] - part.low[b]);
    // The section of the trunk is round everywhere; the others grow out of the face that they stand on.
    const double grown = part.parent < 0 ? 1.0 : std::min(1.0, 3.0 * along);
    const double width = between(part.width, along);
    arm[a] *= width * std::sqrt(1.0 - grown * kRoundness * t * t);
    arm[b] *= width * std::sqrt(1.0 - grown * kRoundness * s * s);
    arm[n] *= 1.0 - grown;
    Vector3 x = centre + arm;
    const double reach = part.stretch * along * length, angle = part.droop * along;
    if (angle > 0.0) {
      // Along an arc of radius reach/angle; the section turns with it.
      const Vector3 ahead = part.sign * Vector3::Unit(static_cast<Index>(n)), down = -Vector3::UnitZ();
      const double below = arm.dot(down);
      x += reach / angle * (std::sin(angle) * ahead + (1.0 - std::cos(angle)) * down);
      x += below * ((std::cos(angle) - 1.0) * down - std::sin(angle) * ahead);
    } else {
      x[n] += part.sign * reach;
    }
    for (std::size_t d = 0; d < 3; ++d) x[d] += along * along * part.bend[d];
    return x;
  }

  double cell_;
  std::array<Part, 10> parts_;
};

/// Layers of cells between a cell and the outside, 1 for cells with an outer square. Order: of the filled cells.
std::vector<int> depths(const Shape& shape, const std::array<Index, 3>& cells) {
  const Index nx = cells[0] + 2, ny = cells[1] + 2, nz = cells[2] + 2;  // with a margin
  std::vector<int> depth(static_cast<std::size_t>(nx) * ny * nz, 0);
  const auto place = [&](Index i, Index j, Index k) { return i + nx * (j + ny * k); };
  const auto for_filled = [&](auto&& work) {
    for (Index k = 1; k + 1 < nz; ++k) {
      for (Index j = 1; j + 1 < ny; ++j) {
        for (Index i = 1; i + 1 < nx; ++i) {
          if (shape.is_filled(i - 1, j - 1, k - 1)) work(place(i, j, k));
        }
      }
    }
  };
  std::vector<Index> filled;
  for_filled([&](Index cell) { filled.push_back(cell); });
  for (const Index cell : filled) depth[cell] = 1;
  bool deeper = true;
  for (int layer = 1; deeper; ++layer) {
    deeper = false;
    for (const Index cell : filled) {
      const auto is_inside = [&](Index step) {
        return depth[cell - step] >= layer && depth[cell + step] >= layer;
      };
      if (depth[cell] < layer || !is_inside(1) || !is_inside(nx) || !is_inside(nx * ny)) continue;
      depth[cell] = layer + 1;
      deeper = true;
    }
  }
  std::vector<int> result;
  for (const Index cell : filled) result.push_back(depth[cell]);
  return result;
}

/// A vertex in the middle of the diagonal that the six tets of a cell share; cell c has the tets 6 c … 6 c + 5.
void split_cell(TetMesh& mesh, std::size_t cell) {
  const Index first = mesh.tets[6 * cell][0];   // corner (0, 0, 0)
  const Index second = mesh.tets[6 * cell][3];  // corner (1, 1, 1)
  const Index middle = count(mesh.vertices);
  mesh.vertices.push_back(0.5 * (mesh.vertices[first] + mesh.vertices[second]));
  for (std::size_t t = 6 * cell; t < 6 * cell + 6; ++t) {
    Tetrahedron other = mesh.tets[t];
    std::replace(mesh.tets[t].begin(), mesh.tets[t].end(), first, middle);
    std::replace(other.begin(), other.end(), second, middle);
    mesh.tets.push_back(other);
  }
}

void split_deepest_cells(TetMesh& mesh, const std::vector<int>& depth, std::size_t splits) {
  std::vector<std::size_t> order(depth.size());
  for (std::size_t c = 0; c < order.size(); ++c) order[c] = c;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return depth[a] > depth[b]; });
  for (std::size_t c = 0; c < splits; ++c) split_cell(mesh, order[c]);
}

/// Laplacian smoothing over a length that does not depend on the lattice, and mending of what it made worst.
void round_off(TetMesh& mesh, double cell) {
  constexpr double kSweeps = 4.0;
  laplacian_smooth(mesh, std::max(1, static_cast<int>(std::lround(kSweeps / (cell * cell)))));
  std::vector<Vector3> parameters = mesh.vertices;
  Rng rng(2019);
  smooth(
      mesh, parameters, [](Index, Vector3& u) { return u; },
      {.step = 0.15 * cell, .trials = 8, .sweeps = 30, .below = 0.23}, rng);
}

void scale_to(TetMesh& mesh, double height) {
  double low = mesh.vertices[0][2], high = low;
  for (const Vector3& x : mesh.vertices) {
    low = std::min(low, x[2]);
    high = std::max(high, x[2]);
  }
  const Vector3 middle(0.5 * (kParts[0].low[0] + kParts[0].high[0]), 0.5 * kLattice[1], 0.5 * (low + high));
  for (Vector3& x : mesh.vertices) x = height / (high - low) * (x - middle);
}

}  // namespace

TetMesh armadillo(double height, double refinement) {
  if (!(height > 0.0) || !std::isfinite(height))
    throw_usage("armadillo: height {} m is not positive", height);
  if (!(refinement > 0.0) || !(refinement <= 1.0))
    throw_usage("armadillo: refinement {} is outside (0, 1]", refinement);
  const double cell = 1.0 / refinement;
  const Shape shape(cell);
  const std::array<Index, 3> cells = shape.cells();
  const Vector3 size = cell * Vector3(cells[0], cells[1], cells[2]);
  TetMesh mesh = kuhn_voxels(
      cells, size, [&](Index i, Index j, Index k) { return shape.is_filled(i, j, k); }, "armadillo");
  for (Vector3& x : mesh.vertices) x = shape.placed(x);
  round_off(mesh, cell);
  if (refinement == 1.0) {
    split_deepest_cells(mesh, depths(shape, cells), 20121);
    split_locally(mesh, {.boundary_edges = 1, .centres = 1});
  }
  scale_to(mesh, height);
  return mesh;
}

}  // namespace signorini
