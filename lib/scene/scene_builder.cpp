#include "scene/scene_builder.h"

#include <fmt/ranges.h>

#include <Eigen/Geometry>
#include <cmath>
#include <numbers>

#include "base/check.h"
#include "base/rng.h"
#include "base/text.h"
#include "base/usable_memory.h"
#include "collision/contact_finder.h"
#include "geometry/refine.h"
#include "scene/scene_memory.h"

namespace signorini {

namespace {

/// Share of the tolerance that contacts of explicit steps with edges keep open.
constexpr double kKeptShare = 0.5;

/// By `degrees` about `axis` (any length but 0).
Matrix3 rotation_about(const Vector3& axis, double degrees) {
  return Eigen::AngleAxisd(std::numbers::pi / 180.0 * degrees, axis.normalized()).toRotationMatrix();
}

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

/// Place of body `number` of its group relative to `position_m`, before jitter.
Vector3 place_of(const BodyConfig& body, int number) {
  if (body.arrangement == Arrangement::grid) {
    const int x = number % body.grid[0], y = number / body.grid[0] % body.grid[1],
              z = number / body.grid[0] / body.grid[1];
    return body.pitch_m.cwiseProduct(Vector3(x - 0.5 * (body.grid[0] - 1), y - 0.5 * (body.grid[1] - 1), z));
  }
  const int layer = number / body.per_layer;
  const double turn = (number % body.per_layer) + 0.5 * (layer % 2);
  const double angle = 2.0 * std::numbers::pi * turn / body.per_layer;
  return {body.circle_radius_m * std::cos(angle), body.circle_radius_m * std::sin(angle),
          body.layer_height_m * layer};
}

Placement placement_of(const BodyConfig& body, int number, Rng rng) {
  Placement placement;
  placement.translation = body.position_m + place_of(body, number);
  for (Index d = 0; d < 3; ++d) placement.translation[d] += rng.uniform(-body.jitter_m, body.jitter_m);
  if (body.rotation_deg != 0.0) placement.rotation = rotation_about(body.rotation_axis, body.rotation_deg);
  if (body.random_orientation) placement.rotation = random_rotation(rng) * placement.rotation;
  placement.velocity = body.velocity_m_s;
  placement.angular_velocity = body.angular_velocity_rad_s;
  return placement;
}

void stop_when_cancelled(const CancelFlag* flag) {
  if (is_cancelled(flag)) throw Cancelled();
}

/// A mistake in `table` that shows only when its bodies are made.
template <class Work>
void named(const SceneConfig& config, const std::string& table, Work&& work) {
  try {
    work();
  } catch (const UsageError& e) {
    throw_usage("{}: [{}]: {}", config.places.at(table), table, e.what());
  }
}

SolidMesh solid_mesh(const BodyConfig& body, const ShapeContext& context) {
  auto solid = std::get<SolidMesh>(body.shape->build(context));
  for (int n = 0; n < body.refinements; ++n) solid.mesh = refined(solid.mesh);
  if (!body.skin.path.empty()) solid.skin = body.skin.read_surface(context.folder);
  return solid;
}

TriangleMesh surface_mesh(const Shape& shape, const ShapeContext& context) {
  ShapeGeometry geometry = shape.build(context);
  if (auto* surface = std::get_if<TriangleMesh>(&geometry)) return std::move(*surface);
  std::vector<Index> unused;
  return boundary_surface(std::get<SolidMesh>(geometry).mesh, unused);
}

SpringNetwork spring_network(const Shape& shape, const ShapeContext& context) {
  ShapeGeometry geometry = shape.build(context);
  if (auto* mesh = std::get_if<TriangleMesh>(&geometry)) return mesh_cloth(*mesh, context.material->cloth());
  return std::get<SpringNetwork>(std::move(geometry));
}

/// In its place in the world at time 0, without its motion.
TriangleMesh placed_surface(const ObstacleConfig& obstacle, const ShapeContext& context) {
  TriangleMesh mesh = surface_mesh(*obstacle.shape, context);
  const Matrix3 rotation = rotation_about(obstacle.rotation_axis, obstacle.rotation_deg);
  for (Vector3& x : mesh.vertices) {
    // Exactly where it was made when nothing turns it.
    if (obstacle.rotation_deg != 0.0) x = rotation * x;
    x += obstacle.position_m;
  }
  return mesh;
}

/// Bodies of one group, all of the same rest shape.
struct Group {
  std::vector<Index> bodies;
  std::vector<Vector3> rest;  ///< vertices that pins can hold
};

Group add_group(const SceneConfig& config, const std::string& name, const BodyConfig& body, Index& stream,
                BodySystem& system, const CancelFlag* cancelled) {
  Group group;
  const MaterialConfig& material = config.materials.at(body.material);
  ShapeContext context{folder_of(config), name, &material};
  const auto each = [&](Index vertices, auto&& add) {
    check_group(config, name, vertices, usable_memory());
    for (int i = 0; i < body.bodies(); ++i) {
      stop_when_cancelled(cancelled);
      const Rng rng(static_cast<std::uint64_t>(config.seed), static_cast<std::uint64_t>(stream++));
      const std::string title = body.bodies() == 1 ? name : fmt::format("{}[{}]", name, i);
      group.bodies.push_back(add(title, placement_of(body, i, rng)));
    }
  };
  if (is_elastic(body.model)) {
    SolidMesh solid = solid_mesh(body, context);
    group.rest = solid.mesh.vertices;
    each(count(solid.mesh.vertices), [&](const std::string& title, const Placement& placement) {
      if (body.shape->series() > 0 && context.number > 0) solid = solid_mesh(body, context);
      ++context.number;
      return system.add_solid(title, solid.mesh, material.elastic(), placement,
                              solid.skin ? &*solid.skin : nullptr);
    });
  } else if (body.model == MaterialModel::rigid) {
    const TriangleMesh surface = surface_mesh(*body.shape, context);
    each(count(surface.vertices), [&](const std::string& title, const Placement& placement) {
      return system.add_rigid(title, surface, material.density_kg_m3, placement);
    });
  } else {
    const SpringNetwork network = spring_network(*body.shape, context);
    group.rest = network.vertices;
    each(count(network.vertices), [&](const std::string& title, const Placement& placement) {
      return system.add_springs(title, network, placement);
    });
  }
  return group;
}

void add_pins(const PinConfig& pin, const Group& group, BodySystem& system) {
  const Motion motion = pin.motion.motion();
  bool holds = false;
  for (Index i = 0; i < count(group.rest); ++i) {
    const Vector3& x = group.rest[i];
    if ((x - pin.min_m).minCoeff() < 0.0 || (pin.max_m - x).minCoeff() < 0.0) continue;
    for (const Index body : group.bodies) system.pin(body, i, motion);
    holds = true;
  }
  if (!holds) {
    throw_usage("no vertex of '{}' lies in the box from ({}) to ({})", pin.body,
                fmt::join(pin.min_m.begin(), pin.min_m.end(), ", "),
                fmt::join(pin.max_m.begin(), pin.max_m.end(), ", "));
  }
}

void check_stability(const SceneConfig& config, const BodySystem& bodies) {
  if (config.time.integrator != Integrator::explicit_euler) return;
  const double stable = bodies.largest_stable_step();
  const auto check = [&](const char* key, double step) {
    if (step <= stable) return;
    throw_usage(
        "{}: {} = {} s is unstable; the smallest element and the stiffest material allow at most {:.3g} s",
        config.places.at(key), key, exact_text(step), stable);
  };
  check("time.step_s", config.time.step_s);
  if (config.prelude.steps > 0) check("prelude.step_s", config.prelude.step_s);
}

/// A tolerance of the size of the bodies makes contacts of nearly all pairs of their vertices and triangles.
void check_tolerances(const SceneConfig& config, const SurfaceModel& surface, const std::vector<Vector3>& x) {
  std::vector<Eigen::AlignedBox3d> boxes(surface.bodies.size());
  for (std::size_t v = 0; v < x.size(); ++v) boxes[surface.vertex_body[v]].extend(x[v]);
  double largest = 0.0;
  for (std::size_t b = 0; b < boxes.size(); ++b)
    if (surface.bodies[b].movable && !boxes[b].isEmpty())
      largest = std::max(largest, boxes[b].diagonal().norm());
  const auto check = [&](const char* key, double tolerance) {
    if (!(largest > 0.0) || tolerance < largest) return;
    throw_usage(
        "{}: '{}' = {} is not below the size of the largest body ({:.3g} m): nearly all pairs would be "
        "contacts; use a small part of that",
        config.places.at(key), key, exact_text(tolerance), largest);
  };
  check("contact.tolerance_m", config.contact.tolerance_m);
  if (config.prelude.steps > 0) check("prelude.contact.tolerance_m", config.prelude.contact.tolerance_m);
}

void check_start(const SceneConfig& config, const BodySystem& bodies) {
  TaskArena arena(1);
  std::vector<Vector3> x(bodies.surface().vertices());
  bodies.surface_positions(arena, bodies.start(), x);
  check_tolerances(config, bodies.surface(), x);
  const auto report = [&](const Intersection& found, const char* text) {
    const Vector3& p = found.position;
    throw_usage(
        "{}: {} '{}' {} '{}' at the start, near ({:.4g}, {:.4g}, {:.4g}) m; move them apart (position_m, "
        "pitch_m, "
        "circle_radius_m, layer_height_m, jitter_m)",
        config.path,
        found.edge_body == found.triangle_body ? "body" : "bodies overlap:", bodies.name(found.edge_body),
        text, bodies.name(found.triangle_body), p[0], p[1], p[2]);
  };
  if (const auto found = find_intersection(bodies.surface(), x)) report(*found, "passes through");
  if (const auto found = find_containment(bodies.surface(), x)) report(*found, "lies inside");
}

/// Of the triangles that can move: cells of this size hold few of them; m.
double mean_edge(const SurfaceModel& surface, const std::vector<Vector3>& x) {
  double sum = 0.0;
  std::size_t edges = 0;
  for (std::size_t t = 0; t < surface.triangles.size(); ++t) {
    if (!surface.bodies[surface.triangle_body[t]].movable) continue;
    const Triangle& triangle = surface.triangles[t];
    for (std::size_t e = 0; e < 3; ++e) {
      sum += (x[triangle[(e + 1) % 3]] - x[triangle[e]]).norm();
      ++edges;
    }
  }
  return edges > 0 ? sum / static_cast<double>(edges) : 0.05;
}

DetectionSettings detection_settings(const SceneConfig& config, const BodySystem& bodies) {
  const ContactConfig& contact = config.contact;
  DetectionSettings settings;
  settings.tolerance = contact.tolerance_m;
  settings.depth = contact.depth_m;
  settings.rest_speed = contact.rest_speed_m_s;
  settings.edges = contact.edges;
  settings.cell = mean_edge(bodies.surface(), bodies.surface_rest());
  return settings;
}

StopRule stop_rule(const SolverConfig& solver, const CancelFlag* cancelled) {
  StopRule stop;
  stop.cancelled = cancelled;
  stop.residual = solver.tolerance;
  stop.max_iterations = solver.max_iterations;
  return stop;
}

ExplicitSettings explicit_settings(const SceneConfig& config, const CancelFlag* cancelled) {
  const ContactConfig& contact = config.contact;
  ExplicitSettings settings;
  settings.dt = config.time.step_s;
  settings.gravity = config.time.gravity();
  settings.law = {contact.friction,           contact.restitution,
                  contact.rest_speed_m_s,     contact.recovery,
                  contact.recovery_speed_m_s, contact.edges ? kKeptShare * contact.tolerance_m : 0.0};
  settings.stop = stop_rule(config.solver, cancelled);
  settings.accepted_residual = config.solver.accepted_residual;
  return settings;
}

FinderSettings finder_settings(const ContactConfig& contact) {
  FinderSettings settings;
  settings.tolerance = contact.tolerance_m;
  settings.broad_phase = contact.broad_phase;
  settings.look_ahead = contact.look_ahead;
  settings.edges = contact.edges;
  return settings;
}

ImplicitSettings implicit_settings(const SceneConfig& config, const CancelFlag* cancelled) {
  const ContactConfig& contact = config.contact;
  ImplicitSettings settings;
  settings.dt = config.time.step_s;
  settings.gravity = config.time.gravity();
  settings.friction = contact.friction;
  settings.restitution = contact.restitution;
  settings.rest_speed = contact.rest_speed_m_s;
  settings.safety_distance = contact.safety_m;
  settings.recovery_speed = contact.recovery_speed_m_s;
  settings.tangents = contact.tangents;
  settings.loop = contact.loop;
  settings.start = contact.start;
  settings.level = contact.level;
  settings.response = contact.response;
  settings.unresolved = contact.unresolved;
  settings.rounds = contact.rounds;
  settings.halvings = contact.halvings;
  settings.largest_turn = contact.largest_turn_deg;
  settings.gap_tolerance = contact.gap_tolerance_m;
  settings.stop = stop_rule(config.solver, cancelled);
  settings.accepted_residual = config.solver.accepted_residual;
  settings.free_tolerance = contact.free_tolerance;
  settings.all_bodies = contact.all_bodies;
  return settings;
}

}  // namespace

BodySystem build_bodies(const SceneConfig& config, const CancelFlag* cancelled) {
  check_memory(config, usable_memory());
  BodySystem system;
  std::map<std::string, Group> groups;
  Index stream = 0;
  for (const auto& [name, body] : config.bodies) {
    named(config, "bodies." + name,
          [&] { groups[name] = add_group(config, name, body, stream, system, cancelled); });
  }
  for (const auto& [name, obstacle] : config.obstacles) {
    named(config, "obstacles." + name, [&] {
      const ShapeContext context{folder_of(config), name};
      system.add_kinematic(name, placed_surface(obstacle, context), obstacle.motion.motion());
    });
  }
  for (const auto& [name, pin] : config.pins)
    named(config, "pins." + name, [&] { add_pins(pin, groups.at(pin.body), system); });
  for (const auto& [name, axle] : config.axles) {
    named(config, "axles." + name, [&] {
      for (const Index body : groups.at(axle.body).bodies) system.mount(body, axle.axle());
    });
  }
  stop_when_cancelled(cancelled);
  system.finish();
  check_stability(config, system);
  stop_when_cancelled(cancelled);
  check_start(config, system);
  return system;
}

std::unique_ptr<Stepper> make_prelude_stepper(const SceneConfig& config, BodySystem& bodies,
                                              const CancelFlag* cancelled) {
  SceneConfig prelude = config;
  prelude.time.step_s = config.prelude.step_s;
  prelude.contact = config.prelude.contact;
  prelude.solver = config.prelude.solver;
  return make_stepper(prelude, bodies, cancelled);
}

std::unique_ptr<Stepper> make_stepper(const SceneConfig& config, BodySystem& bodies,
                                      const CancelFlag* cancelled) {
  std::unique_ptr<Solver> solver = make_driver(config.solver);
  if (config.time.integrator == Integrator::explicit_euler) {
    return std::make_unique<ExplicitStepper>(bodies, detection_settings(config, bodies), std::move(solver),
                                             explicit_settings(config, cancelled));
  }
  return std::make_unique<ImplicitStepper>(bodies,
                                           ContactFinder(bodies.surface(), finder_settings(config.contact)),
                                           std::move(solver), implicit_settings(config, cancelled));
}

}  // namespace signorini
