#pragma once

#include <string_view>

#include "solvers/cg/projected_cg.h"
#include "solvers/delassus_solver.h"
#include "solvers/dense_pattern.h"
#include "solvers/registered_solver.h"
#include "solvers/relaxation/paper_rules.h"

/// `pcg`: the projected conjugate gradient method of Lazarevych 2010 (Algorithm 2, corrected) on u = W r + q;
/// projected_cg.h has the iteration and its three forms.
///
/// Where W of a file is not symmetric there is no energy to descend and conjugacy is lost, but g and the
/// error are always the true ones, so such problems are not refused. How much asymmetry `pcg` tolerates:
/// docs/notes/measurements.md.
namespace signorini {

struct PcgOptions {
  CommonOptions common;
  CgBeta beta = CgBeta::pr;
  CgForm form = CgForm::robust;
  ContactBlockOptions blocks;
  KernelOptions kernel;
  StopKind stop = StopKind::residual;
  PaperThresholds paper;

  template <class Visitor>
  void visit(Visitor& v) {
    common.visit(v);
    v("beta", beta, "conjugate directions by Fletcher-Reeves (fr, eq. 17) or Polak-Ribiere (pr, eq. 18)");
    v("form", form,
      "robust: all corrections (C12 to C18 of docs/theory.md); true: C12 to C15 only, true residual and "
      "exact step length; printed: Algorithm 2 as printed");
    blocks.visit(v);
    kernel.visit(v);
    v("stop", stop,
      "residual: the asked residual; paper: any one of eps, delta, or 2n iterations (n = 3 contacts)");
    paper.visit(v);
  }
  void validate() const;
};

class Pcg : public RegisteredSolver<Pcg, PcgOptions, DelassusSolver> {
 public:
  static constexpr std::string_view kName = "pcg";
  static constexpr SolverTraits kTraits{.parallel = true};
  explicit Pcg(const Options& options) : RegisteredSolver(options) {}

  std::string island_refusal(Index contacts) const override { return options_.kernel.refusal(contacts); }
  void prepare_island(ReducedProblem problem, Vector mu) override;

 protected:
  Iteration start(std::span<double> r, const StopTest& stop) override;
  Iteration iterate(std::span<double> r) override;
  LoopEnd settle(std::span<double> r) override;
  IterationProgress progress() override;

 private:
  ProjectedCg cg_;
  PaperRules rules_;
  int left_ = 0;  ///< iterations that the paper's rule allows
};

}  // namespace signorini
