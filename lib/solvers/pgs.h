#pragma once

#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "solvers/dense_pattern.h"
#include "solvers/paper_rules.h"
#include "solvers/reduced_solver.h"

/// `pgs`: projected Gauss–Seidel on u = W r + q (Lazarevych 2010 eqs. 6, 7, 14, 15).
///
/// W is assembled in `prepare`; the sweep is in gauss_seidel.h, the loop in sweep_loop.h. Departures from the
/// paper (docs/theory.md): the projection acts inside the sweep (C08), and the cone takes one scalar
/// tangential step 1/λ_max(W_TT) (C09). Both printed rules stay selectable (`form = printed`, `tangent =
/// componentwise`) for comparison; their fixed points are no solutions.
namespace signorini {

enum class PgsForm { robust, printed };
template <>
struct EnumNames<PgsForm> {
  static constexpr std::array<std::pair<PgsForm, std::string_view>, 2> value{
      {{PgsForm::robust, "robust"}, {PgsForm::printed, "printed"}}};
};

enum class PgsTangent { automatic, scalar, componentwise };
template <>
struct EnumNames<PgsTangent> {
  static constexpr std::array<std::pair<PgsTangent, std::string_view>, 3> value{
      {{PgsTangent::automatic, "auto"},
       {PgsTangent::scalar, "scalar"},
       {PgsTangent::componentwise, "componentwise"}}};
};

class Pgs : public ReducedSolver {
 public:
  static constexpr std::string_view kName = "pgs";
  struct Options {
    CommonOptions common;
    PgsForm form = PgsForm::robust;
    PgsTangent tangent = PgsTangent::automatic;
    KernelOptions kernel;
    StopKind stop = StopKind::residual;
    PaperThresholds paper;
    int n_max = 100;

    template <class Visitor>
    void visit(Visitor& v) {
      common.visit(v);
      v("form", form,
        "robust: project every contact inside the sweep; printed: one full forward solve, then one "
        "projection of the whole vector");
      v("tangent", tangent,
        "tangential step: one scalar 1/lambda_max(W_TT), or 1/W_jj per component; auto: scalar for the cone, "
        "componentwise for the pyramid");
      kernel.visit(v);
      v("stop", stop,
        "residual: the common rule; paper: any one of eps, delta, eps_inf, delta_inf, or n_max sweeps");
      paper.visit(v);
      v("n_max", n_max, "stop = paper: sweeps at most");
    }
    void validate() const;
  };

  explicit Pgs(const Options& options);
  ~Pgs() override;

  std::string_view name() const override { return kName; }
  std::string options() const override { return options_text(options_); }
  const CommonOptions& common() const override { return options_.common; }
  std::string unsupported_reason(const ContactProblem& problem) const override;
  std::unique_ptr<ReducedSolver> fresh() const override { return std::make_unique<Pgs>(options_); }
  std::string island_refusal(Index contacts) const override;
  void prepare(const ContactProblem& problem) override;
  void prepare_island(ReducedProblem problem, Vector mu) override;
  SolveReport solve(std::span<double> r, const StopRule& stop, IterationObserver* observer) override;

 private:
  struct Impl;
  Options options_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace signorini
