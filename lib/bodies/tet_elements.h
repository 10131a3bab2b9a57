#pragma once

#include <array>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "base/parallel.h"
#include "bodies/element_kernels.h"
#include "bodies/material.h"
#include "geometry/tet_mesh.h"
#include "linalg/block_sparse_matrix.h"

/// Linear tetrahedra on global node numbers: forces, energy and stiffness of co-rotational and neo-Hookean
/// solids.
///
/// Per element with rest shape matrix D_m, volume V and F = D_s D_m⁻¹ = U Σ Vᵀ (sign-fixed: det U = det V =
/// 1) = R S:
///
///     co-rotational   Ψ = μ ‖S − I‖² + ½ λ tr²(S − I)                       (bodies/polar_rotation.h)
///     neo-Hookean     Ψ = ½ μ (‖σ‖² − 3) − μ ln J + ½ λ (ln J)²,  below the volume ratio `compression_limit`
///                     extended linearly along the ray from (1,1,1) to σ     (bodies/neo_hookean.h)
///     forces          (f_1 f_2 f_3) = −V P D_m⁻ᵀ,  P = ∂Ψ/∂F,  f_0 = −f_1 − f_2 − f_3                  N
///     stiffness       K = −∂f/∂x: co-rotational R K_0 Rᵀ (Müller and Gross 2004), neo-Hookean from the exact
///                     ∂²Ψ/∂F² in singular values with its negative eigenvalues set to 0 (Verschoor and Jalba
///                     2019, section 2.1)                                                               N/m
///
/// With c_i = R b_i, b_i the gradient of the shape function of corner i (rows of D_m⁻¹, b_0 = −b_1 − b_2 −
/// b_3), the co-rotational blocks are K_ij = V (λ c_i c_jᵀ + μ c_j c_iᵀ + μ (c_i·c_j) I).
///
/// So K is symmetric positive semi-definite in every state, inverted and flat elements included, and its
/// blocks (i, j) and (j, i) are transposes to the last bit. Elements are evaluated one by one and then
/// gathered per node, in ascending element order: the bits do not depend on the number of threads, and every
/// block row of A is written by one task only.
namespace signorini {

class TetElements {
 public:
  /// The mesh's vertices get the numbers first_node, first_node + 1, …, which must lie beyond those of
  /// earlier meshes. Throws `UsageError` for a bad material, an empty mesh, an inverted or flat element;
  /// `context` opens the line. Adds a quarter of each element's mass to the `mass` of its corners, one per
  /// vertex of the mesh, kg.
  void add(const TetMesh& rest, const ElasticMaterial& material, Index first_node, std::span<double> mass,
           std::string_view context);

  Index size() const { return count(elements_); }
  /// Appends the pairs (i, j) of nodes, i < j, that its stiffness couples, some of them often; for the
  /// pattern of the matrix.
  void couplings(std::vector<std::array<Index, 2>>& pairs) const;
  /// To be called once after the last `add`: gather lists and the places of element blocks in A. `A` has the
  /// pattern that `couplings` asks for with diagonal and both triangles; nullptr when no stiffness is wanted.
  void finish(Index nodes, const BlockSparseMatrix* A);

  /// Adds forces; returns the elastic energy in J. Not reentrant (workspaces), like `add_step`.
  double add_forces(TaskArena& arena, std::span<const Vector3> position, std::span<Vector3> force);
  /// The elements' part of a step of backward Euler: adds dt (dt + β) K to A and dt f to `rhs` (3 per block),
  /// β the stiffness-proportional damping of the element's material in s. (Its force −β K v is not in f, and
  /// so the dt C v of the right-hand side has cancelled.) A has the pattern handed to `finish`.
  void add_step(TaskArena& arena, std::span<const Vector3> position, double dt, BlockSparseMatrix& A,
                std::span<double> rhs);
  /// ½ min(h / c), h the shortest altitude, c the pressure wave speed; s.
  double largest_stable_step() const { return 0.5 * smallest_transit_; }
  /// Smallest det F over all elements: 1 at rest, ≤ 0 inverted; 1 without elements.
  double smallest_volume_ratio(std::span<const Vector3> position) const;

 private:
  struct Element {
    Tetrahedron nodes;
    Matrix3 rest_inverse;  // D_m⁻¹, 1/m
    double volume;         // V, m³
    Index part;
  };
  // One mesh: consecutive nodes and elements of one material.
  struct Part {
    ElementMaterial law;
    double stiffness_damping;  // β, s
    Index first_node, end_node, first_element;
    std::size_t first_factor;  // in factors_
  };
  enum class Want { forces, step };

  Matrix3 deformation(const Element& element, std::span<const Vector3> position) const;
  static std::size_t factor_place(const Part& part, std::size_t e);
  double evaluate(TaskArena& arena, std::span<const Vector3> position, Want want, double dt);
  double evaluate_element(std::size_t e, std::span<const Vector3> position, Want want, double dt);
  void gather_row(std::size_t node, const Part& part, double dt, BlockSparseMatrix& A,
                  std::span<double> rhs) const;

  std::vector<Element> elements_;
  std::vector<Part> parts_;
  double smallest_transit_ = std::numeric_limits<double>::infinity();  // min h / c, s
  // Gather lists: node i has slots_[slot_begin_[i] …], slot = 4·element + corner, ascending; four places in A
  // per entry, of the blocks (i, corner 0 … 3 of that element).
  std::vector<Index> slot_begin_, slots_, slot_blocks_;
  std::vector<Vector3> force_;    // per slot number
  std::vector<double> factors_;   // per element, see element_kernels.h
  std::vector<double> energies_;  // per chunk of elements
};

}  // namespace signorini
