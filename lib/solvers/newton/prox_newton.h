#pragma once

#include <string_view>

#include "solvers/newton/newton_solver.h"
#include "solvers/newton/proximal_newton.h"
#include "solvers/registered_solver.h"

/// `prox-newton`: the robust Newton method on u = W r + q: proximal point steps, each solved by semi-smooth Newton with a
/// line search (proximal_newton.h). An iteration is one inner step with one factor of a matrix of three rows per closed
/// contact. It is made for what no sweep and no plain Newton method solves: redundant contacts, large μ, stacks of
/// unequal masses, and residuals down to rounding.
///
/// The iterate that the loop sees is the best so far.
namespace signorini {

struct ProxNewtonOptions {
  CommonOptions common;
  double shift = 0.1;
  int patience = 200;

  template <class Visitor>
  void visit(Visitor& v) {
    common.visit(v);
    v("shift", shift, "first proximal weight, relative to tr(W_kk)/3 of each contact");
    v("patience", patience, "iterations without a gain of a hundredth after which the solve ends");
  }
  void validate() const;
};

class ProxNewton : public RegisteredSolver<ProxNewton, ProxNewtonOptions, NewtonSolver> {
 public:
  static constexpr std::string_view kName = "prox-newton";
  static constexpr SolverTraits kTraits{};
  explicit ProxNewton(const Options& options) : RegisteredSolver(options) {}

  void prepare_island(ReducedProblem problem, Vector mu) override;

 protected:
  Iteration start(std::span<double> r, const StopTest& stop) override;
  Iteration iterate(std::span<double> r) override;
  LoopEnd settle(std::span<double> r) override;

 private:
  ProximalNewton proximal_;
};

}  // namespace signorini
