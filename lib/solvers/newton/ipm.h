#pragma once

#include <string_view>
#include <vector>

#include "solvers/newton/full_newton.h"
#include "solvers/newton/interior_point.h"
#include "solvers/newton/newton_solver.h"
#include "solvers/newton/proximal_newton.h"
#include "solvers/registered_solver.h"

/// `ipm`: interior point method on u = W r + q for the friction cone (Acary, Armand, Nguyen and Shpakovych 2023;
/// interior_point.h), with crossover.
///
/// Departure: where contacts stick, the interior point steps end near a residual of 1e-6. From `crossover`, or where the
/// best error has not fallen by a tenth in `patience` steps, full Newton steps go on from the best iterate (full_newton.h),
/// and proximal ones (proximal_newton.h) where these stall too. `crossover = 0` keeps to the interior point steps alone.
/// The steps begin in the middle of the cones whatever the start impulses are: those count as an iterate only.
namespace signorini {

struct IpmOptions {
  CommonOptions common;
  double crossover = 1e-5;
  int patience = 15;

  template <class Visitor>
  void visit(Visitor& v) {
    common.visit(v);
    v("crossover", crossover,
      "residual at which Newton steps follow interior point steps; 0: interior point steps alone");
    v("patience", patience, "interior point steps without a gain of a tenth before Newton steps follow");
  }
  void validate() const;
};

class Ipm : public RegisteredSolver<Ipm, IpmOptions, NewtonSolver> {
 public:
  static constexpr std::string_view kName = "ipm";
  static constexpr SolverTraits kTraits{.pyramid = false, .phases = {"ipm", "newton"}};
  explicit Ipm(const Options& options) : RegisteredSolver(options) {}

  void prepare_island(ReducedProblem problem, Vector mu) override;

 protected:
  Iteration start(std::span<double> r, const StopTest& stop) override;
  Iteration iterate(std::span<double> r) override;
  LoopEnd settle(std::span<double> r) override;
  std::size_t phase() const override { return phase_; }

 private:
  enum class Method { interior, full, proximal };
  bool gained(double error);
  void change(Method method);
  Iteration step_inside(std::span<double> r);

  InteriorPoint interior_;
  FullNewton newton_;
  ProximalNewton proximal_;
  std::vector<double> best_x_;
  Method method_ = Method::interior;
  double best_error_ = 0.0, gained_error_ = 0.0;
  int idle_ = 0;
  std::size_t phase_ = 0;  ///< of the last iteration
};

}  // namespace signorini
