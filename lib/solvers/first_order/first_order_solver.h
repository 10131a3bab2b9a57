#pragma once

#include <span>

#include "solvers/delassus_solver.h"
#include "solvers/first_order/contact_cones.h"
#include "solvers/first_order/shift_rule.h"
#include "solvers/first_order/standstill.h"

/// What the first-order methods on u = W r + q share: the cones with their metric, products with W, and what they
/// tell the loop. They know u at every iterate, so the exact error costs no product.
namespace signorini {

class FirstOrderSolver : public DelassusSolver {
 protected:
  /// For `prepare_island`.
  void set_problem(ReducedProblem problem, Vector mu, FrictionLaw law);
  /// At the start of a solve. `form = associated`: it ends where the convex model is solved.
  void begin(const StopTest& stop, LawForm form);
  /// u = W r + q; one product.
  void evaluate(std::span<const double> r, std::span<double> u);
  /// The `Iteration` that ended at r with velocities u; `correction`: its largest step, as velocity, m/s.
  Iteration tell(std::span<const double> r, std::span<const double> u, double correction);
  /// Of the start r with velocities u.
  Iteration tell_start(std::span<const double> r, std::span<const double> u) const;

  LoopEnd settle(std::span<double> r) override;
  bool ends_by_residual() const override { return !has_own_rule_; }
  bool keeps_best() const override { return !has_own_rule_; }

  ContactCones cones_;
  double largest_curvature_ = 1.0;  ///< bounds the eigenvalues of W in the metric of the cones

 private:
  Standstill standstill_;
  bool judged_ = false;        ///< errors are asked for
  bool has_own_rule_ = false;  ///< the residual of the exact law does not end this solve
  double enough_ = 0.0;        ///< m/s: correction that ends it then
  double correction_ = 0.0;    ///< of the last iteration, m/s
};

}  // namespace signorini
