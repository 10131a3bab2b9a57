#pragma once

#include <memory>
#include <span>

#include "linalg/types.h"

/// Sparse LU factor of an unsymmetric positive definite matrix (xᵀ M x > 0 for all x ≠ 0), by Eigen's SparseLU with
/// columns ordered by COLAMD. For matrices of files that are meant as they stand; everything else is symmetric and takes
/// `SpdFactor`. Runs on the calling thread and gives the same bits every time.
namespace signorini {

class GeneralFactor {
 public:
  /// Throws `InputError` when M is not positive definite: a Cholesky factor of ½(M + Mᵀ) decides.
  explicit GeneralFactor(const SparseRows& M);
  ~GeneralFactor();
  GeneralFactor(GeneralFactor&&) noexcept;
  GeneralFactor& operator=(GeneralFactor&&) noexcept;

  /// Numbers in L and U.
  long long fill() const;
  /// x = M⁻¹ b; b and x may be the same memory.
  void solve(std::span<const double> b, std::span<double> x) const;
  /// X = M⁻¹ B, column by column (n×k).
  Matrix solve_columns(const Matrix& B) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace signorini
