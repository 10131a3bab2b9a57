#pragma once

#include <span>

#include "contact/factor_store.h"
#include "contact/mass_factor.h"
#include "linalg/conjugate_gradient.h"

/// A x = b with the matrix of an implicit step (symmetric positive definite, 3×3 blocks), solved several
/// times per step: for the free motion, and for the response to the impulses of every contact solve.
///
/// Where no mechanical body has more than kDirectDofs dofs, by Cholesky factors body by body, else by
/// conjugate gradients (times of both: docs/notes/measurements.md). The choice and the bits depend on A
/// alone.
namespace signorini {

class StepEquations {
 public:
  static constexpr Index kDirectDofs = 1500;

  /// `A` must outlive the use; call again after its values changed. Factors come from
  /// the store and stay there. Throws `InputError` naming the dof where
  /// a diagonal block is not positive definite; a matrix that is indefinite elsewhere goes to conjugate
  /// gradients, whose report says so.
  void prepare(TaskArena& arena, const BlockSparseMatrix& A, FactorStore& store);
  /// `x`: start values in (conjugate gradients use them), answer out.
  CgReport solve(TaskArena& arena, std::span<const double> b, std::span<double> x, double tolerance,
                 int max_iterations);
  bool direct() const { return direct_; }

 private:
  /// r = b − A x; ‖r‖/‖b‖.
  double residual(TaskArena& arena, std::span<const double> b, std::span<const double> x);

  const BlockSparseMatrix* A_ = nullptr;
  bool direct_ = false;
  MassFactor factor_;
  ConjugateGradient cg_;
  std::vector<double> r_, change_;
};

}  // namespace signorini
