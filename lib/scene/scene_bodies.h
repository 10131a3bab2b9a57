#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "bodies/axle.h"
#include "bodies/motion.h"
#include "scene/file_config.h"
#include "scene/material_config.h"
#include "scene/shapes/shape.h"

/// What a scene file can say about bodies, obstacles, pins and axles. Each struct names its keys once in `visit`;
/// reading, checking and printing follow. The keys of a shape are its own (scene/shapes).
namespace signorini {

BodyKind kind_of(MaterialModel model);
/// What the key `shape` can be.
std::string body_shapes();
std::string obstacle_shapes();

enum class Arrangement { circle, grid };
template <>
struct EnumNames<Arrangement> {
  static constexpr std::array<std::pair<Arrangement, std::string_view>, 2> value{
      {{Arrangement::circle, "circle"}, {Arrangement::grid, "grid"}}};
};

/// A group of equal bodies, on circles in layers or on a grid. `circle`: layers of `per_layer` around
/// `position_m`, each turned by half a pitch against the one below. `grid`: nx × ny × nz places with the
/// given pitches, the lowest layer centred at `position_m`; x first, then y, then z. Jitter and random
/// orientations come from the scene's seed, body by body.
struct BodyConfig {
  MaterialModel model = MaterialModel::corotational;  ///< of its material; no key of its own
  std::shared_ptr<Shape> shape;
  std::string material;
  int count = 0;
  Vector3 position_m = Vector3::Zero();
  Vector3 rotation_axis{0.0, 0.0, 1.0};
  double rotation_deg = 0.0;
  Vector3 velocity_m_s = Vector3::Zero();
  Vector3 angular_velocity_rad_s = Vector3::Zero();
  Arrangement arrangement = Arrangement::circle;
  int per_layer = 1;  // circle
  double circle_radius_m = 0.0;
  double layer_height_m = 0.0;
  std::array<int, 3> grid{1, 1, 1};  // grid
  Vector3 pitch_m{0.1, 0.1, 0.1};
  double jitter_m = 0.0;
  bool random_orientation = false;
  int refinements = 0;  // elastic
  FileConfig skin;

  /// Bodies of the group: `count`, or else 1 on circles and all places of a grid.
  int bodies() const;

  template <class Visitor>
  void visit(Visitor& v) {
    std::string name(shape->name());
    v("shape", name, body_shapes());
    v("material", material, "a name of [materials]");
    v("count", count, Between{0, kMaxCount}, "number of bodies; 0 = one, or all places of the grid");
    v("position_m", position_m, Range::any, "centre of the lowest layer");
    v("rotation_axis", rotation_axis, Range::any, "axis of the first rotation of every body");
    v("rotation_deg", rotation_deg, Range::any, "its angle");
    v("velocity_m_s", velocity_m_s, Range::any, "at the start");
    v("angular_velocity_rad_s", angular_velocity_rad_s, Range::any, "at the start, about each body's origin");
    v("arrangement", arrangement, "circle or grid");
    if (arrangement == Arrangement::circle) {
      v("per_layer", per_layer, Range::positive, "bodies per layer");
      v("circle_radius_m", circle_radius_m, Range::non_negative, "distance of their centres from the axis");
      v("layer_height_m", layer_height_m, Range::non_negative, "distance of layers");
    } else {
      v("grid", grid, Range::positive, "places along x, y, z");
      v("pitch_m", pitch_m, Range::non_negative, "distances of places along x, y, z");
    }
    v("jitter_m", jitter_m, Range::non_negative, "random shift of each centre, per axis up to +-jitter");
    v("random_orientation", random_orientation, "turn each body at random");
    shape->visit(v);
    if (is_elastic(model)) {
      v("refinements", refinements, Between{0, 3}, "times that every tetrahedron is cut into eight");
      if (!shape->has_skin()) skin.visit(v, "skin");
    }
  }
  void validate() const;
};

/// bodies/motion.h in the words of a scene file.
struct MotionConfig {
  Vector3 velocity_m_s = Vector3::Zero();
  Vector3 axis{0.0, 0.0, 1.0};
  double spin_rad_s = 0.0;
  Vector3 pivot_m = Vector3::Zero();
  Vector3 amplitude_m = Vector3::Zero();
  double frequency_hz = 0.0;
  double start_s = 0.0;
  double stop_s = 1e30;
  std::vector<double> key_time_s;
  std::vector<Vector3> key_displacement_m;
  std::vector<double> key_angle_deg;

