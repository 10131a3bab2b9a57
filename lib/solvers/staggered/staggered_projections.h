#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "krylov/minimal_residuals.h"
#include "solvers/active_set/active_set_solver.h"
#include "solvers/registered_solver.h"

/// `sp-active-set`, `sp-cr`: staggered projections (Kaufman et al. 2008 as run by Verschoor and Jalba 2019,
/// section 6.2.3). A pass is two projections in the metric of M, in turn until their answers agree:
///
///     normal:    r_T held,  u_N ≥ 0   ⊥  r_N ≥ 0
///     friction:  r_N held,  r_T in the box |r_Tj| ≤ b or the disc ‖r_T‖ ≤ b,  b = μ r_N  [N·s],
///                and −u_T normal to it at r_T
///
/// Both minimise ½ vᵀ M v − vᵀ(f + H r_held), and both are the system of active_set/saddle_system.h with the
/// normals or the tangents as unknowns, solved by the same conjugate residuals, active set and preconditioner
/// (Diag) as `cr-diag`. `sp-active-set` changes states only where the linear system is solved, by block
/// pivoting (active_set.h), `sp-cr` also before. Velocities, impulses and states are kept from pass to pass.
/// An iteration is one Krylov iteration of either problem; passes are the counter `relinearisations`. `qp =
/// minres` takes MINRES instead (section 7).
///
/// `preconditioner = full` takes the block preconditioner of `cr-full` with the rows of the projection at hand,
/// normals or tangents: the "modified version of our Full preconditioner" that section 6.2.3 calls not
/// successful. Diag takes over for the rest of a solve once CR has broken down three times with it. MINRES cannot use
/// it as it is: `lanczos` names two ways (krylov/minimal_residuals.h).
///
/// Departures. A projection is solved to `forcing` times the error at its start, never below a tenth of the
/// asked residual; forcing = 0 is as published. The first iteration of a projection meets a residual (0;
/// u_L), for which CR breaks down (docs/theory.md, C38), and is a minimising step. The published method knows
/// the pyramid only; with the cone r_T lies in discs of fixed radius, and sliding impulses turn by Newton's
/// method (active_set.h, `newton`). Rows are regularised once a linear system converges slowly: redundant
/// contacts then have a solution.
///
/// `stop = paper`: both projections end by thresholds.h on their own rows, or by `forcing`; the solve ends where the
/// whole problem meets the thresholds after a pass, or where a pass has nothing to do, with its last iterate.
///
/// The fixed-point iteration r_N ↦ r_T ↦ r_N need not converge: it may oscillate (section 6.2.3: high impact,
/// large Δt). Where the error has not improved by 1 % for 40 passes, the bounds move by half as much as
/// before (`relax`), down to 1/8; then the solve ends `stalled` with the best iterate.
namespace signorini {

/// What solves the linear systems.
enum class QpMethod : std::uint8_t { cr, minres };
template <>
struct EnumNames<QpMethod> {
  static constexpr std::array<std::pair<QpMethod, std::string_view>, 2> value{
      {{QpMethod::cr, "cr"}, {QpMethod::minres, "minres"}}};
};

/// Of both projections: Diag or Full of saddle_system.h.
enum class SpPreconditioner : std::uint8_t { diag, full };
template <>
struct EnumNames<SpPreconditioner> {
  static constexpr std::array<std::pair<SpPreconditioner, std::string_view>, 2> value{
      {{SpPreconditioner::diag, "diag"}, {SpPreconditioner::full, "full"}}};
};

struct StaggeredOptions {
  CommonOptions common;
  StatePrediction prediction = StatePrediction::single;
  double forcing = 0.1;
  bool relax = true;
  Judge judge = Judge::exact;
  QpMethod qp = QpMethod::cr;
  SpPreconditioner preconditioner = SpPreconditioner::diag;
  LanczosMetric lanczos = LanczosMetric::definite;
  EndsBy stop = EndsBy::residual;
  Thresholds thresholds;

