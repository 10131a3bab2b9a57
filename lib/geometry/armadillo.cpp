#include "geometry/armadillo.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "geometry/block.h"
#include "geometry/local_splits.h"

namespace signorini {

namespace {

/// Half widths over the half height along x and y, and shift along x, of one part of the body.
struct Part {
  double height;  ///< of its middle, from −1 (feet) to 1 (head)
  double reach;   ///< of its influence
  double width, depth, shift;
};

constexpr std::array<Part, 5> kParts{{{-0.90, 0.20, 0.36, 0.36, 0.05},
                                      {-0.45, 0.24, 0.44, 0.50, -0.04},
                                      {0.00, 0.22, 0.40, 0.46, 0.02},
                                      {0.36, 0.19, 0.34, 0.64, 0.05},
                                      {0.86, 0.20, 0.40, 0.36, 0.10}}};
/// Between the parts.
constexpr double kWaist = 0.24;

/// Square [−1, 1]² → a shape between it and the disc, as smooth as the disc's map but without its flat
/// corners.
std::array<double, 2> rounded(double x, double y) {
  constexpr double kRoundness = 0.20;  // 0.5 gives the disc
  return {x * std::sqrt(1.0 - kRoundness * y * y), y * std::sqrt(1.0 - kRoundness * x * x)};
}

/// [−1, 1]³ → body of half height 1.
Vector3 placed(const Vector3& u) {
  double width = kWaist, depth = kWaist, shift = 0.0;
  for (const Part& part : kParts) {
    const double distance = (u[2] - part.height) / part.reach;
    const double weight = std::exp(-distance * distance);
    width += weight * (part.width - kWaist);
    depth += weight * (part.depth - kWaist);
    shift += weight * part.shift;
  }
  // Both ends are domes: the sections move towards the middle away from the axis.
  const double end = std::pow(std::abs(u[2]), 6.0);
  const double from_axis = 0.5 * (u[0] * u[0] + u[1] * u[1]);
  const auto [x, y] = rounded(u[0], u[1]);
  const double narrow = 1.0 - 0.15 * end;
  return {narrow * width * x + shift, narrow * depth * y, u[2] * (1.0 - 0.02 * end * from_axis)};
}

}  // namespace

TetMesh armadillo(double height, double refinement) {
  if (!(height > 0.0) || !std::isfinite(height))
    throw_usage("armadillo: height {} m is not positive", height);
  if (!(refinement > 0.0) || !(refinement <= 1.0))
    throw_usage("armadillo: refinement {} is outside (0, 1]", refinement);
  const auto cells = [&](Index full) { return std::max(Index{2}, static_cast<Index>(full * refinement)); };
  TetMesh mesh = kuhn_block({cells(28), cells(31), cells(74)}, Vector3(2.0, 2.0, 2.0));
  for (Vector3& x : mesh.vertices) x = 0.5 * height * placed(x - Vector3::Ones());
  if (refinement == 1.0) split_locally(mesh, {.boundary_edges = 21, .interior_edges = 2, .centres = 99});
  return mesh;
}

}  // namespace signorini
