#pragma once

#include <limits>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "bodies/material.h"
#include "bodies/system_state.h"
#include "geometry/tet_mesh.h"

/// All deformable solids of a scene: linear tetrahedra, lumped mass, co-rotational elasticity.
///
/// Per element with rest shape matrix D_m, volume V and F = D_s D_m⁻¹ = R S (polar decomposition, R from
/// bodies/polar_rotation.h):
///
///     energy    Ψ = V ( μ ‖S − I‖² + ½ λ tr²(S − I) )                                    J
///     forces    (f_1 f_2 f_3) = −V P D_m⁻ᵀ,  P = 2μ (F − R) + λ tr(S − I) R,  f_0 = −f_1 − f_2 − f_3      N
///
/// which is f = −R K_0 (Rᵀ x − X) with the linear stiffness K_0 (Müller and Gross 2004): R is evaluated at
/// the current positions, and f is exactly −∂Ψ/∂x because the derivative of R drops out (S is symmetric).
/// Forces of an element sum to zero and have no torque.
///
/// Each node carries a quarter of the mass of its elements: M is diagonal. Bodies own consecutive nodes.
/// Forces are computed per element and then gathered per node in ascending element order, so the bits do not
/// depend on the number of threads.
namespace signorini {

struct NodeState {
  std::vector<Vector3> position;  ///< m
  std::vector<Vector3> velocity;  ///< m/s
};

class SolidSystem {
 public:
  /// Adds a body and returns its number; its nodes get the rest shape placed in the world as start state.
  /// Throws `UsageError` for a bad material, an empty mesh, an inverted or flat element, or a node without
  /// mass.
  Index add(const TetMesh& rest, const ElasticMaterial& material, const Placement& placement);

  Index bodies() const { return static_cast<Index>(first_node_.size()) - 1; }
  Index nodes() const { return first_node_.back(); }
  Index elements() const { return static_cast<Index>(elements_.size()); }
  /// Nodes of body b: [first_node(b), first_node(b + 1)).
  Index first_node(Index body) const { return first_node_[static_cast<std::size_t>(body)]; }
  Index body_of(Index node) const { return body_of_[static_cast<std::size_t>(node)]; }
  std::span<const double> masses() const { return mass_; }      ///< per node, kg
  std::span<const double> damping() const { return damping_; }  ///< per node, 1/s
  const NodeState& start() const { return start_; }
  /// Boundary triangles of all bodies on node numbers, outward, body after body.
  std::span<const Triangle> surface() const { return surface_; }

  /// Largest stable explicit step ½ min(h / c) over elements, h the shortest altitude, c the pressure wave
  /// speed; s.
  double largest_stable_step() const;

  /// Elastic forces at `position` into `force`; both nodes() long. Returns the elastic energy in J.
  /// Not reentrant: uses the system's own workspace.
  double elastic_forces(TaskArena& arena, std::span<const Vector3> position, std::span<Vector3> force);
  /// ½ Σ m ‖v‖² and −Σ m g · x; J.
  double kinetic_energy(TaskArena& arena, std::span<const Vector3> velocity) const;
  double potential_energy(TaskArena& arena, std::span<const Vector3> position, const Vector3& gravity) const;

 private:
  struct Element {
    Tetrahedron nodes;
    Matrix3 rest_inverse;  // D_m⁻¹, 1/m
    double volume;         // V, m³
    double lambda, mu;     // Pa
  };
  Matrix3 deformation(const Element& element, std::span<const Vector3> position) const;
  void rebuild_gather();

  std::vector<Element> elements_;
  std::vector<double> mass_, damping_;
  std::vector<Index> body_of_;
  std::vector<Index> first_node_{0};
  std::vector<Triangle> surface_;
  NodeState start_;
  double smallest_transit_ = std::numeric_limits<double>::infinity();  // min h / c, s
  // Gather lists: node i sums element_force_[slot] for slot in slots_[slot_begin_[i] …]; slot = 4·element +
  // corner.
  std::vector<Index> slot_begin_, slots_;
  std::vector<Vector3> element_force_;
  std::vector<double> element_energy_;
};

}  // namespace signorini
