#pragma once

#include <array>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "bodies/axle.h"
#include "bodies/embedding.h"
#include "bodies/motion.h"
#include "bodies/rigid_body.h"
#include "bodies/spring_network.h"
#include "bodies/surface_model.h"
#include "bodies/system_state.h"
#include "bodies/tet_elements.h"

/// All bodies of a scene as one mechanical system: deformable solids, cloth and strings, rigid bodies,
/// kinematic bodies.
///
///     M(q) v' = F(q, v),   q' = G(q) v                                        (Otaduy et al. 2009, eq. 1)
///
/// M is block diagonal: lumped masses of mesh nodes, m I and the world inertia of rigid bodies. One step of
/// backward Euler with one Newton iteration (Otaduy eq. 3, Verschoor and Jalba eq. 5) solves
/// A v⁺ = b with
///
///     A = M (1 + dt α) + dt C + dt² K,   b = (M + dt C) v + dt F,
///     K = −∂f/∂x made positive semi-definite,   C = −∂f/∂v
///
/// F has the damping forces −C v of springs in it. Rayleigh damping of solids (α M and β K in C) is all
/// implicit: neither its force nor its dt C v is in b, which cancel each other. Rigid bodies contribute M,
/// and a b whose solution is their torque-free rotation (bodies/free_rotation.h: keeps the angular momentum,
/// never gains energy): A stays symmetric positive definite.
///
/// A rigid body on an axle (bodies/axle.h) has the rows of its axle instead; unless it slides, the block of its centre is
/// prescribed, at rest.
///
/// *Prescribed* blocks (pinned nodes) move as their Motion says: their rows of A are those of M, b is M times
/// the prescribed velocity, and their columns have moved to b; so A keeps its pattern, stays SPD and the
/// solution has the prescribed values. The prescribed velocity is the mean over the step,
/// (x(t + dt) − x(t))/dt. Energies and momenta are those of the free blocks.
namespace signorini {

struct ImplicitSystem {
  BlockSparseMatrix A;  ///< both triangles; block rows are the system's blocks; kg
  Vector b;             ///< 3 per block; N·s
};

/// Where a direction at a surface vertex acts: coefficient · v_block, summed over the entries, is the
/// velocity along it.
struct BlockCoefficient {
  Index block = -1;
  Vector3 coefficient = Vector3::Zero();
};
using VertexRow = std::array<BlockCoefficient, 4>;

class BodySystem {
 public:
  BodySystem();
  ~BodySystem();
  BodySystem(BodySystem&&) noexcept;
  BodySystem& operator=(BodySystem&&) noexcept;

  /// Each adds a body, returns its number and puts it in its start position. `name` opens error lines
  /// (`UsageError`): bad material, empty or inverted mesh, a node without mass, an open surface of a rigid
  /// body. A `skin` replaces the boundary of the mesh as collision surface and follows it
  /// (bodies/embedding.h).
  Index add_solid(const std::string& name, const TetMesh& rest, const ElasticMaterial& material,
                  const Placement& placement, const TriangleMesh* skin = nullptr);
  Index add_springs(const std::string& name, const SpringNetwork& rest, const Placement& placement);
  Index add_rigid(const std::string& name, const TriangleMesh& surface, double density,
                  const Placement& placement);
  Index add_kinematic(const std::string& name, const TriangleMesh& surface, const Motion& motion);
  /// Vertex `vertex` of the rest mesh of a deformable body follows `motion`, X being its place in the world
  /// at the start. `UsageError`: not deformable, no such vertex, pinned already.
  void pin(Index body, Index vertex, const Motion& motion);
  /// A rigid body turns about an axle through its centre of mass. Of its start velocities the parts along the axis stay,
  /// of the centre's only where it slides. `UsageError`: not rigid, on an axle already, a bad axle.
  void mount(Index body, const Axle& axle);
  /// Builds the patterns; to be called once after the last body, pin and axle, before everything below `name`.
  void finish();

  Index bodies() const;
  Index nodes() const;
  Index rigids() const;
  Index blocks() const { return nodes() + 2 * rigids(); }
  const std::string& name(Index body) const;
  /// How a kinematic body moves; null for all others.
  const Motion* motion(Index body) const;
  /// Blocks of a body: [first, second); empty for kinematic ones.
  std::array<Index, 2> body_blocks(Index body) const;
  Index body_of_block(Index block) const;
  bool is_prescribed(Index block) const;
  /// The second block of a rigid body: its angular velocity.
  bool is_angular(Index block) const { return block >= nodes() && (block - nodes()) % 2 == 1; }
  bool has_axles() const;
  const SystemState& start() const;
  Index elements() const;  ///< tetrahedra

  // --- surfaces ---
  const SurfaceModel& surface() const;
  /// Positions of all surface vertices in this state, kinematic ones at state.time; m.
  void surface_positions(TaskArena& arena, const SystemState& state, std::span<Vector3> x) const;
  /// Positions in the start configuration with every deformable body at its rest shape: displacement = x −
  /// rest; m.
  const std::vector<Vector3>& surface_rest() const;
  /// Entries of the row of direction d at a vertex: up to 4 blocks, prescribed blocks left out; returns their
  /// number. Rigid bodies: (N + 2r, d) and (N + 2r + 1, ρ × d) with ρ = x − centre in this state; on an axle along a
  /// both are projected on a, and the first is left out unless the body slides.
  int vertex_row(const SystemState& state, Index vertex, const Vector3& direction, VertexRow& row) const;
  /// The part of a vertex's mean velocity over [state.time, state.time + dt] that no free block carries:
  /// kinematic motion and pinned nodes; m/s. Zero for all others.
  Vector3 prescribed_velocity(const SystemState& state, Index vertex, double dt) const;
  /// The block that carries most of a vertex (a rigid body's first free one), −1 for kinematic ones.
  Index main_block(Index vertex) const;

  // --- dynamics ---
  /// Diagonal blocks of M in this state, prescribed ones included; kg and kg·m².
  void mass_blocks(const SystemState& state, std::span<Matrix3> mass) const;
  /// Forces without gravity and Rayleigh damping; damping of springs and gyroscopic torques included; one per
  /// block. Returns elastic energy, J.
  double forces(TaskArena& arena, const SystemState& state, std::span<Vector3> force);
  /// Mass-proportional damping per block, 1/s.
  std::span<const double> damping() const;
  /// A and b at `state` for a step dt. The pattern of `system.A` is built at the first call and kept. Not
  /// reentrant.
  void implicit_system(TaskArena& arena, const SystemState& state, double dt, const Vector3& gravity,
                       ImplicitSystem& system);
  /// state := (q ⊕ dt G v, v, time + dt); prescribed nodes and kinematic bodies go where their motion puts
  /// them.
  void advance(SystemState& state, std::span<const Vector3> velocity, double dt) const;
  /// Another velocity at the end of a step dt, after `advance`; positions stay, prescribed nodes keep theirs.
  void set_velocity(SystemState& state, std::span<const Vector3> velocity, double dt) const;

  double largest_stable_step() const;  ///< for explicit steps; s
  double kinetic_energy(const SystemState& state) const;
  double potential_energy(const SystemState& state, const Vector3& gravity) const;  ///< of the free blocks
  Vector3 linear_momentum(const SystemState& state) const;                          ///< N·s
  Vector3 angular_momentum(const SystemState& state) const;  ///< about the origin, N·m·s
  double smallest_volume_ratio(const SystemState& state) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace signorini
