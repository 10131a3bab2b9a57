#pragma once

#include <cstddef>
#include <vector>

/// The residual polynomial of a run of conjugate gradients, and the eigenvalues that it excludes.
///
/// With D the preconditioner and λ_j, φ_j the eigenpairs of D⁻¹ A, φ_iᵀ D φ_j = δ_ij, a run turns the residual
/// Σ w_j D φ_j into Σ p(λ_j) w_j D φ_j (Hestenes and Stiefel 1952), where
///
///     p₀ = d₀ = 1,    p_{k+1} = p_k − α_k λ d_k,    d_{k+1} = p_{k+1} + β_k d_k.
///
/// Let the norm in D⁻¹ have fallen by the factor ε. A mode with |w_j| ≥ share · √Σ w² then has |p(λ_j)| ≤ ε / share. So no such
/// mode lies where |p| is larger, and that is below `low` and above `high`:
///
///     |p(λ)| > ε / share    for every λ of the scan below `low`, and for every one above `high`
///
/// p falls from 1 to 0 between 0 and its first zero, and grows beyond its last one, so the scans miss nothing but what lies
/// beyond kEnd. Modes of smaller shares are not seen.
namespace signorini {

struct SpectrumBounds {
  double low = 0.0;   ///< of D⁻¹ A, dimensionless; 0: unknown
  double high = 0.0;  ///< 0: unknown
  bool known() const { return low > 0.0 && high > 0.0; }
};

class ResidualPolynomial {
 public:
  static constexpr std::size_t kLongest = 2000;  ///< steps; longer runs tell nothing
  static constexpr double kStart = 1e-14, kEnd = 1e4;

  /// Allocates once.
  void begin();
  void add(double alpha, double beta);
  /// The next direction is the residual alone.
  void turn_back() {
    if (!beta_.empty()) beta_.back() = 0.0;
  }
  /// Of the run so far, which reduced the norm of the residual by the factor `reduction` ≪ `share`. Unknown after
  /// too many steps and where no eigenvalue is excluded.
  SpectrumBounds exclude(double reduction, double share) const;
  /// |p(λ)|
  double value(double lambda) const;

 private:
  std::vector<double> alpha_, beta_;
  bool whole_ = true;
};

}  // namespace signorini
