#pragma once

#include <span>
#include <vector>

#include "solvers/newton/newton_system.h"

/// Primal–dual interior point steps for the cone (Acary, Armand, Nguyen and Shpakovych 2023), in the unit-free variables
/// of newton_system.h with impulses x and velocities y:
///
///     ξ = (μ x_N, x_T),   ζ = (y_N/μ + ‖y_T‖, y_T),   L ∋ ξ ⊥ ζ ∈ L          L: Lorentz cone
///     ζ = A ξ + D q̃ + e_N ‖ζ_T‖,   A = D W̃ D,   D = diag(1/μ, 1, 1),   g = ζ_T/‖ζ_T‖
///     (P + (I + e_N gᵀ) A) dξ = S (λ\σ τ e − λ − …) + (I + e_N gᵀ) ρ,   dζ = … − P dξ
///
/// with S, P, λ of second_order_cone.h, τ = ξᵀζ/m, ρ = ζ − (A ξ + D q̃ + e_N ‖ζ_T‖), and Mehrotra's corrector, weighted by
/// the square of the affine step. The derivative g of de Saxcé's term stands in the matrix. A contact with μ = 0 is the
/// half line x_N y_N = 0, x_T = 0. Where contacts stick, g has no limit: the steps end near 1e-6, and another method has to
/// go on.
namespace signorini {

class InteriorPoint {
 public:
  /// `system` must outlive the use.
  void prepare(NewtonSystem& system);
  /// From the middle of the cones.
  void start();
  /// One predictor–corrector step; false where the matrix is singular or no step is left.
  bool step();

  std::span<const double> iterate() const { return x_; }
  double error() const { return error_; }  ///< exact, m/s

 private:
  struct Contact {
    Vector3 xi, zeta;    ///< (ξ_N, 0, 0) where μ = 0
    Vector3 gap, slope;  ///< ρ and (0, g)
    Vector3 lambda;
    Vector3 affine_xi, affine_zeta;
    Vector3 d_xi, d_zeta;
  };
  bool slides(Index k) const { return system_->mu(k) > 0.0; }
  void evaluate();
  void set_pieces();
  bool aim(double target, double weight);
  Vector3 wanted(const Contact& c, Index k, double target, double weight) const;
  double longest_step() const;
  double complementarity(double step) const;

  NewtonSystem* system_ = nullptr;
  std::vector<Contact> contact_;
  std::vector<double> x_, y_, d_, zero_;
  double error_ = 0.0;
};

}  // namespace signorini
