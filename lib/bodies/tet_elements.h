#pragma once

#include <array>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "base/parallel.h"
#include "bodies/material.h"
#include "geometry/tet_mesh.h"
#include "linalg/block_sparse_matrix.h"

/// Linear tetrahedra on global node numbers: forces, energy and stiffness of co-rotational and neo-Hookean
/// solids.
///
/// Per element with rest shape matrix D_m, volume V and F = D_s D_m⁻¹ = U Σ Vᵀ (sign-fixed: det U = det V =
/// 1) = R S:
///
///     co-rotational   Ψ = μ ‖S − I‖² + ½ λ tr²(S − I) (bodies/polar_rotation.h) neo-Hookean     Ψ = ½ μ
///     (‖σ‖² − 3) − μ ln J + ½ λ (ln J)²,  below the volume ratio `compression_limit` extended
///                     linearly along the ray from (1,1,1) to σ (bodies/neo_hookean.h; Stomakhin et al. 2012)
///     forces          (f_1 f_2 f_3) = −V P D_m⁻ᵀ,  P = ∂Ψ/∂F,  f_0 = −f_1 − f_2 − f_3
///     stiffness       K = −∂f/∂x; co-rotational R K_0 Rᵀ (Verschoor and Jalba 2019 with a quadratic energy),
///     neo-Hookean from
///                     the exact ∂²Ψ/∂F² in singular values with its negative eigenvalues set to 0 (their
///                     section 2.1)
///
/// so K is symmetric positive semi-definite in every state, inverted and flat elements included. Sums over
/// elements are taken in an order that does not depend on the number of threads.
namespace signorini {

class TetElements {
 public:
  /// The mesh's vertices get the numbers first_node, first_node + 1, … Throws `UsageError` for a bad
  /// material, an empty mesh, an inverted or flat element; `context` opens the line. Adds each element's mass
  /// / 4 to `mass`.
  void add(const TetMesh& rest, const ElasticMaterial& material, Index first_node, std::span<double> mass,
           std::string_view context);

  Index size() const { return static_cast<Index>(elements_.size()); }
  void couplings(std::vector<std::array<Index, 2>>& pairs) const;
  /// To be called once after the last `add`: gather lists and the places of element blocks in A. `A` has the
  /// pattern that `couplings` asks for, with both triangles.
  void finish(Index nodes, const BlockSparseMatrix* A);

  /// Adds forces; returns the elastic energy in J.
  double add_forces(TaskArena& arena, std::span<const Vector3> position, std::span<Vector3> force);
  /// Adds dt (dt + β) K to A and dt β K v to `rhs`, β the stiffness-proportional damping of the element's
  /// material in s.
  void add_stiffness(TaskArena& arena, std::span<const Vector3> position, std::span<const Vector3> velocity,
                     double dt, BlockSparseMatrix& A, std::span<double> rhs);
  /// ½ min(h / c), h the shortest altitude, c the pressure wave speed; s.
  double largest_stable_step() const { return 0.5 * smallest_transit_; }
  /// Smallest det F over all elements (1 at rest, ≤ 0 inverted) with the element; 1 without elements.
  double smallest_volume_ratio(std::span<const Vector3> position) const;

 private:
  struct Element {
    Tetrahedron nodes;
    Matrix3 rest_inverse;  // D_m⁻¹, 1/m
    double volume;         // V, m³
    Index material;
  };
  std::vector<Element> elements_;
  std::vector<ElasticMaterial> materials_;
  double smallest_transit_ = std::numeric_limits<double>::infinity();
  // workspaces and lists are the implementation's business
  struct Work {
    std::vector<Index> slot_begin, slots;       // gather lists of forces per node
    std::vector<Index> color_begin, colored;    // elements without a common node per colour
    std::vector<std::array<Index, 16>> blocks;  // place of block (i, j) of an element in A
    std::vector<Vector3> force;
    std::vector<double> energy;
  } work_;
};

}  // namespace signorini