  template <class Visitor>
  void visit(Visitor& v) {
    common.visit(v);
    v("prediction", prediction,
      "rule for the states of contacts. coupled: predicted together, by projected Gauss-Seidel with the node "
      "blocks of M; single: each contact by itself");
    v("forcing", forcing,
      "tolerance of a projection relative to the error at its start; 0: every projection to a tenth of the "
      "asked residual, as published");
    v("relax", relax,
      "true: where staggering oscillates, friction bounds move half of the way, then a quarter, an eighth; "
      "false: as published");
    v("judge", judge, kJudgeHelp);
    v("qp", qp, "Krylov method of both projections: conjugate residuals (cr) or MINRES");
    v("preconditioner", preconditioner,
      "of both projections. diag: that of cr-diag; full: that of cr-full with the rows of the projection; "
      "with qp = minres it needs lanczos");
    v("lanczos", lanczos,
      "qp = minres with preconditioner = full, which is indefinite. definite: refused; signed: the Lanczos "
      "process in the indefinite metric (simplified QMR); magnitude: signs of the metric ignored");
    v("stop", stop, kEndsByHelp);
    thresholds.visit(v, kEps1Help, kEps2Help);
  }
  void validate(std::string_view solver) const;
};

struct SpActiveSetOptions : StaggeredOptions {
  void validate() const { StaggeredOptions::validate("solver 'sp-active-set'"); }
};
struct SpCrOptions : StaggeredOptions {
  SpCrOptions() { prediction = StatePrediction::coupled; }
  void validate() const { StaggeredOptions::validate("solver 'sp-cr'"); }
};

class StaggeredProjections : public ActiveSetSolver {
 public:
  StaggeredProjections(const StaggeredOptions& options, StateInterval interval);
  std::string unsupported_reason(const ContactProblem& problem) const override;
  void prepare(const ContactProblem& problem) override;

 protected:
  Iteration start(std::span<double> r, const StopTest& stop) override;
  Iteration iterate(std::span<double> r) override;
  void begin_iterations() override { enter(Unknowns::normals); }
  bool ends_by_residual() const override { return !paper_; }
  bool keeps_best() const override { return !paper_; }
  bool solved() override;
  LoopEnd when_solved() override;
  bool lose_patience() override;
  StateInterval interval() const override { return interval_; }
  double state_tolerance() const override { return tolerance_; }
  std::size_t phase() const override { return unknowns_ == Unknowns::normals ? 0 : 1; }

 private:
  bool full() const { return sp_.preconditioner == SpPreconditioner::full; }
  double accuracy() const { return std::max(tolerance_, saddle_.states.held_accuracy()); }
  void enter(Unknowns unknowns);
  LoopEnd leave();
  LoopEnd finish_pass();
  LoopEnd finish_pass_by_paper();

  StaggeredOptions sp_;
  StateInterval interval_;
  std::vector<double> at_hand_;  ///< 3m: feasible impulses between iterations

  double dt_ = 0.0;  ///< s; 0: unknown

  // of one solve
  bool paper_ = false;  ///< the paper's own rule ends the run
  Unknowns unknowns_ = Unknowns::normals;
  double asked_ = 0.0, smallest_ = 0.0, inner_ = 0.0, tolerance_ = 0.0;  ///< m/s
  double forcing_ = 0.0, relaxation_ = 1.0;
  double error_ = 0.0;   ///< of the impulses at hand, m/s
  bool moved_ = false;   ///< a projection of this pass changed anything
  int evaluations_ = 0;  ///< of solved systems in this projection
  double least_ = 0.0;   ///< residual of this projection, m/s
  int lowered_at_ = 0;   ///< iteration
  int patience_ = 0;     ///< iterations of a projection without a lower residual
  bool given_up_ = false;
  double least_error_ = 0.0;  ///< m/s
  int improved_at_ = 0;       ///< pass
  int passes_ = 0;
};

class SpActiveSet : public RegisteredSolver<SpActiveSet, SpActiveSetOptions, StaggeredProjections> {
 public:
  static constexpr std::string_view kName = "sp-active-set";
  static constexpr SolverTraits kTraits{
      .needs = SolverNeeds::mass, .parallel = true, .phases = {"normal", "friction"}};
  explicit SpActiveSet(const Options& options)
      : RegisteredSolver(options, options, StateInterval::converged) {}
};

class SpCr : public RegisteredSolver<SpCr, SpCrOptions, StaggeredProjections> {
 public:
  static constexpr std::string_view kName = "sp-cr";
  static constexpr SolverTraits kTraits{
      .needs = SolverNeeds::mass, .parallel = true, .phases = {"normal", "friction"}};
  explicit SpCr(const Options& options)
      : RegisteredSolver(
            options, options,
            options.prediction == StatePrediction::coupled ? StateInterval::growing : StateInterval::log2) {}
};

}  // namespace signorini
