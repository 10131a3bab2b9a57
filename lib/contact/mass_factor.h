#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "linalg/types.h"

/// M⁻¹ body by body.
///
/// A *mechanical body* is a connected component of the graph whose vertices are the node blocks of M and
/// whose edges are its non-zero entries (explicit zeros couple nothing). M is block diagonal over bodies, so
/// each is factored on its own:
///
/// - up to kDenseBody dofs (mass points, rigid bodies): explicit inverse from a dense Cholesky factor;
/// - more dofs: sparse Cholesky factor.
///
/// A body whose M_b is not symmetric (linalg/asymmetry.h; matrices of files taken as they stand) takes LU factors in
/// their place. Positive definite means xᵀ M x > 0 for every x ≠ 0 there too.
namespace signorini {

class FactorStore;
class SpdFactor;

class MassFactor {
 public:
  static constexpr Index kDenseBody = 12;
  /// Contacts per batch of right-hand sides (3 columns each): wide enough for the matrix kernels of a
  /// supernodal factor.
  static constexpr Index kBatch = 16;

  /// Of nothing, before the first `refactor`.
  MassFactor();
  /// Throws `InputError` naming the first dof of the body when M is not positive definite there. Bodies are
  /// factored in parallel where an arena is given; bodies of the same pattern share its analysis.
  MassFactor(const SparseRows& M, Index node_size, TaskArena* arena = nullptr);
  /// Factors only the bodies of some dofs; the others must not be asked for, and `solve` gives them x = 0. With a `store`
  /// bodies of more than kDenseBody dofs are looked for there first, and left there: their factors, else the analyses of
  /// their patterns. The answers have the bits of a MassFactor without it.
  MassFactor(const SparseRows& M, Index node_size, std::span<const Index> touched,
             FactorStore* store = nullptr, TaskArena* arena = nullptr);
  /// Factors another matrix in the place of this one, all bodies, with a store.
  void refactor(const SparseRows& M, Index node_size, FactorStore& store, TaskArena* arena = nullptr);
  ~MassFactor();
  MassFactor(MassFactor&&) noexcept;
  MassFactor& operator=(MassFactor&&) noexcept;

  Index bodies() const { return count(begin_) - 1; }
  /// Dofs of a body, ascending.
  std::span<const Index> dofs(Index body) const;
  Index body_of(Index dof) const { return body_[dof]; }
  /// Position of a dof in `dofs(body_of(dof))`.
  Index local(Index dof) const { return local_[dof]; }
  Index largest_body() const;

  /// Of one body; of all bodies that were factored.
  bool is_symmetric(Index body) const { return unsymmetric_[body] == 0; }
  bool is_symmetric() const;
  bool is_dense(Index body) const { return inverse_begin_[body] >= 0; }
  /// Runs of consecutive bodies worth a task of their own: offsets.
  std::span<const Index> tasks() const { return task_begin_; }
  /// X := M_b⁻¹ X, a column per right-hand side. Different bodies may be asked for from different threads.
  void solve_body(Index body, Matrix& X) const;
  /// The same by a forward and a backward substitution for each column.
  void solve_body_by_columns(Index body, Matrix& X) const;
  /// X := L⁻¹ P X with P M_b Pᵀ = L Lᵀ, so that XᵀX becomes Xᵀ M_b⁻¹ X at half the work. For bodies that are
  /// symmetric and not dense. `panel` is kept for the next time.
  void half_solve_body(Index body, Matrix& X, std::vector<double>& panel) const;
  /// The factor of a body that solves panels (linalg/spd_factor.h), else null.
  const SpdFactor* panels(Index body) const;
  /// x = M⁻¹ b, all bodies, in parallel where an arena is given. Allocates nothing. Not thread safe.
  void solve(std::span<const double> b, std::span<double> x, TaskArena* arena = nullptr) const;

 private:
  struct Sparse;
  class Guard;
  class Patterns;
  void factor_all(const SparseRows& M, std::span<const char> wanted, FactorStore* store, TaskArena* arena);
  void factor_sparse(const SparseRows& M, std::span<const Index> wanted, FactorStore* store, Guard& guard,
                     TaskArena* arena);
  void analyse_and_factor(std::span<const Index> left, Patterns& patterns, Guard& guard, TaskArena* arena);
  void number_dofs(const SparseRows& M, Index node_size);
  void factor_dense(const SparseRows& M, Index body);
  void solve_sparse(Index body, std::span<double> x) const;
  void solve_own(Index body, std::span<const double> b, std::span<double> x) const;
  SparseRows extract(const SparseRows& M, Index body) const;

  std::vector<Index> begin_;  // bodies + 1 offsets into dofs_
  std::vector<Index> dofs_;
  std::vector<Index> body_;
  std::vector<Index> local_;
  std::vector<Index> task_begin_;
  std::vector<std::ptrdiff_t> inverse_begin_;  // per body: offset into inverse_, −1 when sparse
  std::vector<double> inverse_;                // column-major
  std::vector<char> unsymmetric_;              // per body; 0 for bodies that are not wanted
  std::unique_ptr<Sparse> sparse_;
};

}  // namespace signorini
