#pragma once

#include <memory>
#include <string_view>

#include "solvers/primal_system.h"
#include "solvers/solver.h"
#include "solvers/staggered_qp.h"

/// `sp-active-set`, `sp-cr`: staggered projections (Kaufman et al. 2008 as run by Verschoor and Jalba 2019,
/// section 6.2.3).
///
/// A pass is two projections in the metric of M, solved one after the other until their answers agree:
///
///     normal QP with r_T held;   friction QP with r_N, and so the bounds μ r_N, held      (staggered_qp.h)
///
/// by conjugate residuals with the Diag preconditioner. `sp-active-set` changes the states of rows only where
/// the linear system is solved; `sp-cr` also on the way, as `cr-diag` does: every max(1, ⌊log2(ϱ)/3⌋)
/// iterations, ϱ the residual over its tolerance, after steps with α > 0. Velocities, impulses and states are
/// kept from pass to pass. An iteration is one CR iteration of either problem; passes are the counter
/// `relinearisations`. `qp = minres` puts MINRES in the place of CR (section 7), counted the same way.
///
/// Departures. A projection is solved to `forcing` times the error at its beginning (never tighter than
/// `inner` times the asked residual) instead of to a fixed tolerance: early passes aim at bounds that are
/// still wrong. With forcing = 0 it is as published. The first iteration of a projection meets a residual
/// (0; u_L) for which CR breaks down (docs/theory.md, C38) and is one minimising step. The published method
/// knows the pyramid only, because rows that follow a sliding direction are no convex problem; here the
/// friction QP of the cone keeps r_T in discs of fixed radius, which is one, and Newton's method on the
/// circles turns it into the same linear systems.
///
/// Staggering is a fixed-point iteration of r_N ↦ r_T ↦ r_N and need not converge: it may oscillate (section
/// 6.2.3: high impact, large Δt). Where the error has not improved by 1 % for `patience` passes, the bounds
/// follow r_N by half as much as before (`relax`), down to 1/8; then the solve ends `stalled` with the best
/// iterate.
namespace signorini {

struct StaggeredOptions {
  CommonOptions common;
  double inner = 0.1;
  double forcing = 0.1;
  double postpone = 1.0;
  int passes = 0;
  int patience = 40;
  bool relax = true;
  Judge judge = Judge::exact;
  QpMethod qp = QpMethod::cr;

  template <class Visitor>
  void visit(Visitor& v) {
    common.visit(v);
    v("inner", inner, "smallest tolerance of a projection relative to the asked residual");
    v("forcing", forcing,
      "tolerance of a projection relative to the error at its beginning; 0: always the smallest");
    v("postpone", postpone,
      "changes of state on the way wait while their violation is below this times the residual of the "
      "system");
    v("passes", passes, "staggering passes at most; 0: as many as the iteration limit allows");
    v("patience", patience,
      "passes without an error 1 % smaller after which staggering counts as oscillating");
    v("relax", relax, "let the friction bounds follow the normal impulses more slowly where it oscillates");
    v("judge", judge,
      "exact: factors M while preparing and stops by the true residual; own: never factors M and stops by "
      "the error of the velocity at hand, which is too small for stiff M");
    v("qp", qp, "what solves the linear systems of both projections: conjugate residuals, or MINRES");
  }
  void validate(std::string_view solver) const;
};

enum class QpStates { at_convergence, on_the_way };

class StaggeredProjections : public Solver {
 public:
  StaggeredProjections(const StaggeredOptions& options, QpStates states);
  ~StaggeredProjections() override;

  const CommonOptions& common() const override { return options_.common; }
  std::string unsupported_reason(const ContactProblem& problem) const override;
  /// `prepare` works in parallel.
  void use_arena(TaskArena* arena) override { arena_ = arena; }
  void prepare(const ContactProblem& problem) override;
  void update_contacts(const ContactProblem& problem) override;
  SolveReport solve(std::span<double> r, const StopRule& stop, IterationObserver* observer) override;
  /// Of the last solve.
  int passes() const;

 protected:
  StaggeredOptions options_;

 private:
  struct Impl;
  QpStates states_;
  TaskArena* arena_ = nullptr;
  std::unique_ptr<Impl> impl_;
};

class SpActiveSet : public StaggeredProjections {
 public:
  static constexpr std::string_view kName = "sp-active-set";
  struct Options : StaggeredOptions {
    void validate() const { StaggeredOptions::validate("solver 'sp-active-set'"); }
  };
  explicit SpActiveSet(const Options& options) : StaggeredProjections(options, QpStates::at_convergence) {}
  std::string_view name() const override { return kName; }
  std::string options() const override { return options_text(options_); }
};

class SpCr : public StaggeredProjections {
 public:
  static constexpr std::string_view kName = "sp-cr";
  struct Options : StaggeredOptions {
    void validate() const { StaggeredOptions::validate("solver 'sp-cr'"); }
  };
  explicit SpCr(const Options& options) : StaggeredProjections(options, QpStates::on_the_way) {}
  std::string_view name() const override { return kName; }
  std::string options() const override { return options_text(options_); }
};

}  // namespace signorini
