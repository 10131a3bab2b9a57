#pragma once

#include <memory>
#include <span>
#include <vector>

#include "linalg/types.h"

/// M⁻¹ body by body.
///
/// A *mechanical body* is a connected component of the graph whose vertices are the node blocks of M and whose edges are its
/// non-zero entries (explicit zeros couple nothing). M is block diagonal over bodies, so each is factored on its own:
///
/// - up to kDenseBody dofs (mass points, rigid bodies): explicit inverse from a dense Cholesky factor;
/// - more dofs: sparse Cholesky factor.
namespace signorini {

class MassFactor {
 public:
  static constexpr Index kDenseBody = 12;

  /// Throws `InputError` naming the first dof of the body when M is not positive definite there.
  MassFactor(const SparseRows& M, Index node_size);
  ~MassFactor();
  MassFactor(MassFactor&&) noexcept;
  MassFactor& operator=(MassFactor&&) noexcept;

  Index bodies() const { return static_cast<Index>(begin_.size()) - 1; }
  /// Dofs of a body, ascending.
  std::span<const Index> dofs(Index body) const;
  Index body_of(Index dof) const { return body_[static_cast<std::size_t>(dof)]; }
  /// Position of a dof in `dofs(body_of(dof))`.
  Index local(Index dof) const { return local_[static_cast<std::size_t>(dof)]; }
  Index largest_body() const;

  /// x := M_b⁻¹ x for `columns` right-hand sides of one body, stored one after another.
  void solve_body(Index body, std::span<double> x, Index columns) const;
  /// x = M⁻¹ b, all bodies. Allocates nothing. Not thread safe.
  void solve(std::span<const double> b, std::span<double> x) const;

 private:
  struct Sparse;
  void factor_dense(const SparseRows& M, Index body);

  std::vector<Index> begin_;      // bodies + 1 offsets into dofs_
  std::vector<Index> dofs_;
  std::vector<Index> body_;
  std::vector<Index> local_;
  std::vector<std::ptrdiff_t> inverse_begin_;  // per body: offset into inverse_, −1 when sparse
  std::vector<double> inverse_;                // column-major
  std::unique_ptr<Sparse> sparse_;
};

}  // namespace signorini
