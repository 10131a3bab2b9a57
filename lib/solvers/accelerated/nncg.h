#pragma once

#include <span>
#include <string_view>
#include <utility>

#include "solvers/accelerated/nncg_sweeps.h"
#include "solvers/registered_solver.h"
#include "solvers/relaxation/sweeping_solver.h"

/// `nncg`: nonsmooth nonlinear conjugate gradients (Silcowitz, Niebe and Erleben 2010, Algorithm 2) on
/// u = W r + q.
///
/// A sweep of projected Gauss–Seidel r → y = G(r) (gauss_seidel.h) has the role of the gradient step of a
/// nonlinear conjugate gradient method by Fletcher and Reeves. d: 3m, N·s; d ← d of the sweep before:
///
///     y = G(r),  d = y − r,  β = |d|²/|d_old|²
///     β ≤ 1:  r ← y + β p,  p ← β p + d
///     β > 1:  r ← y,        p ← 0                  restart
///
/// y, which fulfils the contact law's bounds, is the iterate that is judged and returned.
///
/// Departures (`form = printed` has none of them):
/// - |d|² = Σ (d_N²/ρ_N + d_T²/ρ_T), ρ the steps of the sweep, as in preconditioned conjugate gradients, instead
///   of Σ d²: β does not depend on which contacts are heavy.
/// - A restart where d·p < 0 in this metric: the last step went too far along p (O'Donoghue and Candès 2015 restart
///   Nesterov's method so). Where plain sweeps converge fast, the printed rule overshoots.
/// - On the other hand |d|² may grow by half (`restart_above`), with β = 1: while contacts slide towards their
///   next change of state, d hardly changes and may grow slowly, and the printed rule restarts in every sweep.
/// - Where |d| makes no progress, plain sweeps follow (stall_guard.h): nothing else bounds y + β p.
///
/// An iteration costs one sweep, which records d, |d|² and d·p, and one pass over r, p and d.
namespace signorini {

struct NncgOptions {
  CommonOptions common;
  NncgForm form = NncgForm::robust;
  double restart_above = 1.5;
  SweepOrder order = SweepOrder::natural;
  SweepMatrix matrix = SweepMatrix::delassus;

  template <class Visitor>
  void visit(Visitor& v) {
    common.visit(v);
    v("form", form,
      "robust: beta in the metric of the sweep's steps, restarts where a sweep goes back along the "
      "direction, plain sweeps where nothing is gained; printed: Algorithm 2 as printed");
    v("restart_above", restart_above,
      "directions are given up where |d|^2 of a sweep is more than this times the last one (printed: at most "
      "1); 0: always, which leaves plain sweeps");
    v("order", order, kSweepOrderHelp);
    v("matrix", matrix, kSweepMatrixHelp);
  }
  void validate() const;
};

class Nncg : public RegisteredSolver<Nncg, NncgOptions, SweepingSolver> {
 public:
  static constexpr std::string_view kName = "nncg";
  static constexpr SolverTraits kTraits{.parallel = true};
  explicit Nncg(const Options& options) : RegisteredSolver(options) {}

  void prepare_island(ReducedProblem problem, Vector mu) override;

 protected:
  SweepMatrix matrix() const override { return options_.matrix; }
  void prepare_bodies(const ContactProblem& problem) override;
  Iteration start(std::span<double> r, const StopTest& stop) override;
  Iteration iterate(std::span<double> r) override;
  MeasureSchedule::Tells estimates_tell() const override { return MeasureSchedule::Tells::last; }

 private:
  NncgSweeps sweeps_;
};

}  // namespace signorini