  template <class Visitor>
  void visit(Visitor& v) {
    v("velocity_m_s", velocity_m_s, Range::any, "constant velocity");
    v("axis", axis, Range::any, "of spin and of key angles");
    v("spin_rad_s", spin_rad_s, Range::any, "angular speed about the axis");
    v("pivot_m", pivot_m, Range::any, "a point of the axis; position_m when left out");
    v("amplitude_m", amplitude_m, Range::any, "of a sine in time");
    v("frequency_hz", frequency_hz, Range::non_negative, "of the sine");
    v("start_s", start_s, Range::any, "before this velocity, spin and sine rest");
    v("stop_s", stop_s, Range::any, "after this too; 1e30 = never");
    v("key_time_s", key_time_s, "times of keyframes, ascending");
    v("key_displacement_m", key_displacement_m, "one [x, y, z] per key time, or none");
    v("key_angle_deg", key_angle_deg, "one angle about the axis per key time, or none");
  }
  Motion motion() const;
};

struct ObstacleConfig {
  std::shared_ptr<Shape> shape;
  Vector3 position_m = Vector3::Zero();
  Vector3 rotation_axis{0.0, 0.0, 1.0};
  double rotation_deg = 0.0;
  MotionConfig motion;

  template <class Visitor>
  void visit(Visitor& v) {
    std::string name(shape->name());
    v("shape", name, obstacle_shapes());
    v("position_m", position_m, Range::any, "of the shape's origin");
    v("rotation_axis", rotation_axis, Range::any, "axis of its first rotation");
    v("rotation_deg", rotation_deg, Range::any, "the angle");
    shape->visit(v);
    motion.visit(v);
  }
  void validate() const;
};

/// Vertices of deformable bodies that move as they are told.
struct PinConfig {
  std::string body;
  Vector3 min_m = Vector3::Zero();
  Vector3 max_m = Vector3::Zero();
  MotionConfig motion;

  template <class Visitor>
  void visit(Visitor& v) {
    v("body", body, "a name of [bodies]; all bodies of the group are pinned");
    v("min_m", min_m, Range::any, "vertices of the rest shape within this box, its own axes …");
    v("max_m", max_m, Range::any, "… are pinned");
    motion.visit(v);
  }
  void validate() const;
};

/// bodies/axle.h in the words of a scene file: every body of a group of rigid ones turns about an axle of its own.
struct AxleConfig {
  std::string body;
  Vector3 axis{0.0, 0.0, 1.0};
  bool slides = false;
  double torque_n_m = 0.0;
  double speed_rad_s = 0.0;
  double slope_n_m_s = 0.0;

  template <class Visitor>
  void visit(Visitor& v) {
    v("body", body,
      "a name of [bodies]: a group of rigid bodies, each on an axle through its centre of mass");
    v("axis", axis, Range::any, "direction of the axles, in the world");
    v("slides", slides, "the bodies can move along their axles too");
    v("torque_n_m", torque_n_m, Range::any, "of the drive at speed_rad_s, about the axis");
    v("speed_rad_s", speed_rad_s, Range::any, "speed about the axis that the drive strives for");
    v("slope_n_m_s", slope_n_m_s, Range::non_negative,
      "torque of the drive per rad/s below that speed; 0 = the torque does not depend on the speed");
  }
  void validate() const;
  Axle axle() const { return {axis, slides, torque_n_m, speed_rad_s, slope_n_m_s}; }
};

}  // namespace signorini
