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
/// that it stays positive semi-definite. A spring of length ℓ = 0 has no direction: no force, no stiffness.
///
/// A hinge i–j–k resists the change of the angle θ ∈ [0, π] at j: energy ½ c (θ − θ₀)². With the turn φ = π −
/// θ and the normal n of the plane through i, j, k its stiffness is
///
///     c ∇θ ∇θᵀ + c max(0, 1 − φ₀/φ) t tᵀ,   t_i = n/‖x_i − x_j‖, t_k = n/‖x_k − x_j‖, t_j = −t_i − t_k
///
/// (Gauss–Newton, and the resistance to turning out of the plane, which makes a straight string stiff both
/// ways). Exactly straight or folded, n is undefined: no force, and the stiffness is that of a straight
/// hinge.
///
/// A fold over the edge (j, k) of the triangles (i, j, k) and (l, k, j) resists bending with θ ∈ (−π, π] the
/// angle between their normals, positive where the sheet is convex seen from their tips (Grinspun et al.
/// 2003): energy ½ c w², w = θ − θ₀ taken into (−π, π], Gauss–Newton stiffness c ∇θ ∇θᵀ. A fold of a triangle
/// whose height over the edge is below 10⁻⁶ of it exerts nothing.
///
/// All of them leave the linear and angular momentum alone.
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

/// Angle at x_j, rad in [0, π]; 0 for a side of length 0.
double hinge_angle(const Vector3& x_i, const Vector3& x_j, const Vector3& x_k);
/// Fold angle, rad in (−π, π]; 0 for a degenerate triangle.
double fold_angle(const Vector3& x_i, const Vector3& x_j, const Vector3& x_k, const Vector3& x_l);

struct SpringNetwork {
  std::vector<Vector3> vertices;  ///< rest shape, m
  std::vector<double> mass;       ///< per vertex, kg
  double damping = 0.0;           ///< mass-proportional, 1/s
  std::vector<Spring> springs;
  std::vector<Hinge> hinges;
  std::vector<Fold> folds;
  std::vector<Triangle> triangles;          ///< collision surface; may be empty
  std::vector<std::array<Index, 2>> edges;  ///< collision edges that no triangle has

  /// Throws `UsageError` "<context>: …" for numbers that are not finite, masses ≤ 0, stiffnesses or damping
  /// < 0, a spring of rest length ≤ 0, node numbers out of range or repeated within an element.
  void validate(std::string_view context) const;
};

struct ClothMaterial {
  double density = 0.2;    ///< kg/m²
  double stretch = 500.0;  ///< along warp and weft: force per width of cloth and relative stretch, N/m
  double shear =
      50.0;  ///< the same along the diagonals; the shear modulus of square cells is half of it, N/m
  /// Flexural rigidity B: a sheet of curvature κ stores ½ B κ² per area; N·m. Every fold gets c = B |e|²/(A_1
  /// + A_2) with its edge e and its areas, which is exact to second order for grids rolled along warp or weft
  /// and for equilateral meshes rolled in any direction.
  double bending = 1e-5;
  double damping = 0.0;         ///< mass-proportional, 1/s
  double spring_damping = 0.0;  ///< d/k of all springs, s
  void validate(std::string_view context) const;
};

/// A rectangular sheet of columns × rows vertices in the x–y plane, centred at the origin, facing +z: vertex
/// (i, j) has the number i + columns·j. The diagonals of the triangulation alternate: cell (i, j) is cut from
/// its low to its high corner when i + j is even. Structural springs along the grid, shear springs along both
/// diagonals of every cell, folds over all inner edges of the triangulation. A spring stands for a strip of
/// cloth: k = stretch × the width nearer to it than to its parallel neighbours (half on the border), shear ×
/// cell area / length for diagonals. Vertices carry a quarter of their cells.
SpringNetwork grid_cloth(Index columns, Index rows, double width, double depth,
                         const ClothMaterial& material);
/// Any triangle mesh as cloth: springs along all edges, shear springs across every inner edge between the
/// opposite vertices, folds over inner edges with the angles of the mesh as rest angles. The strip of a
/// spring has the width (area of the triangles at its edge)/(its length); with it an equilateral mesh without
/// shear springs has Young's modulus `stretch` (N/m) and Poisson's ratio 1/3. Vertices carry a third of their
/// triangles. Throws `UsageError` for degenerate triangles, unused vertices, and edges of more than two
/// triangles or of two that run through it in the same direction.
SpringNetwork mesh_cloth(const TriangleMesh& mesh, const ClothMaterial& material);

/// Springs, hinges and folds of any number of networks on global node numbers.
class SpringElements {
 public:
  /// The network's nodes get the numbers first_node, first_node + 1, …
  void add(const SpringNetwork& network, Index first_node);
  bool empty() const { return springs_.empty() && hinges_.empty() && folds_.empty(); }
  /// Adds the pairs (i, j) of nodes, i < j, that its stiffness couples, for the pattern of the matrix; leaves
  /// all of `pairs` ascending, each once.
  void couplings(std::vector<std::array<Index, 2>>& pairs) const;
  /// Looks up where the blocks are; `add_stiffness` with a matrix of this pattern then needs no search.
  void prepare(const BlockSparseMatrix& pattern);
  /// Elastic energy, J.
  double energy(std::span<const Vector3> position) const;
  /// Adds elastic and damping forces; returns the elastic energy in J. Sequential: springs are cheap and few.
  double add_forces(std::span<const Vector3> position, std::span<const Vector3> velocity,
                    std::span<Vector3> force) const;
  /// Adds dt² K + dt C (K = −∂f/∂x made positive semi-definite, C = −∂f/∂v) to A, whose block rows are node
  /// numbers, and dt C v to `rhs` (3 per block).
  void add_stiffness(std::span<const Vector3> position, std::span<const Vector3> velocity, double dt,
                     BlockSparseMatrix& A, std::span<double> rhs) const;
  /// Bound for symplectic Euler steps near the rest state: 4/(γ + √(γ² + 4 ω²)), with ω² and γ the largest
  /// row sums of M⁻¹K and M⁻¹C (Gershgorin), 2/ω without damping; s. Infinite without elements.
  double largest_stable_step(std::span<const double> mass) const;

 private:
  std::vector<Spring> springs_;
  std::vector<Hinge> hinges_;
  std::vector<Fold> folds_;
  std::vector<std::array<double, 3>> hinge_slope_;  // ‖∇θ‖ of each node at rest, rad/m
  std::vector<std::array<double, 4>> fold_slope_;
  std::vector<Index> slots_;  // blocks in the order in which add_stiffness meets them; empty: to be searched
};

}  // namespace signorini
