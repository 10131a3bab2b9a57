#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "linalg/types.h"

/// The frictional contact problem, as plain data. It solves nothing; every solver variant reads the same
/// object.
///
/// Notation is FCLib's. n dofs, m contacts; contact k owns rows 3k, 3k+1, 3k+2 in the order **N, T1, T2**.
///
///     primal:  M v = H r + f,      u = Hᵀ v + w                       (v: m/s, f: N·s)
///     dual:        u = W r + q,    W = Hᵀ M⁻¹ H, q = Hᵀ M⁻¹ f + w     (u: m/s, r: N·s, W: 1/kg)
///     law:     K_μ ∋ r ⊥ û ∈ K_μ*,  û = u + μ‖u_T‖ n,  K_μ = { ‖r_T‖ ≤ μ r_N }    (cone)
///
/// The pyramid is in friction_law.h; docs/theory.md translates the papers' notation.
///
/// u_k is the relative velocity of contact k seen in its frame: u_N < 0 is approaching, r_N ≥ 0 pushes apart.
/// Restitution and gaps are already inside w (or q). A problem has the primal part, the dual part, or both.
///
/// Problems in the plane have three rows per contact too (planar_problem.h).
namespace signorini {

/// How the velocities were integrated: explicit means M is block diagonal over the mass points.
enum class ProblemKind { unknown, explicit_step, implicit_step };

/// Which triangle of M a file held (the diagonal apart). `upper` and `lower`: M was filled up by symmetry, and is written
/// as that triangle again.
enum class StoredTriangle { both, upper, lower };

/// How a solve left a contact (contact/friction_state.h). The numbers stand in recordings.
enum class FrictionState : Index { unknown = -1, open = 0, sticking = 1, sliding = 2 };

class FactorStore;

struct ContactProblem {
  // --- primal part (empty when dofs() == 0) ---
  SparseRows M;  ///< n×n, positive definite, symmetric but for files taken as they stand; kg
  StoredTriangle M_stored = StoredTriangle::both;
  SparseColumns H;  ///< n×3m, columns are contact directions; dimensionless
  Vector f;         ///< n; N·s
  Vector w;         ///< 3m; m/s

  // --- dual part (empty when absent) ---
  SparseRows W;  ///< 3m×3m, not always symmetric in recorded files; 1/kg
  Vector q;      ///< 3m; m/s

  Vector mu;  ///< m friction coefficients ≥ 0

  /// 3, or 2: a problem in the plane in the form of planar_problem.h. No solver needs to know.
  Index spacedim = 3;

  // --- what FCLib lacks; each may be empty ---
  ProblemKind kind = ProblemKind::unknown;
  double dt = 0.0;    ///< time step in s; 0 = unknown
  double time = 0.0;  ///< simulation time in s
  Vector gap;         ///< m signed gaps at the start of the step in m
  Matrix frame;       ///< m×9: rows (n, t1, t2) in world axes
  Matrix position;    ///< m×3 contact points in m
  Eigen::Matrix<Index, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>
      points;  ///< m×4 mass points, −1 = none (fixed)
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>
      weights;                                                      ///< m×4 signed barycentric weights
  Eigen::Matrix<Index, Eigen::Dynamic, 2, Eigen::RowMajor> bodies;  ///< m×2 body numbers, −1 = obstacle
  /// m×2 features that touch, by their numbers in the scene's surfaces, the same in every step: vertex and face,
  /// or −1 − edge and −1 − edge (smaller number first).
  Eigen::Matrix<Index, Eigen::Dynamic, 2, Eigen::RowMajor> features;
  std::vector<Index> node_numbers;  ///< per mass point of this problem: its number in the scene, ascending
  std::vector<Index> body_dofs;     ///< bodies + 1 offsets: body b owns dofs [body_dofs[b], body_dofs[b+1])

  // --- where a solver may start; each may be empty. The previous solve: of the step before, or of the same ---
  Vector warm_start;  ///< 3m impulses of the previous solve in this problem's frames; N·s
  Vector v_minus;     ///< n velocities at the beginning of the (sub-)step, before anything acts; m/s
  std::vector<FrictionState>
      start_states;     ///< m: how the previous solve left the contact; unknown for a new one
  Vector start_bounds;  ///< m bounds of friction μ r_N of the previous solve, 0 for a new contact; N·s

  /// Of the bodies of M, where several problems share them; null: every solver factors M by itself. In no file.
  std::shared_ptr<FactorStore> factors;

  Index contacts() const { return count(mu); }
  Index dofs() const { return count(f); }
  /// Without those that a problem in the plane has for its second tangents.
  Index own_dofs() const { return spacedim == 2 && has_primal() ? dofs() - 3 * contacts() : dofs(); }
  /// With zero contacts a problem is primal when it has dofs and dual otherwise.
  bool has_primal() const { return dofs() > 0; }
  bool has_dual() const { return q.size() > 0; }
  /// Dofs of one node block: 3 when every node is a point in space (n divisible by 3), else 1.
  Index node_size() const { return dofs() % 3 == 0 ? 3 : 1; }
};

/// Free text that travels with FCLib files.
struct ProblemInfo {
  std::string title;
  std::string description;
  std::string math_info;
};

/// Checks sizes, index ranges, finiteness, M's positive diagonal, W's diagonal (not negative),
/// μ ≥ 0, unit frames. Returns the first defect as one line that names the object ("mu[3] = -0.1 is
/// negative"), or nothing.
std::optional<std::string> find_defect(const ContactProblem& problem);
/// The same of equations in the plane, two rows per contact, before `to_space` (planar_problem.h): M, H, f, w, W, q, mu.
std::optional<std::string> find_defect_in_plane(const ContactProblem& planar);

/// Throws `InputError` "<where>: <defect>" when there is one.
void check_problem(const ContactProblem& problem, const std::string& where);

}  // namespace signorini
