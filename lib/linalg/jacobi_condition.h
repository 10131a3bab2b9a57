#pragma once

#include "linalg/types.h"

/// How well the 3×3 diagonal blocks D of a symmetric positive definite A (n×n) stand for it:
///
///     κ = λ_max / λ_min of D⁻¹ A, which has the eigenvalues of L⁻¹ A L⁻ᵀ with D = L Lᵀ,
///
/// by the Lanczos process (Lanczos 1950) on L⁻¹ A L⁻ᵀ from fixed random start values, without
/// reorthogonalisation, which the outermost eigenvalues do not need. It ends where both of them have moved by
/// less than a thousandth in ten steps, or after `kLongest`; the result is never above κ but for rounding.
///
/// What it says: block relaxation (ICA) needs about κ iterations for a given accuracy, a Krylov method with
/// this preconditioner about √κ; below ten or so there is little to gain.
namespace signorini {

struct JacobiSpectrum {
  static constexpr int kLongest = 2000;
  double low = 0.0, high = 0.0;  ///< eigenvalues of D⁻¹ A; dimensionless
  int steps = 0;                 ///< of the Lanczos process, one product with A each
  double condition() const { return high / low; }
};

/// Throws `InputError` where n is no multiple of 3 or a diagonal block is not positive definite; n = 0 gives
/// zeros.
JacobiSpectrum jacobi_spectrum(const SparseRows& A);

}  // namespace signorini
