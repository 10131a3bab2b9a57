#pragma once

#include <optional>
#include <span>
#include <vector>

#include "linalg/sparse_lu.h"
#include "linalg/spd_factor.h"
#include "linalg/types.h"
#include "solvers/primal_system.h"

/// The matrix of Newton's method on velocities and its factor:
///
///     K(C) = M + H C Hᵀ,   C = diag(C_1, …, C_m), 3×3 per contact      K: kg, C: kg
///
/// Its pattern joins the node blocks of M that couple and those that one contact touches, whatever C holds, so
/// that it is analysed once per problem. Mechanical bodies without a contact are left out: `solve` gives them
/// zero. K takes an LU factor with the pivots of M while these are stable (sparse_lu.h), which allocates nothing
/// after `prepare`; a large K that is symmetric and positive definite takes a Cholesky factor.
namespace signorini {

enum class Symmetry { general, positive_definite };

class ContactMatrix {
 public:
  /// `system` must outlive the use of this.
  void prepare(const PrimalSystem& system, Symmetry symmetry);

  /// Rows of K: three per node block of a touched body.
  Index order() const { return static_cast<Index>(K_.rows()); }
  /// Assembles and factors K(C). False when it is singular or not finite.
  bool factor(std::span<const Matrix3> C);
  /// x = K⁻¹ b, both of the system's size.
  void solve(std::span<const double> b, std::span<double> x);
  /// Of the last assembly.
  const SparseColumns& matrix() const { return K_; }

 private:
  void number_nodes();
  void gather_nodes();
  void build_pattern();
  void copy_mass();
  void place_contacts();
  void assemble(std::span<const Matrix3> C);
  bool factor_definite();
  std::size_t offset(Index row, Index column) const;

  const PrimalSystem* system_ = nullptr;
  Symmetry symmetry_ = Symmetry::general;
  std::vector<Index> kept_;              ///< node blocks of touched bodies, ascending
  std::vector<Index> place_;             ///< per node block: its number in kept_, or −1
  std::vector<Index> begin_, node_;      ///< per contact: the kept nodes that it touches, ascending
  std::vector<Matrix3> direction_;       ///< beside node_: rows of H of the node, dof × (N, T1, T2)
  std::vector<Index> row_begin_, row_;   ///< per kept node: the nodes that it couples with, ascending
  std::vector<std::size_t> pair_begin_;  ///< per contact: where its pairs begin
  std::vector<Index> pair_;              ///< per pair of nodes of a contact: number of the block of K
  SparseColumns K_;
  std::vector<double> mass_;  ///< the values of M in the pattern of K
  SparseLu lu_;
  SparseRows definite_;  ///< K again, where a Cholesky factor is asked for
  std::optional<SpdPattern> definite_pattern_;
  std::optional<SpdFactor> cholesky_;
  std::vector<double> work_;
};

}  // namespace signorini
