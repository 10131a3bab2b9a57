#pragma once

#include <memory>
#include <span>

#include "linalg/types.h"

/// Sparse Cholesky factor of a symmetric positive definite matrix, P M Pᵀ = L Lᵀ.
///
/// CHOLMOD (minimum degree, supernodal where it pays) when built with it, Eigen's SimplicialLLT otherwise; a
/// diagonal matrix takes neither. Everything runs on the calling thread and gives the same bits every time.
/// The workspaces of a solve belong to the factor: one factor must not be used by two threads at once.
namespace signorini {

/// The part of a factorisation that depends on the non-zero pattern alone (ordering, elimination tree,
/// structure of L): made once for many matrices of one pattern. May be read by several threads at once.
class SpdPattern {
 public:
  explicit SpdPattern(const SparseRows& M);
  ~SpdPattern();
  SpdPattern(SpdPattern&&) noexcept;
  SpdPattern& operator=(SpdPattern&&) noexcept;

 private:
  friend class SpdFactor;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

class SpdFactor {
 public:
  /// Reads both triangles (M is taken as symmetric). Throws `InputError` that names the dof when M is not
  /// positive definite. `pattern`, where given, must be that of a matrix with the same non-zeros; it saves
  /// time and changes no bit.
  explicit SpdFactor(const SparseRows& M, const SpdPattern* pattern = nullptr);
  ~SpdFactor();
  SpdFactor(SpdFactor&&) noexcept;
  SpdFactor& operator=(SpdFactor&&) noexcept;

  Index size() const;
  bool is_diagonal() const;
  /// Numbers stored of L, zeros of dense blocks included: a solve reads them twice.
  long long fill() const;

  /// x = M⁻¹ b; b and x may be the same memory. Allocates nothing.
  void solve(std::span<const double> b, std::span<double> x) const;
  /// X = M⁻¹ B, column by column (n×k).
  Matrix solve_columns(const Matrix& B) const;
  /// Y = L⁻¹ P B (n×k), so that Bᵀ M⁻¹ B = Yᵀ Y: half the work of `solve_columns`, and exactly symmetric.
  Matrix half_solve(const Matrix& B) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace signorini
