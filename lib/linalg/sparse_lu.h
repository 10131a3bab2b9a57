#pragma once

#include <memory>
#include <span>

#include "linalg/types.h"

/// LU factor of a square unsymmetric sparse matrix, P A Q = L U, with pivoting.
///
///     lu.analyse(A)         ordering and structure, from the non-zero pattern alone
///     lu.choose_pivots(A)   optional: pivots for all matrices of the pattern that allow them
///     lu.factor(A)          numbers; again for every matrix with that pattern
///     lu.solve(b, x)        x = A⁻¹ b
///
/// Up to kDenseOrder rows, and above where more than kDenseShare of A is stored, the factor is dense, with partial pivoting
/// (linalg/dense_lu.h), in memory that `reserve` or the first `analyse` makes: after that nothing of it allocates. Elsewhere it
/// is KLU's (Davis and Palamadai Natarajan 2010; minimum degree on A + Aᵀ, diagonal pivots preferred) when built with it, or
/// that of Eigen's SparseLU. There `factor` chooses its pivots anew and allocates.
///
/// With `choose_pivots` KLU takes over above kDenseChosen rows, and `factor` keeps to the pivots of that one matrix
/// while they are stable (numbers grow by less than kGrowth): faster, and it allocates nothing. Without KLU it does
/// nothing.
///
/// The bits of an answer depend on A, b and the matrix of `choose_pivots` only. Everything runs on the calling
/// thread; one SparseLu must not be used by two threads at once.
namespace signorini {

/// A matrix in compressed columns, wherever it is stored.
using SparseColumnsView = Eigen::Ref<const SparseColumns>;

class SparseLu {
 public:
  static constexpr Index kDenseOrder = 150;
  static constexpr double kDenseShare = 0.35;
  static constexpr Index kDenseChosen = 24;
  static constexpr double kGrowth = 1e4;

  SparseLu();
  ~SparseLu();
  SparseLu(SparseLu&&) noexcept;
  SparseLu& operator=(SparseLu&&) noexcept;

  /// Memory of the dense factor for all orders up to min(order, kDenseOrder).
  void reserve(Index order);
  /// A: square, compressed. May be called again with another pattern and order. False when its factor is too large for
  /// 32-bit indices.
  bool analyse(const SparseColumnsView& A);
  /// A as in `analyse`, which comes before. A singular A is no choice.
  void choose_pivots(const SparseColumnsView& A);
  /// A has the pattern of the last successful `analyse`. False when A is singular or not finite; then `solve` must not
  /// be called.
  bool factor(const SparseColumnsView& A);
  /// b and x may be the same memory. Allocates nothing but with Eigen's SparseLU.
  void solve(std::span<const double> b, std::span<double> x);

  Index size() const;
  bool is_dense() const;
  /// Additions and multiplications of the last `factor`: counted by the dense factor and by KLU; with Eigen's
  /// SparseLU the number that a matrix of constant profile with this fill would take.
  double flops() const;
  /// Numbers in L and U of the last `factor`, zeros included that the structure keeps.
  long long fill() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace signorini
