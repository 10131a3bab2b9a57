#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "linalg/block_sparse_matrix.h"
#include "linalg/residual_polynomial.h"
#include "linalg/symmetric_block_matrix.h"

/// A x = b for symmetric positive definite A of 3×3 blocks by conjugate gradients (Hestenes and Stiefel 1952)
/// with the block Jacobi preconditioner D = diag(A_11, A_22, …).
///
///     r = b − A x,  z = D⁻¹ r,  α = rᵀz / pᵀA p,  β = r⁺ᵀz⁺ / rᵀz
///     stop when √(rᵀz) ≤ tolerance · √(bᵀ D⁻¹ b)
///
/// When the recursive residual meets the tolerance, r is computed again from x; if rounding has parted the
/// two, the iteration starts again from there. Deterministic: sums are taken over fixed chunks of rows, so
/// the bits do not depend on the number of threads.
namespace signorini {

struct CgReport {
  int iterations = 0;
  double residual = 0.0;  ///< ‖b − A x‖ / ‖b‖ in the norm of D⁻¹, recomputed at the end; 0 for b = 0
  bool converged = false;
};

class ConjugateGradient {
 public:
  /// Inverts the diagonal blocks. Throws `InputError` naming the dof when one is not positive definite. `A`
  /// and `folded` must outlive the use; call again after their values changed. `folded`: the same matrix for
  /// the products, in chunks of a multiple of kRowGrain rows; worth making for more than about 30 iterations
  /// of a matrix that no cache holds.
  void prepare(TaskArena& arena, const BlockSparseMatrix& A, const SymmetricBlockMatrix* folded = nullptr);
  static constexpr std::size_t kRowGrain = 256;  ///< block rows; about 20 µs of a product with 15 per row
  /// `x`: start values in, answer out. Allocates nothing after the first call of a size. Not converged when
  /// the iterations are used up, when A turns out indefinite, when numbers are not finite, or when rounding
  /// keeps the true residual above the tolerance; `x` is then the last iterate.
  CgReport solve(TaskArena& arena, std::span<const double> b, std::span<double> x, double tolerance,
                 int max_iterations);
  /// √(bᵀ D⁻¹ b)
  double norm(TaskArena& arena, std::span<const double> b) { return std::sqrt(squared_norm(arena, b)); }
  /// Eigenvalues of D⁻¹A that the last solve excludes for modes that held `share` of its first residual
  /// (residual_polynomial.h). Unknown where it did not converge.
  SpectrumBounds spectrum(double share) const {
    return reduction_ > 0.0 ? polynomial_.exclude(reduction_, share) : SpectrumBounds{};
  }

 private:
  double sum() const;
  double squared_norm(TaskArena& arena, std::span<const double> b);
  template <class Then>
  void multiply(TaskArena& arena, std::span<const double> x, std::span<double> y, const Then& then);
  double residual_of(TaskArena& arena, std::span<const double> b, std::span<const double> x);
  double multiply_direction(TaskArena& arena);
  double descend(TaskArena& arena, double alpha, std::span<double> x);
  void turn(TaskArena& arena, double beta);

  const BlockSparseMatrix* A_ = nullptr;
  const SymmetricBlockMatrix* folded_ = nullptr;
  std::vector<Matrix3> inverse_;  // D⁻¹
  std::vector<double> r_, z_, p_, Ap_;
  std::vector<double> partial_;  // one sum per chunk of rows
  ResidualPolynomial polynomial_;
  double reduction_ = 0.0;  // of the residual by the last solve; 0: unknown
};

}  // namespace signorini
