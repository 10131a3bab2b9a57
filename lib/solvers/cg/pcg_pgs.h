#pragma once

#include <string_view>
#include <vector>

#include "solvers/cg/projected_cg.h"
#include "solvers/delassus_solver.h"
#include "solvers/dense_pattern.h"
#include "solvers/registered_solver.h"
#include "solvers/relaxation/paper_rules.h"

/// `pcg-pgs`: the combined method of Lazarevych 2010 section 4.
///
///     projected CG until any of tol_cg, (eps_cg, delta_cg), 2n iterations   → its best iterate
///     projected Gauss–Seidel from there                                     → the best of both phases
///
/// The CG phase is the robust form unless asked otherwise.
namespace signorini {

struct PcgPgsOptions {
  CommonOptions common;
  CgBeta beta = CgBeta::pr;
  CgForm form = CgForm::robust;
  double tol_cg = 1e-2;
  KernelOptions kernel;
  StopKind stop = StopKind::residual;
  PaperThresholds cg{1e-6, 1e-2, 0.0, 0.0};
  PaperThresholds gs;
  int n_max = 100;

  template <class Visitor>
  void visit(Visitor& v) {
    common.visit(v);
    v("beta", beta, "conjugate direction: Fletcher-Reeves (eq. 17) or Polak-Ribiere (eq. 18)");
    v("form", form, "CG phase: robust, true residual only, or Algorithm 2 as printed");
    v("tol_cg", tol_cg,
      "residual at which Gauss-Seidel takes over; 0 leaves it to the paper's rules or 2n iterations");
    kernel.visit(v);
    v("stop", stop,
      "residual: the common rule; paper: the rules below end both phases, n_max sweeps the second");
    cg.visit(v, "_cg", "CG");
    gs.visit(v, "_gs", "Gauss-Seidel");
    v("n_max", n_max, "stop = paper: Gauss-Seidel sweeps at most");
  }
  void validate() const;
};

class PcgPgs : public RegisteredSolver<PcgPgs, PcgPgsOptions, DelassusSolver> {
 public:
  static constexpr std::string_view kName = "pcg-pgs";
  static constexpr SolverTraits kTraits{.phases = {"cg", "gs"}};
  explicit PcgPgs(const Options& options) : RegisteredSolver(options) {}

  std::string island_refusal(Index contacts) const override { return options_.kernel.refusal(contacts); }
  void prepare_island(ReducedProblem problem, Vector mu) override;

 protected:
  Iteration start(std::span<double> r, const StopTest& stop) override;
  Iteration iterate(std::span<double> r) override;
  LoopEnd settle(std::span<double> r) override;
  bool ends_by_residual() const override { return !sweeping_ || !gs_rules_.active(); }
  MeasureSchedule::Tells estimates_tell() const override { return MeasureSchedule::Tells::last; }
  std::size_t phase() const override { return sweeping_ ? 1 : 0; }
  IterationProgress progress() override;

 private:
  void begin_sweeps(std::span<double> r);
  Iteration sweep(std::span<double> r);

  ProjectedCg cg_;
  PaperRules cg_rules_, gs_rules_;
  std::vector<double> previous_;  ///< 3m: r before the last sweep
  double handing_on_ = -1.0;      ///< m/s: error at which sweeps take over; negative: never
  bool sweeping_ = false, hand_on_ = false, rule_met_ = false;
  int left_ = 0;  ///< iterations of the phase
};

}  // namespace signorini
