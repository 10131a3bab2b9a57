#pragma once

#include <span>
#include <vector>

#include "linalg/sparse_lu.h"
#include "solvers/newton/contact_piece.h"
#include "solvers/relaxation/gauss_seidel.h"

/// The linear algebra of Newton methods on u = W r + q: unit-free variables, the Alart–Curnier equations of a shifted
/// problem, and their Newton direction.
///
///     s_k = tr(W_kk)/3,   s = max_k s_k,   W̃_kl = W_kl/√(s_k s_l),   y = W̃ x + q̃
///     x_k = r_k √(s_k s)/U,   y_k = u_k √(s/s_k)/U
///
///     W: 3m×3m [1/kg]   r: 3m [N·s]   u, q: 3m [m/s]   U = max|q| [m/s]   x, y: 3m [–]
///
/// Shifted by a ≥ 0 about x₀, the problem is y = W̃ x + q̃ + a (x − x₀): the proximal point step of the law at x₀. Its
/// map F (contact_piece.h) takes ρ_N = 1/(W̃_NN + a) and ρ_T = 1/(λ_max(W̃_TT) + a). The direction d solves
///
///     open contacts: d = −x          the others: (A_r + A_u (W̃ + α I)) d = −F,  d of the open contacts being known
///
/// with α ≥ a: α > a regularises where W is singular (redundant contacts). The matrix has three rows per closed contact
/// and is not symmetric where contacts slide; sparse_lu.h factors it. Contacts with W_NN ≤ 0 keep x = 0.
///
/// Up to kSmall contacts nothing allocates after `prepare`; beyond, memory grows with the largest matrix met.
namespace signorini {

class NewtonSystem {
 public:
  static constexpr Index kSmall = SparseLu::kDenseOrder / 3;

  /// `data` must outlive the use.
  void prepare(const GaussSeidelData& data);
  /// Begins a solve with this U, m/s.
  void begin(double velocity_scale);

  std::size_t rows() const { return 3 * root_.size(); }
  Index contacts() const { return count(root_); }
  /// x of r, with zeros for contacts that nothing moves; and r of x.
  void to_unit_free(std::span<const double> r, std::span<double> x) const;
  void to_impulses(std::span<const double> x, std::span<double> r) const;
  /// y = W̃ x + q̃, and y = W̃ x: one product with W.
  void velocity(std::span<const double> x, std::span<double> y);
  void product(std::span<const double> x, std::span<double> y);

  struct Size {
    double squares = 0.0;  ///< |F|²
    double largest = 0.0;  ///< max_k |F_k|; NaN where F is not finite
  };
  /// F of the problem shifted by `shift`, whose velocities are y.
  Size residual(std::span<const double> x, std::span<const double> y, double shift) const;
  /// The exact Alart–Curnier error (contact/residuals.h) of x with y = W̃ x + q̃, in m/s, over the contacts that something
  /// moves; and over the others, which no impulse changes.
  double error(std::span<const double> x, std::span<const double> y) const;
  double immovable() const { return immovable_; }
  /// The direction d; false where the matrix is singular or d not finite.
  bool direction(std::span<const double> x, std::span<const double> y, double shift, double alpha,
                 std::span<double> d);

  /// The same in parts, for pieces of another origin: `factor` takes the pieces as they are and the contacts that are
  /// not open; `solve` gives d from F of the pieces, with d = −x for the others.
  ContactPiece& piece(Index k) { return piece_[k]; }
  bool factor(double alpha);
  bool solve(std::span<const double> x, std::span<double> d);

  /// x := max(0, x_N), and x_T projected on its bound μ x_N.
  void make_admissible(std::span<double> x) const;

  /// Of the last `factor`, with a row for each direction of a closed contact; the numbers in its L and U.
  Eigen::Map<const SparseColumns> matrix() const;
  long long fill() const { return lu_.fill(); }

  /// Of the last `direction`.
  Index closed() const { return count(closed_); }
  int state_changes() const {
    return state_changes_;
  }  ///< contacts that opened or closed since the one before
  /// Matrices factored in this solve.
  long long factorisations() const { return factorisations_; }
  /// Additions and multiplications of all directions of this solve.
  double flops() const { return flops_; }

  const GaussSeidelData& data() const { return *data_; }
  /// √s_k; 0 for a contact that nothing moves.
  double root(Index k) const { return root_[k]; }
  double mu(Index k) const { return data_->mu[k]; }

 private:
  ContactSteps steps(Index k, double shift) const;
  double per_velocity(Index k) const;
  bool same_pattern() const;
  void make_room(std::size_t entries);
  void find_closed();
  void assemble(double alpha);
  Vector3 from_open(Index k, std::span<const double> x) const;
  void count_columns();

  const GaussSeidelData* data_ = nullptr;
  std::vector<double> root_, inverse_root_;  ///< m: √s_k and 1/√s_k; 0 where nothing moves
  std::vector<double> normal_, tangent_;     ///< m: W̃_NN, λ_max(W̃_TT)
  double largest_root_ = 1.0;                ///< √s
  double scale_ = 1.0;                       ///< U/√s
  double immovable_ = 0.0;                   ///< m/s
  std::vector<double> impulse_, velocity_;   ///< 3m: r and W r
  std::vector<ContactPiece> piece_;          ///< m
  std::vector<Index> closed_, number_;       ///< contacts of the system; m: their place in it, or −1
  std::vector<Index> closed_before_;         ///< of the pattern that `lu_` knows
  std::vector<Index> column_begin_, row_;    ///< the matrix in compressed columns
  std::vector<Index> next_;                  ///< per closed contact: blocks written so far
  std::vector<double> value_, right_;
  SparseLu lu_;
  bool analysed_ = false;
  int state_changes_ = 0;
  long long factorisations_ = 0;
  double flops_ = 0.0;
};

}  // namespace signorini
