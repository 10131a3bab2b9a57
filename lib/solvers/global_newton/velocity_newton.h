#pragma once

#include <vector>

#include "solvers/mass_solver.h"

/// What `body-newton` and `sap` share: an iterate is impulses r with velocities v = v_free + y that need not belong
/// together, so its residual has two parts,
///
///     max_k e_k            errors of the contacts (contact_error.h) at u = Hᵀ v + w
///     ‖D⁻¹(M y − H r)‖∞    the momentum error, D the block diagonal of M
///
///     r: 3m [N·s]     v, y: n [m/s]     u: 3m [m/s]     residual and its parts: m/s
namespace signorini {

class VelocityNewton : public MassSolver {
 protected:
  /// For `prepare`.
  void set_problem(const ContactProblem& problem, FrictionLaw law, Judge judge);
  /// v and u of y.
  void find_velocities();

  double residual() const { return contact_error_ + momentum_; }
  Iteration told() const;
  IterationProgress progress() override;
  /// Iterations since the residual last fell by a tenth, this one included: 0 where it does.
  int count_idle();
  /// At the start of a solve.
  void forget_gains();

  std::vector<double> y_, v_;                    ///< n, m/s
  std::vector<double> u_;                        ///< 3m, m/s
  double immovable_ = 0.0;                       ///< error of contacts that nothing moves, m/s
  double contact_error_ = 0.0, momentum_ = 0.0;  ///< of the iterate, m/s
  int idle_ = 0;                                 ///< of the last `count_idle`

 private:
  double gained_ = 0.0;  ///< residual of the last gain, m/s
};

}  // namespace signorini
