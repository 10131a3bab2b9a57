#pragma once

#include <span>
#include <vector>

#include "solvers/global_newton/contact_matrix.h"
#include "solvers/global_newton/coulomb_piece.h"
#include "solvers/primal_system.h"
#include "solvers/solver.h"

/// A step of Newton's method on the equations of Alart and Curnier in global form, W never formed. It moves
/// impulses and velocities together,
///
///     M dv − H dr = −ρ,   dr = F − C Hᵀ dv,   ρ = M y − H r,   y = v − v_free
///
/// with C and F of coulomb_piece.h, by one factor of K = M + H C Hᵀ:
///
///     K dv = H F − ρ
///
/// These are the iterates of Newton's method on W + diag(β). β_k = (α + a) s_k, s_k = (W_NN + 2 λ_max(W_TT))/3:
///
/// - α regularises: it changes the step only, not the equations
/// - a shifts the equations: W + a S in the place of W, q − a S r° in that of q, r° a point nearby (the centre);
///   the contacts see ũ = u + a S (r − r°) and ρ_N = 1/(W_NN + a s), ρ_T likewise
///
/// The factor knows its equations to ε/β only, so the momentum that a step leaves is solved for once more.
///
///     r, dr: 3m [N·s]     u, du: 3m [m/s]     y, dv: n [m/s]     s: m [1/kg]     α, a: unit-free
namespace signorini {

class NewtonStep {
 public:
  struct Shift {
    double regularisation = 0.0;       ///< α
    double proximal = 0.0;             ///< a
    std::span<const double> centre{};  ///< r°, where a > 0
  };

  /// `system` must outlive the use of this.
  void prepare(const PrimalSystem& system);

  /// dv, dr and du = Hᵀ dv at (r, u, y). False when there is no such step.
  bool find(std::span<const double> r, std::span<const double> u, std::span<const double> y,
            const Shift& shift, SolveCounters& counters);
  /// y = M⁻¹ H r from a factor of its own. False when there is none.
  bool respond(std::span<const double> r, std::span<double> y, SolveCounters& counters);
  /// ‖D⁻¹(M y − H r)‖∞ in m/s, D the block diagonal of M.
  double momentum(std::span<const double> r, std::span<const double> y, SolveCounters& counters);

  /// How far r and u are from solving the (shifted) equations.
  struct Distance {
    double largest = 0.0;  ///< max_k e_k, e_k the error of contact k (contact_error.h), m/s
    double merit = 0.0;    ///< Σ e_k² s_max/s_k, over the square of the system's velocity scale
  };
  /// Contacts that nothing moves are left out. NaN where a number is.
  Distance distance(std::span<const double> r, std::span<const double> u, const Shift& shift) const;

  const std::vector<double>& impulse_change() const { return dr_; }
  const std::vector<double>& velocity_change() const { return dv_; }
  const std::vector<double>& relative_change() const { return du_; }

 private:
  void linearise(std::span<const double> r, std::span<const double> u, const Shift& shift,
                 SolveCounters& counters);
  void momentum_defect(std::span<const double> r, std::span<const double> y, SolveCounters& counters);
  void add_correction(SolveCounters& counters);
  void take_remainder(SolveCounters& counters);
  Vector3 shifted_velocity(Index k, std::span<const double> r, std::span<const double> u,
                           const Shift& shift) const;
  InverseMass shifted_mass(Index k, double proximal) const;

  const PrimalSystem* system_ = nullptr;
  ContactMatrix matrix_;
  std::vector<double> scale_;  ///< s; 0 for contacts that nothing moves
  double largest_scale_ = 0.0;
  std::vector<Matrix3> C_;
  std::vector<FrictionState> state_;  ///< of the last linearisation
  std::vector<double> F_, dr_, du_, dv_;
  std::vector<double> defect_;  ///< H r − M y
  std::vector<double> product_, right_, change_;
};

}  // namespace signorini
