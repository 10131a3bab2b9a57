#pragma once

#include <memory>

#include "solvers/dense_pattern.h"
#include "solvers/projected_cg.h"
#include "solvers/reduced_solver.h"

/// `pcg-pgs`: the combined method of Lazarevych 2010 section 4.
///
///     projected CG until any of tol_cg, (eps_cg, delta_cg), 2n iterations   → its best iterate
///     projected Gauss–Seidel from there                                     → the best of both phases
///
/// The CG phase is the robust form unless asked otherwise. `SolveReport::first_phase` tells its share of the
/// iterations, the observer's phases are "cg" and "gs".
namespace signorini {

class PcgPgs : public ReducedSolver {
 public:
  static constexpr std::string_view kName = "pcg-pgs";
  struct Options {
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

  explicit PcgPgs(const Options& options);
  ~PcgPgs() override;

  std::string_view name() const override { return kName; }
  std::string options() const override { return options_text(options_); }
  const CommonOptions& common() const override { return options_.common; }
  std::string unsupported_reason(const ContactProblem& problem) const override;
  std::unique_ptr<ReducedSolver> fresh() const override { return std::make_unique<PcgPgs>(options_); }
  void prepare(const ContactProblem& problem) override;
  std::string island_refusal(Index contacts) const override;
  void prepare_island(ReducedProblem problem, Vector mu) override;
  SolveReport solve(std::span<double> r, const StopRule& stop, IterationObserver* observer) override;

 private:
  struct Impl;
  Options options_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace signorini
