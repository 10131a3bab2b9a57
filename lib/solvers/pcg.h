#pragma once

#include <memory>

#include "solvers/dense_pattern.h"
#include "solvers/projected_cg.h"
#include "solvers/reduced_solver.h"

/// `pcg`: the projected conjugate gradient method of Lazarevych 2010 (Algorithm 2, corrected) on its own;
/// projected_cg.h has the iteration and its three forms.
///
/// An unsymmetric W of a recorded problem has no energy to descend, and conjugacy is lost, but g and the
/// error are always the true ones, so such problems are not refused. How much asymmetry it takes:
/// docs/notes/measurements.md.
namespace signorini {

class Pcg : public ReducedSolver {
 public:
  static constexpr std::string_view kName = "pcg";
  struct Options {
    CommonOptions common;
    CgBeta beta = CgBeta::pr;
    CgForm form = CgForm::robust;
    double powell = 0.0;
    KernelOptions kernel;
    StopKind stop = StopKind::residual;
    PaperThresholds paper;

    template <class Visitor>
    void visit(Visitor& v) {
      common.visit(v);
      v("beta", beta, "conjugate direction: Fletcher-Reeves (eq. 17) or Polak-Ribiere (eq. 18)");
      v("form", form,
        "robust: with all corrections; true: true residual and step length only; printed: Algorithm 2 as it "
        "stands");
      v("powell", powell,
        "robust form: restart when successive gradients are this far from conjugate (0.2 is Powell's choice "
        "and "
        "mends Fletcher-Reeves); 0: never");
      kernel.visit(v);
      v("stop", stop,
        "residual: the common rule; paper: any one of eps, delta, eps_inf, delta_inf, or 2n iterations (n = "
        "3 contacts)");
      paper.visit(v);
    }
    void validate() const;
  };

  explicit Pcg(const Options& options);
  ~Pcg() override;

  std::string_view name() const override { return kName; }
  std::string options() const override { return options_text(options_); }
  const CommonOptions& common() const override { return options_.common; }
  std::string unsupported_reason(const ContactProblem& problem) const override;
  std::unique_ptr<ReducedSolver> fresh() const override { return std::make_unique<Pcg>(options_); }
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
