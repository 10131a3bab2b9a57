#pragma once

#include <span>
#include <vector>

#include "base/parallel.h"
#include "linalg/block_sparse_matrix.h"

/// A x = b for symmetric positive definite A of 3×3 blocks by conjugate gradients with the block Jacobi
/// preconditioner. Deterministic: the bits do not depend on the number of threads.
namespace signorini {

struct CgReport {
  int iterations = 0;
  double residual =
      0.0;  ///< ‖b − A x‖ / ‖b‖ in the norm of the inverse preconditioner, recomputed at the end
  bool converged = false;
};

class ConjugateGradient {
 public:
  /// Inverts the diagonal blocks. Throws `InputError` naming the dof when one is not positive definite. `A`
  /// must outlive the use; call again after its values changed.
  void prepare(TaskArena& arena, const BlockSparseMatrix& A);
  /// `x`: start values in, answer out. Allocates nothing after the first call of a size.
  CgReport solve(TaskArena& arena, std::span<const double> b, std::span<double> x, double tolerance,
                 int max_iterations);

 private:
  const BlockSparseMatrix* A_ = nullptr;
  std::vector<Matrix3> inverse_;
  std::vector<double> r_, z_, p_, Ap_;
};

}  // namespace signorini
