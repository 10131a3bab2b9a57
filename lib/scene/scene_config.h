#pragma once

#include <array>
#include <map>
#include <string>

#include "bodies/material.h"
#include "scene/scene_keys.h"

/// Everything a scene file can say. Each struct names its keys once in `visit`; reading, checking and
/// printing follow. Lengths in m, times in s, masses in kg; every key carries its unit in its name.
namespace signorini {

enum class BodyShape { ball, block };
template <>
struct EnumNames<BodyShape> {
  static constexpr std::array<std::pair<BodyShape, std::string_view>, 2> value{
      {{BodyShape::ball, "ball"}, {BodyShape::block, "block"}}};
};

enum class ObstacleShape { bucket, ground };
template <>
struct EnumNames<ObstacleShape> {
  static constexpr std::array<std::pair<ObstacleShape, std::string_view>, 2> value{
      {{ObstacleShape::bucket, "bucket"}, {ObstacleShape::ground, "ground"}}};
};

struct TimeConfig {
  double step_s = 2e-4;
  double duration_s = 1.0;
  int steps = 0;
  int record_every = 50;
  int record_from = 1;
  Vector3 gravity_m_s2{0.0, 0.0, -9.81};

  template <class Visitor>
  void visit(Visitor& v) {
    v("step_s", step_s, Range::positive, "time step dt");
    v("duration_s", duration_s, Range::positive, "simulated time; steps = duration_s / step_s");
    v("steps", steps, Range::non_negative, "number of steps; 0 = from duration_s");
    v("record_every", record_every, Range::positive,
      "a snapshot every so many steps, when there are contacts");
    v("record_from", record_from, Range::non_negative, "first step that may be recorded");
    v("gravity_m_s2", gravity_m_s2, Range::any, "acceleration of gravity");
  }
};

struct ContactConfig {
  double friction = 0.4;
  double restitution = 0.0;
  double tolerance_m = 1e-3;
  double depth_m = 5e-3;
  double rest_speed_m_s = 0.0;
  double recovery = 0.2;
  double recovery_speed_m_s = 0.0;

  template <class Visitor>
  void visit(Visitor& v) {
    v("friction", friction, Range::non_negative, "Coulomb's mu");
    v("restitution", restitution, Range::fraction, "Newton's kappa");
    v("tolerance_m", tolerance_m, Range::positive, "pairs closer than this are contacts");
    v("depth_m", depth_m, Range::positive, "points deeper than this below a surface are behind it");
    v("rest_speed_m_s", rest_speed_m_s, Range::non_negative, "slower impacts do not rebound; 0 = 2 dt |g|");
    v("recovery", recovery, Range::fraction, "share of a penetration pushed out per step");
    v("recovery_speed_m_s", recovery_speed_m_s, Range::non_negative,
      "bound of that speed; 0 = 0.1 tolerance / dt");
  }
};

struct SolverConfig {
  std::string name = "pgs";
  double tolerance = 1e-8;
  int max_iterations = 10000;
  double accepted_residual = 1e-4;
  OptionMap options;

  template <class Visitor>
  void visit(Visitor& v) {
    v("name", name, "the solver that drives the scene; its options are keys of [solver.options]");
    v("tolerance", tolerance, Range::positive, "residual at which it stops, unit-free");
    v("max_iterations", max_iterations, Range::positive, "per solve");
    v("accepted_residual", accepted_residual, Range::positive, "a solve that ends above this ends the run");
  }
};

struct MaterialConfig {
  double young_modulus_pa = 2e5;
  double poisson_ratio = 0.3;
  double density_kg_m3 = 1000.0;
  double damping_1_s = 1.0;

