#include "scene/scene_shapes.h"

#include <Eigen/Geometry>
#include <cmath>
#include <numbers>

#include "base/check.h"
#include "geometry/armadillo.h"
#include "geometry/ball.h"
#include "geometry/bearing_sphere.h"
#include "geometry/bin.h"
#include "geometry/block.h"
#include "geometry/box_surface.h"
#include "geometry/bucket.h"
#include "geometry/bunny.h"
#include "geometry/flared_tube.h"
#include "geometry/groove.h"
#include "geometry/lathe.h"
#include "geometry/letters.h"
#include "geometry/mesh_file.h"
#include "geometry/plate.h"
#include "geometry/pyramid_object.h"
#include "geometry/refine.h"
#include "geometry/ring.h"
#include "geometry/skittle.h"
#include "geometry/small_cube.h"
#include "geometry/table.h"
#include "geometry/tetrahedralise.h"

namespace signorini {

namespace {

constexpr double kRadians = std::numbers::pi / 180.0;

template <class Mesh>
Mesh scaled(Mesh mesh, double scale) {
  for (Vector3& x : mesh.vertices) x *= scale;
  return mesh;
}

TriangleMesh surface_of(const SceneConfig& config, const FileConfig& file) {
  return scaled(read_surface(file_of(config, file)), file.scale);
}

TriangleMesh round_surface(int level, double radius) { return scaled(icosphere(level), radius); }

RingShape ring_shape(const BodyConfig& body) {
  RingShape shape;
  shape.radius = body.radius_m;
  shape.thickness = body.thickness_m;
  shape.segments = body.segments;
  return shape;
}

/// Nodes in a row along x, turned by `bend_deg` in the x–z plane at every inner one, around their mean.
SpringNetwork chain(const BodyConfig& body, const MaterialConfig& material) {
  SpringNetwork network;
  network.damping = material.damping_1_s;
  Vector3 x = Vector3::Zero(), mean = Vector3::Zero();
  for (Index i = 0; i < body.nodes; ++i) {
    network.vertices.push_back(x);
    network.mass.push_back(material.node_mass_kg);
    mean += x / body.nodes;
    const double angle = kRadians * body.bend_deg * i;
    x += body.length_m * Vector3(std::cos(angle), 0.0, std::sin(angle));
  }
  for (Vector3& vertex : network.vertices) vertex -= mean;
  for (Index i = 0; i + 1 < body.nodes; ++i) {
    network.springs.push_back(
        {i, i + 1, material.stiffness_n, material.spring_damping_s * material.stiffness_n, body.length_m});
    network.edges.push_back({i, i + 1});
  }
  for (Index i = 0; i + 2 < body.nodes && material.hinge_n_m > 0.0; ++i) {
    const auto* vertex = &network.vertices[static_cast<std::size_t>(i)];
    network.hinges.push_back(
        {i, i + 1, i + 2, material.hinge_n_m, hinge_angle(vertex[0], vertex[1], vertex[2])});
  }
  return network;
}

char letter_of(const BodyConfig& body, int number) {
  return body.text[static_cast<std::size_t>(number) % body.text.size()];
}

FlaredTube tube_shape(const BodyConfig& body) {
  FlaredTube shape;
  shape.top_radius = body.top_radius_m;
  shape.bottom_radius = body.bottom_radius_m;
  shape.length = body.length_m;
  shape.columns = body.columns;
  shape.rows = body.rows;
  shape.folds = body.folds;
  shape.fold_depth = body.fold_depth_m;
  return shape;
}

TriangleMesh unplaced_obstacle(const SceneConfig& config, const ObstacleConfig& obstacle) {
  switch (obstacle.shape) {
    case ObstacleShape::ground:
      return ground(obstacle.extent_m);
    case ObstacleShape::bucket:
      return bucket({obstacle.floor_radius_m, obstacle.rim_radius_m, obstacle.height_m, obstacle.segments});
    case ObstacleShape::bin:
      return bin(obstacle.size_m);
    case ObstacleShape::box:
      return box_surface(obstacle.size_m);
    case ObstacleShape::wall: {
      // +z → +x: the plate's width becomes the height.
      TriangleMesh mesh = plate(obstacle.height_m, obstacle.width_m);
      for (Vector3& x : mesh.vertices) x = Vector3(x[2], x[1], -x[0]);
      return mesh;
    }
    case ObstacleShape::sphere:
      return round_surface(obstacle.level, obstacle.radius_m);
    case ObstacleShape::cylinder:
      return cylinder_surface(obstacle.radius_m, obstacle.length_m, obstacle.segments);
    case ObstacleShape::capsule:
      return capsule_surface(obstacle.radius_m, obstacle.length_m, obstacle.segments);
    case ObstacleShape::groove:
      return groove({.track_radius = obstacle.track_radius_m,
                     .radius = obstacle.radius_m,
                     .from_deg = obstacle.from_deg,
                     .to_deg = obstacle.to_deg,
                     .segments = obstacle.segments});
    case ObstacleShape::surface:
      return surface_of(config, obstacle.surface);
  }
  SIGNORINI_CHECK(false);
}

TetMesh unrefined_solid(const SceneConfig& config, const BodyConfig& body, int number,
                        const std::string& context) {
  switch (body.shape) {
    case BodyShape::ball:
      return tet_ball(body.level, body.radius_m);
    case BodyShape::ring:
      return ring(ring_shape(body));
    case BodyShape::pyramid_object:
      return pyramid_object(body.width_m);
    case BodyShape::small_cube:
      return small_cube(body.width_m);
    case BodyShape::bunny:
      return bunny(body.length_m);
    case BodyShape::bearing_sphere:
      return bearing_sphere(body.radius_m);
    case BodyShape::armadillo:
      return armadillo(body.length_m, 1.0 / body.coarseness);
    case BodyShape::letter:
      return text_letter(letter_of(body, number), number, body.width_m, {body.cage_cells, body.cage_layers});
    case BodyShape::skittle:
      return skittle({body.length_m, body.radius_m, body.segments, body.rings});
    case BodyShape::table:
      return table(body.cell_m);
    case BodyShape::footed_block:
      return footed_block(body.feet, body.cell_m);
    case BodyShape::mesh:
      return scaled(read_tet_mesh(file_of(config, body.mesh)), body.mesh.scale);
    case BodyShape::surface: {
      TetrahedraliseOptions options;
      options.largest_volume = body.largest_tet_m3;
      return tetrahedralise(surface_of(config, body.surface), options, context);
    }
    default: {
      SIGNORINI_CHECK(body.shape == BodyShape::block);
      TetMesh mesh = kuhn_block({body.cells[0], body.cells[1], body.cells[2]}, body.size_m);
      for (Vector3& x : mesh.vertices) x -= 0.5 * body.size_m;
      return mesh;
    }
  }
}

}  // namespace

Matrix3 rotation_about(const Vector3& axis, double degrees) {
  return Eigen::AngleAxisd(kRadians * degrees, axis.normalized()).toRotationMatrix();
}

TetMesh solid_shape(const SceneConfig& config, const BodyConfig& body, int number,
                    const std::string& context) {
  TetMesh mesh = unrefined_solid(config, body, number, context);
  for (int n = 0; n < body.refinements; ++n) mesh = refined(mesh);
  return mesh;
}

std::optional<TriangleMesh> skin_shape(const SceneConfig& config, const BodyConfig& body, int number) {
  if (body.shape == BodyShape::letter && body.bevel > 0.0)
    return letter_surface(letter_of(body, number), body.width_m, body.bevel);
  if (body.skin.path.empty()) return std::nullopt;
  return surface_of(config, body.skin);
}

TriangleMesh rigid_shape(const SceneConfig& config, const BodyConfig& body) {
  switch (body.shape) {
    case BodyShape::sphere:
      return round_surface(body.level, body.radius_m);
    case BodyShape::cylinder:
      return cylinder_surface(body.radius_m, body.length_m, body.segments);
    case BodyShape::ring: {
      std::vector<Index> unused;
      return boundary_surface(ring(ring_shape(body)), unused);
    }
    case BodyShape::surface:
      return surface_of(config, body.surface);
    default:
      SIGNORINI_CHECK(body.shape == BodyShape::box);
      return box_surface(body.size_m);
  }
}

SpringNetwork spring_shape(const SceneConfig& config, const BodyConfig& body,
                           const MaterialConfig& material) {
  switch (body.shape) {
    case BodyShape::sheet:
      return grid_cloth(body.columns, body.rows, body.width_m, body.depth_m, material.cloth());
    case BodyShape::tube:
      return mesh_cloth(flared_tube(tube_shape(body)), material.cloth());
    case BodyShape::surface:
      return mesh_cloth(surface_of(config, body.surface), material.cloth());
    default:
      SIGNORINI_CHECK(body.shape == BodyShape::chain);
      return chain(body, material);
  }
}

TriangleMesh obstacle_shape(const SceneConfig& config, const ObstacleConfig& obstacle) {
  TriangleMesh mesh = unplaced_obstacle(config, obstacle);
  const Matrix3 rotation = rotation_about(obstacle.rotation_axis, obstacle.rotation_deg);
  for (Vector3& x : mesh.vertices) {
    // Exactly where it was made when nothing turns it.
    if (obstacle.rotation_deg != 0.0) x = rotation * x;
    x += obstacle.position_m;
  }
  return mesh;
}

}  // namespace signorini
