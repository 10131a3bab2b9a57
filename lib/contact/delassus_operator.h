#pragma once

#include <memory>
#include <span>

#include "base/parallel.h"
#include "contact/column_solves.h"
#include "contact/contact_problem.h"
#include "contact/direction_rows.h"
#include "contact/mass_factor.h"
#include "linalg/block_sparse_matrix.h"

/// The Delassus operator W = Hᵀ M⁻¹ H (3m×3m, 1/kg), assembled as 3×3 blocks or applied without assembling.
///
/// - dual part present: its W is taken as it stands (it need not be symmetric).
/// - M block diagonal over 3-dof nodes (explicit integration): assembled in linear time from the shared nodes
///   (Lazarevych 2010 eq. 11).
/// - M general: one Cholesky factor per connected component of M ("mechanical body"), three solves for each
///   body that a contact touches, restricted to that body (Otaduy 2009 eq. 8). Contacts have a block where
///   they share a body.
///
/// Assembled from a symmetric M, W is symmetric to the last bit; from another M it is not symmetric either. A
/// contact between fixed bodies has a zero block. With contacts but no dofs at all, W = 0 and q = w.
namespace signorini {

/// W as 3×3 blocks. Rows sorted; the diagonal block is always present.
BlockSparseMatrix assemble_delassus(const ContactProblem& problem);
/// The same from the factors of some M (which need not be the problem's).
BlockSparseMatrix assemble_delassus(const MassFactor& mass, const DirectionRows& H, TaskArena* arena,
                                    ColumnSolves columns = ColumnSolves::together);

/// q = Hᵀ M⁻¹ f + w, or the problem's own q when it has a dual part.
Vector assemble_q(const ContactProblem& problem);

/// The dual problem u = W r + q.
struct ReducedProblem {
  BlockSparseMatrix W;
  Vector q;
  Vector free = {};  ///< Hᵀ M⁻¹ f where it was computed, m/s: q without w
};

/// Both at once: factors M only once, and only the bodies that a contact touches. Parts of a problem that
/// must give the bits of the whole one take its `node_size`. With an arena the bodies are factored and their
/// contributions to W computed side by side; the bits are the same.
ReducedProblem assemble_reduced(const ContactProblem& problem, TaskArena* arena = nullptr,
                                ColumnSolves columns = ColumnSolves::together);
ReducedProblem assemble_reduced(const ContactProblem& problem, Index node_size, TaskArena* arena = nullptr,
                                ColumnSolves columns = ColumnSolves::together);

/// Matrix-free W: two products with H and one solve with the factor of M (or one product with a stored W).
/// Owns copies of all it needs and workspaces: one operator must not be used by two threads at once.
class DelassusOperator {
 public:
  explicit DelassusOperator(const ContactProblem& problem);
  ~DelassusOperator();
  DelassusOperator(DelassusOperator&&) noexcept;
  DelassusOperator& operator=(DelassusOperator&&) noexcept;

  Index contacts() const;
  /// u = W r. Sizes 3m; allocates nothing.
  void apply(std::span<const double> r, std::span<double> u) const;
  /// The 3×3 diagonal block of contact k.
  Matrix3 diagonal_block(Index k) const;
  /// v = M⁻¹ b, size n (primal problems only).
  void solve_mass(std::span<const double> b, std::span<double> v) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// True when M couples no two node blocks (then W is block diagonal over mass-point regions).
bool mass_is_block_diagonal(const ContactProblem& problem);

}  // namespace signorini
