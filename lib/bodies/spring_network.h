#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "geometry/triangle_mesh.h"
#include "linalg/block_sparse_matrix.h"

/// Point masses with springs: cloth of the Provot / Bridson type (Otaduy et al. 2009, section 2), strings,
/// and the three-node toy of their Fig. 2. Rest state only; BodySystem puts many of them on global nodes.
///
/// Spring of nodes i, j with rest length L, stiffness k in N (force per relative stretch) and damping d in
/// N·s:
///
///     energy ½ (k/L) (ℓ − L)²,   force on i  (k (ℓ − L)/L + d ℓ'/L) e,   e = (x_j − x_i)/ℓ
///
/// with the stiffness block k/L (e eᵀ + max(0, 1 − L/ℓ)(I − e eᵀ)), the second term cut off in compression so
/// that it stays positive semi-definite. A hinge i–j–k resists the change of the angle at j: energy ½ c (θ −
/// θ₀)² (N·m/rad²), with its Gauss–Newton stiffness c ∇θ ∇θᵀ (positive semi-definite). A fold over edge (j,
/// k) of triangles (i, j, k) and (l, k, j) resists bending in the same way with θ the dihedral angle
/// (Grinspun et al. 2003).
namespace signorini {

struct Spring {
  Index i = -1, j = -1;
  double stiffness = 0.0;  ///< N
  double damping = 0.0;    ///< N·s
  double rest = 0.0;       ///< m
};
struct Hinge {
  Index i = -1, j = -1, k = -1;  ///< angle at j
  double stiffness = 0.0;        ///< N·m
  double rest = 0.0;             ///< rad
};
struct Fold {
  Index i = -1, j = -1, k = -1, l = -1;
  double stiffness = 0.0;  ///< N·m
  double rest = 0.0;       ///< rad
};

struct SpringNetwork {
  std::vector<Vector3> vertices;  ///< rest shape, m
  std::vector<double> mass;       ///< per vertex, kg
  double damping = 0.0;           ///< mass-proportional, 1/s
  std::vector<Spring> springs;
  std::vector<Hinge> hinges;
  std::vector<Fold> folds;
  std::vector<Triangle> triangles;          ///< collision surface; may be empty
  std::vector<std::array<Index, 2>> edges;  ///< collision edges that no triangle has
};

struct ClothMaterial {
  double density = 0.2;         ///< kg/m²
  double stretch = 500.0;       ///< k of springs along edges of the warp and weft, N/m of cloth width
  double shear = 50.0;          ///< k of springs along diagonals, N/m
  double bending = 1e-5;        ///< fold stiffness, N·m
  double damping = 0.0;         ///< mass-proportional, 1/s
  double spring_damping = 0.0;  ///< d/k of all springs, s
  void validate(std::string_view context) const;
};

/// A rectangular sheet of columns × rows vertices in the x–y plane, centred at the origin: structural springs
/// along the grid, shear springs along both diagonals of every cell, folds over all inner edges of the
/// triangulation.
SpringNetwork grid_cloth(Index columns, Index rows, double width, double depth,
                         const ClothMaterial& material);
/// Any triangle mesh as cloth: springs along all edges, shear springs across every inner edge between the
/// opposite vertices, folds over inner edges. Masses from triangle areas.
SpringNetwork mesh_cloth(const TriangleMesh& mesh, const ClothMaterial& material);

/// Springs, hinges and folds of any number of networks on global node numbers.
class SpringElements {
 public:
  /// The network's nodes get the numbers first_node, first_node + 1, …
  void add(const SpringNetwork& network, Index first_node);
  bool empty() const { return springs_.empty() && hinges_.empty() && folds_.empty(); }
  /// Pairs (i, j) of nodes, i < j, that its stiffness couples; for the pattern of the matrix.
  void couplings(std::vector<std::array<Index, 2>>& pairs) const;
  /// Adds elastic and damping forces; returns the elastic energy in J. Sequential: springs are cheap and few.
  double add_forces(std::span<const Vector3> position, std::span<const Vector3> velocity,
                    std::span<Vector3> force) const;
  /// Adds dt² K + dt C (K = −∂f/∂x made positive semi-definite, C = −∂f/∂v) to A, whose block rows are node
  /// numbers, and dt C v to `rhs` (3 per block).
  void add_stiffness(std::span<const Vector3> position, std::span<const Vector3> velocity, double dt,
                     BlockSparseMatrix& A, std::span<double> rhs) const;
  /// min over nodes of 2/√(k/m)-like bounds for explicit steps; s.
  double largest_stable_step(std::span<const double> mass) const;

 private:
  std::vector<Spring> springs_;
  std::vector<Hinge> hinges_;
  std::vector<Fold> folds_;
};

}  // namespace signorini
