#pragma once

#include <array>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "solvers/dense_pattern.h"
#include "solvers/registered_solver.h"
#include "solvers/relaxation/paper_rules.h"
#include "solvers/relaxation/sweeping_solver.h"

/// `pgs`: projected Gauss–Seidel on u = W r + q (Lazarevych 2010 eqs. 6, 7, 14, 15).
///
/// One iteration is one sweep over the contacts (gauss_seidel.h), or two where `order = symmetric`. Departures from the paper (docs/theory.md):
/// the projection acts inside the sweep (C08), and the cone takes one scalar tangential step 1/λ_max(W_TT)
/// (C09). Both printed rules stay selectable (`form = printed`, `tangent = componentwise`) for comparison;
/// their fixed points are no solutions.
namespace signorini {

enum class PgsForm { robust, printed };
template <>
struct EnumNames<PgsForm> {
  static constexpr std::array<std::pair<PgsForm, std::string_view>, 2> value{
      {{PgsForm::robust, "robust"}, {PgsForm::printed, "printed"}}};
};

struct PgsOptions {
  CommonOptions common;
  PgsForm form = PgsForm::robust;
  TangentChoice tangent = TangentChoice::automatic;
  SweepOrder order = SweepOrder::natural;
  SweepMatrix matrix = SweepMatrix::delassus;
  KernelOptions kernel;
  StopKind stop = StopKind::residual;
  PaperThresholds paper;
  int n_max = 100;

  template <class Visitor>
  void visit(Visitor& v) {
    common.visit(v);
    v("form", form,
      "robust: project every contact inside the sweep; printed: one full forward substitution, then one "
      "projection of the whole vector (eqs. 14, 15)");
    v("tangent", tangent, kTangentChoiceHelp);
    v("order", order, kSweepOrderHelp);
    v("matrix", matrix, kSweepMatrixHelp);
    kernel.visit(v);
    v("stop", stop, "residual: the asked residual; paper: any one of eps, delta, or n_max sweeps");
    paper.visit(v);
    v("n_max", n_max, "stop = paper: sweeps at most");
  }
  void validate() const;
};

class Pgs : public RegisteredSolver<Pgs, PgsOptions, SweepingSolver> {
 public:
  static constexpr std::string_view kName = "pgs";
  static constexpr SolverTraits kTraits{.parallel = true};
  explicit Pgs(const Options& options) : RegisteredSolver(options) {}

  std::string island_refusal(Index contacts) const override;
  void prepare_island(ReducedProblem problem, Vector mu) override;

 protected:
  SweepMatrix matrix() const override { return options_.matrix; }
  void prepare_bodies(const ContactProblem& problem) override;
  Iteration start(std::span<double> r, const StopTest& stop) override;
  Iteration iterate(std::span<double> r) override;
  LoopEnd settle(std::span<double> r) override;
  bool ends_by_residual() const override { return !rules_.active(); }
  MeasureSchedule::Tells estimates_tell() const override { return MeasureSchedule::Tells::last; }

 private:
  PaperRules rules_;
  bool rule_met_ = false;
  int sweeps_ = 0;
  std::vector<double> previous_;  ///< 3m: r before the last sweep
};

}  // namespace signorini