  template <class Visitor>
  void visit(Visitor& v) {
    v("young_modulus_pa", young_modulus_pa, Range::positive, "E");
    v("poisson_ratio", poisson_ratio, Range::below_half, "nu");
    v("density_kg_m3", density_kg_m3, Range::positive, "rho");
    v("damping_1_s", damping_1_s, Range::non_negative, "mass-proportional damping");
  }
  ElasticMaterial material() const { return {young_modulus_pa, poisson_ratio, density_kg_m3, damping_1_s}; }
};

/// A group of equal bodies. They stand in layers of `per_layer` on a circle around `position_m`, each layer
/// turned by half a pitch against the one below; jitter and orientation come from the scene's seed.
struct BodyConfig {
  BodyShape shape = BodyShape::ball;
  std::string material;
  int count = 1;
  Vector3 position_m = Vector3::Zero();
  Vector3 velocity_m_s = Vector3::Zero();
  int per_layer = 1;
  double circle_radius_m = 0.0;
  double layer_height_m = 0.0;
  double jitter_m = 0.0;
  bool random_orientation = false;
  int level = 1;  // ball
  double radius_m = 0.1;
  std::array<int, 3> cells{2, 2, 2};  // block
  Vector3 size_m{0.2, 0.2, 0.2};

  template <class Visitor>
  void visit(Visitor& v) {
    v("shape", shape, "ball or block");
    v("material", material, "a name of [materials]");
    v("count", count, Range::positive, "number of bodies");
    v("position_m", position_m, Range::any, "centre of the lowest layer");
    v("velocity_m_s", velocity_m_s, Range::any, "of all nodes at the start");
    v("per_layer", per_layer, Range::positive, "bodies per layer");
    v("circle_radius_m", circle_radius_m, Range::non_negative, "distance of their centres from the axis");
    v("layer_height_m", layer_height_m, Range::non_negative, "distance of layers");
    v("jitter_m", jitter_m, Range::non_negative, "random shift of each centre, per axis up to +-jitter");
    v("random_orientation", random_orientation, "turn each body at random");
    if (shape == BodyShape::ball) {
      v("level", level, Range::non_negative, "subdivisions: 1 has 42 surface vertices, 2 has 162");
      v("radius_m", radius_m, Range::positive, "of the sphere through the surface vertices");
    } else {
      v("cells", cells, Range::positive, "cells along x, y, z; 6 tetrahedra each");
      v("size_m", size_m, Range::positive, "edges along x, y, z");
    }
  }
};

struct ObstacleConfig {
  ObstacleShape shape = ObstacleShape::ground;
  Vector3 position_m = Vector3::Zero();
  double floor_radius_m = 0.3;  // bucket
  double rim_radius_m = 0.4;
  double height_m = 0.5;
  int segments = 24;
  double extent_m = 1.0;  // ground

  template <class Visitor>
  void visit(Visitor& v) {
    v("shape", shape, "bucket or ground");
    v("position_m", position_m, Range::any, "centre of the floor");
    if (shape == ObstacleShape::bucket) {
      v("floor_radius_m", floor_radius_m, Range::positive, "of the floor's corners");
      v("rim_radius_m", rim_radius_m, Range::positive, "of the rim's corners");
      v("height_m", height_m, Range::positive, "of the rim above the floor");
      v("segments", segments, Range::positive, "flat panels around the axis");
    } else {
      v("extent_m", extent_m, Range::positive, "half the edge of the square");
    }
  }
};

struct SceneConfig {
  std::string title;
  long long seed = 1;
  bool geometry = true;  ///< snapshots carry the surfaces
  TimeConfig time;
  ContactConfig contact;
  SolverConfig solver;
  std::map<std::string, MaterialConfig> materials;
  std::map<std::string, BodyConfig> bodies;
  std::map<std::string, ObstacleConfig> obstacles;
  std::string path;  ///< for error lines
};

/// Steps whose ids still sort as text.
inline constexpr long long kMaxSteps = 999'999;

/// Reads and checks the scene of this request; all three sizes of the file are checked, the asked one is
/// returned with `time.steps` resolved.
SceneConfig read_scene(const RecordRequest& request);
/// The scene as TOML with every default written out. Reading this text again gives the same scene.
std::string scene_text(const SceneConfig& config, SceneSize size);

}  // namespace signorini
