#include "scene/scene_builder.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/check.h"
#include "base/rng.h"
#include "base/text.h"
#include "geometry/ball.h"
#include "geometry/block.h"
#include "geometry/bucket.h"
#include "scene/point_triangle_surface.h"

namespace signorini {

namespace {

/// Uniformly distributed rotation (Shoemake 1992).
Matrix3 random_rotation(Rng& rng) {
  const double u = rng.uniform();
  const double a = 2.0 * std::numbers::pi * rng.uniform();
  const double b = 2.0 * std::numbers::pi * rng.uniform();
  const double p = std::sqrt(1.0 - u);
  const double q = std::sqrt(u);
  return Eigen::Quaterniond(q * std::cos(b), p * std::sin(a), p * std::cos(a), q * std::sin(b))
      .toRotationMatrix();
}

/// The shape around the origin.
TetMesh body_mesh(const BodyConfig& body) {
  if (body.shape == BodyShape::ball) return tet_ball(body.level, body.radius_m);
  TetMesh mesh = kuhn_block({body.cells[0], body.cells[1], body.cells[2]}, body.size_m);
  for (Vector3& x : mesh.vertices) x -= 0.5 * body.size_m;
  return mesh;
}

/// Body `number` of its group: layer number / per_layer, place number mod per_layer on the circle.
Placement placement_of(const BodyConfig& body, int number, Rng rng) {
  const int layer = number / body.per_layer;
  const double turn = (number % body.per_layer) + 0.5 * (layer % 2);
  const double angle = 2.0 * std::numbers::pi * turn / body.per_layer;
  Placement placement;
  placement.translation =
      body.position_m + Vector3(body.circle_radius_m * std::cos(angle),
                                body.circle_radius_m * std::sin(angle), body.layer_height_m * layer);
  for (Index d = 0; d < 3; ++d) placement.translation[d] += rng.uniform(-body.jitter_m, body.jitter_m);
  if (body.random_orientation) placement.rotation = random_rotation(rng);
  placement.velocity = body.velocity_m_s;
  return placement;
}

TriangleMesh obstacle_mesh(const ObstacleConfig& obstacle) {
  TriangleMesh mesh =
      obstacle.shape == ObstacleShape::bucket
          ? bucket({obstacle.floor_radius_m, obstacle.rim_radius_m, obstacle.height_m, obstacle.segments})
          : ground(obstacle.extent_m);
  for (Vector3& x : mesh.vertices) x += obstacle.position_m;
  return mesh;
}

double mean_edge(const CollisionModel& model, std::span<const Vector3> position) {
  double sum = 0.0;
  for (const Triangle& t : model.triangles) {
    for (std::size_t e = 0; e < 3; ++e) {
      sum += (position[static_cast<std::size_t>(t[(e + 1) % 3])] - position[static_cast<std::size_t>(t[e])])
                 .norm();
    }
  }
  return sum / static_cast<double>(3 * model.triangles.size());
}

}  // namespace

BuiltScene build_scene(const SceneConfig& config) {
  BuiltScene scene;
  Index stream = 0;
  for (const auto& [name, body] : config.bodies) {
    const TetMesh mesh = body_mesh(body);
    const ElasticMaterial material = config.materials.at(body.material).material();
    for (int i = 0; i < body.count; ++i) {
      const Rng rng(static_cast<std::uint64_t>(config.seed), static_cast<std::uint64_t>(stream++));
      scene.bodies.add_solid(name, mesh, material, placement_of(body, i, rng));
    }
  }
  for (const auto& [name, obstacle] : config.obstacles)
    scene.bodies.add_kinematic(name, obstacle_mesh(obstacle), Motion{});
  scene.bodies.finish();
  const double stable = scene.bodies.largest_stable_step();
  if (!(config.time.step_s <= stable)) {
    throw_usage(
        "{}: time.step_s = {} s is unstable; the smallest element and the stiffest material allow at most "
        "{:.3g} s",
        config.path, exact_text(config.time.step_s), stable);
  }
  const CollisionModel collision = point_triangle_surface(scene.bodies).model;
  const std::vector<Vector3>& start = scene.bodies.surface_rest();

  const ContactConfig& contact = config.contact;
  scene.detection.tolerance = contact.tolerance_m;
  scene.detection.depth = contact.depth_m;
  scene.detection.rest_speed = contact.rest_speed_m_s;
  scene.detection.cell = mean_edge(collision, start);
  const double overlap = deepest_penetration(collision, start, scene.detection.cell);
  if (overlap > contact.tolerance_m) {
    throw_usage(
        "{}: bodies overlap by {:.3g} m at the start; move them apart (bodies.*.position_m, circle_radius_m, "
        "layer_height_m, jitter_m)",
        config.path, overlap);
  }
  scene.stepping.dt = config.time.step_s;
  scene.stepping.gravity = config.time.gravity_m_s2;
  scene.stepping.law = {contact.friction, contact.restitution, contact.rest_speed_m_s, contact.recovery,
                        contact.recovery_speed_m_s};
  scene.stepping.stop.residual = config.solver.tolerance;
  scene.stepping.stop.max_iterations = config.solver.max_iterations;
  scene.stepping.accepted_residual = config.solver.accepted_residual;
  return scene;
}

}  // namespace signorini
