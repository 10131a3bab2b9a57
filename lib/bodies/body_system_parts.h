#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/check.h"
#include "bodies/body_system.h"

/// What a `BodySystem` is made of, for the files that implement it: body_system.cpp builds it and answers
/// what there is, body_system_surface.cpp places its surface, body_system_dynamics.cpp has its masses, forces
/// and steps.
namespace signorini {

namespace body_parts {

enum class Kind { solid, springs, rigid, kinematic };

struct Body {
  std::string name;
  Kind kind = Kind::solid;
  Index first_node = 0, end_node = 0;  // deformable bodies
  Index number = -1;                   // of the rigid body, or of the kinematic body's motion
};

/// What a surface vertex hangs on: up to four nodes, or a point in the axes of a rigid or kinematic body.
struct Carrier {
  std::array<Index, 4> node{-1, -1, -1, -1};
  std::array<double, 4> weight{};
  Vector3 local = Vector3::Zero();  // rigid: from the centre of mass; kinematic: place at the start; m
};

struct Pin {
  Index node = -1;
  Motion motion;
  Vector3 at_start = Vector3::Zero();
};

/// A block (row, p) left of a prescribed block p, and its transpose (p, row).
struct PrescribedEntry {
  Index row = -1, block = -1, mirror = -1;
  Index pin = -1;
};

struct RigidBody {
  MassProperties body;  // inertia in body axes about the centre
  Vector3 velocity = Vector3::Zero(), angular_velocity = Vector3::Zero();
  Index owner = -1;
  std::optional<Axle> axle;   // its axis of length 1
  double axle_inertia = 0.0;  // about it, kg·m²
};

}  // namespace body_parts

struct BodySystem::Impl {
  using Kind = body_parts::Kind;
  using Body = body_parts::Body;
  using Carrier = body_parts::Carrier;
  using Pin = body_parts::Pin;
  using PrescribedEntry = body_parts::PrescribedEntry;
  using RigidBody = body_parts::RigidBody;

  std::vector<Body> bodies;
  std::vector<Index> node_body;
  std::vector<double> node_mass, node_damping;
  std::vector<Vector3> node_rest, node_velocity;  // placed in the world
  std::vector<RigidBody> rigid;
  std::vector<RigidPose> rigid_start;
  std::vector<Motion> motions;  // of kinematic bodies
  TetElements tets;
  SpringElements springs;
  std::vector<Pin> pins;  // ascending by node after finish
  std::vector<Index> pin_of;

  SurfaceModel surface;
  std::vector<Carrier> carriers;  // per surface vertex
  std::vector<Vector3> surface_rest;

  bool finished = false;
  SystemState start;
  std::vector<double> damping;  // per block
  BlockSparseMatrix pattern;
  std::vector<Index> diagonal;              // place of block (i, i) in it
  std::vector<PrescribedEntry> prescribed;  // off-diagonal blocks that touch a prescribed column
  std::vector<Vector3> spring_force;        // workspace

  Index nodes() const { return count(node_mass); }
  Index rigids() const { return count(rigid); }
  Index rigid_block(Index r) const { return nodes() + 2 * r; }
  /// The centre of rigid body r cannot move.
  bool is_held(Index r) const { return rigid[r].axle && !rigid[r].axle->slides; }
  bool pinned(Index node) const { return pin_of[node] >= 0; }
  Index add_body(const std::string& name, Kind kind, Index number, Index first_node);
  Index add_nodes(Index body, const std::vector<Vector3>& rest, std::span<const double> mass, double alpha,
                  const Placement& placement);
  void add_node_surface(Index first_node, const std::vector<Triangle>& triangles,
                        const std::vector<Index>* vertex_of, Index vertices, const std::vector<Edge>& extra);
  void require_state(const SystemState& state) const;
  void place_vertices(const SystemState& state, const Body& body, std::size_t begin, std::size_t end,
                      std::span<Vector3> x) const;
  Vector3 pin_velocity(const Pin& pin, double time, double dt) const;
  void clear_rows(TaskArena& arena, const SystemState& state, double dt, const Vector3& gravity,
                  ImplicitSystem& system) const;
  void add_springs_step(const SystemState& state, double dt, ImplicitSystem& system);
  void add_rigid_rows(const SystemState& state, double dt, const Vector3& gravity,
                      ImplicitSystem& system) const;
  void add_axle_rows(Index r, const SystemState& state, double dt, const Vector3& gravity,
                     ImplicitSystem& system) const;
  void prescribe(const SystemState& state, double dt, ImplicitSystem& system) const;
};

}  // namespace signorini
