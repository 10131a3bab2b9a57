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
///     1. projected CG until residual tol_cg, 2n iterations (n = 3m), or eps_cg, delta_cg: its best iterate
///     2. projected Gauss–Seidel from there: the best iterate of both phases
///
/// The first phase is the robust form of projected_cg.h with Polak–Ribière directions, the second the sweep
/// of gauss_seidel.h, with eq. 7 as printed where `tangent = componentwise`.
namespace signorini {

struct PcgPgsOptions {
  CommonOptions common;
  double tol_cg = 1e-2;
  TangentChoice tangent = TangentChoice::automatic;
  KernelOptions kernel;
  StopKind stop = StopKind::residual;
  PaperThresholds cg{1e-6, 1e-2};
  PaperThresholds gs;
  int n_max = 100;

  template <class Visitor>
  void visit(Visitor& v) {
    common.visit(v);
    v("tol_cg", tol_cg,
      "residual at which Gauss-Seidel follows conjugate gradients; 0: after 2n iterations, or by eps_cg and "
      "delta_cg");
    v("tangent", tangent, fmt::format("Gauss-Seidel's {}", kTangentChoiceHelp));
    kernel.visit(v);
    v("stop", stop,
      "residual: the asked residual; paper: eps_cg, delta_cg end the first phase, eps_gs, delta_gs or n_max "
      "sweeps the second");
    cg.visit(v, "_cg", "CG");
    gs.visit(v, "_gs", "Gauss-Seidel");
    v("n_max", n_max, "stop = paper: Gauss-Seidel sweeps at most");
  }
  void validate() const;
};

class PcgPgs : public RegisteredSolver<PcgPgs, PcgPgsOptions, DelassusSolver> {
 public:
  static constexpr std::string_view kName = "pcg-pgs";
  static constexpr SolverTraits kTraits{.parallel = true, .phases = {"cg", "gs"}};
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
