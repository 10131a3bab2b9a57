#pragma once

#include <string_view>

#include "solvers/newton/full_newton.h"
#include "solvers/newton/newton_solver.h"
#include "solvers/registered_solver.h"

/// `newton`: the semi-smooth Newton method on the equations of Alart and Curnier (1991) on u = W r + q, one sparse
/// factor per iteration (full_newton.h; the direction is in newton_system.h).
///
/// Full steps and a regularisation that vanishes with the error, from the start impulses. Converges quadratically near a
/// solution, and need not converge from afar: the solve ends as stalled where the best error has not fallen by a tenth in
/// `patience` iterations. `prox-newton` is the robust form.
namespace signorini {

struct NewtonOptions {
  CommonOptions common;
  double regularisation = 0.01;
  int patience = 25;

  template <class Visitor>
  void visit(Visitor& v) {
    common.visit(v);
    v("regularisation", regularisation,
      "alpha over the residual, both unit-free: W + alpha I stands in the place of W in the matrix");
    v("patience", patience, "iterations without a gain of a tenth after which the solve ends");
  }
  void validate() const;
};

class Newton : public RegisteredSolver<Newton, NewtonOptions, NewtonSolver> {
 public:
  static constexpr std::string_view kName = "newton";
  static constexpr SolverTraits kTraits{};
  explicit Newton(const Options& options) : RegisteredSolver(options) {}

  void prepare_island(ReducedProblem problem, Vector mu) override;

 protected:
  Iteration start(std::span<double> r, const StopTest& stop) override;
  Iteration iterate(std::span<double> r) override;
  LoopEnd settle(std::span<double> r) override;

 private:
  FullNewton newton_;
};

}  // namespace signorini
