#pragma once

#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "solvers/active_set/active_set_solver.h"
#include "solvers/registered_solver.h"

/// `cr-full`, `cr-diag`: conjugate residuals on velocities and impulses together, contacts switching their
/// states before convergence (Verschoor and Jalba 2019, section 3, Algorithms 1–3; the codes C38 to C41, T09,
/// T14 and T15 are corrections and pitfalls in docs/theory.md).
///
/// The recurrence: krylov/conjugate_residuals.h. The system, its preconditioners Diag and Full and what a change
/// of states costs: saddle_system.h. The states: active_set.h. When they are evaluated: active_set_solver.h.
///
/// `blocks` inverts S of the preconditioner in subdomains of contacts (additive Schwarz) in place of its diagonal.
///
/// The paper's rule for states is `prediction = single`; by default contacts of the same nodes are predicted
/// together (active_set.h).
///
/// Where the error has not halved within `patience` iterations, the bounds of friction are held and move only
/// when the problem with these bounds is solved, and its rows are regularised; `bounds = adaptive` moves them on a
/// rougher solution. Where the error no longer improves at all, Diag replaces Full (T09). What these options and
/// the interval are worth was measured: docs/notes/measurements.md.
///
/// Inside, the system and the gates of the states work to `inner` times the asked tolerance, and tighter
/// wherever the true residual turns out to be larger than asked (T14, T15). Converged means the error of r
/// itself, by `judge`.
///
/// `stop = paper` ends by the paper's own test instead (thresholds.h; Algorithm 1 lines 22–25), with the last
/// iterate and whatever residual was asked for. `least_squares` adds the second test of line 22, for
/// over-constrained systems: ‖K P⁻¹ ρ‖ < ε₁ in the same norm in the place of ‖ρ‖ (C41).
namespace signorini {

inline constexpr std::string_view kPredictionHelp =
    "rule for the states of contacts. coupled: predicted together, by projected Gauss-Seidel with the node "
    "blocks of M; single: each contact by itself (Verschoor and Jalba 2019, Algorithm 2)";
inline constexpr std::string_view kPatienceHelp =
    "iterations without halving the error after which friction bounds are held, and move only where the "
    "problem with these bounds is solved; 0: never; negative: 600 with prediction = coupled, 120 with single";

struct CrOptions {
  CommonOptions common;
  StatePrediction prediction = StatePrediction::coupled;
  StateInterval interval = StateInterval::automatic;
  SlideDirection direction = SlideDirection::automatic;
  int average = 2;
  double angle = 1.2;
  double turn = 0.01;
  StateForm gates = StateForm::corrected;
  StateForm slip_test = StateForm::corrected;
  bool gate = true;
  bool breakdown_guard = true;
  bool duplicates = true;
  double inner = 0.2;  ///< no option: tolerance of the system and of the states over the asked residual
  double postpone = 0.8;
  int patience = -1;
  HeldBounds bounds = HeldBounds::automatic;
  ContactBlockOptions blocks_of_contacts;  ///< of the preconditioner
  Judge judge = Judge::exact;
  EndsBy stop = EndsBy::residual;
  Thresholds thresholds;
  bool least_squares = false;

  template <class Visitor>
  void visit(Visitor& v) {
    common.visit(v);
    v("prediction", prediction, kPredictionHelp);
    v("interval", interval,
      "iterations between evaluations of the states, x the residual over its tolerance: 1 (every), "
      "log2(x)/3, log10(x)^2/3, ln(x)^2/3; 1 (Full) or 4 (Diag) after a change and two more after each "
      "evaluation without one (growing); or only where the linear system is solved (converged); auto: "
      "growing with prediction = coupled, log2 with single");
    v("direction", direction,
      "direction of sliding. prox: projected in the metric of the contact; newton: also turned by the "
      "linear system, as an unknown; paper: turned by `turn` of the way where it is off by more than "
      "`angle`; auto: newton with prediction = coupled, prox with single");
    v("average", average,
      "normal impulses in the moving average that bounds sliding friction (eq. 19), 1 to 8");
    v("angle", angle, "direction = paper: degrees within which the direction is kept");
    v("turn", turn, "direction = paper: share of the way to the new direction");
    v("gates", gates,
      "corrected: a contact changes state where its own condition is violated by more than the tolerance; "
      "printed: where its impulse would change by more (Algorithm 2, line 19; Algorithm 3), so that no "
      "contact ever closes or sticks again (C34, C35)");
    v("slip_test", slip_test,
      "corrected: a sticking contact slides where friction exceeds its bound and opposes the slip; printed: "
      "with the sign of eq. 16, which is wrong for physical impulses (C31)");
    v("postpone", postpone,
      "before convergence, changes of state smaller than this times the residual of the system wait; 0: "
      "none waits");
    v("patience", patience, kPatienceHelp);
    v("bounds", bounds,
      "held friction bounds move once the problem with these bounds is solved: to 1e-4 of their error "
      "(tight), or less accurately after 80 iterations without a move (adaptive); auto: adaptive with "
      "prediction = coupled, tight with single");
    blocks_of_contacts.visit(v);
    v("judge", judge, kJudgeHelp);
    v("stop", stop, kEndsByHelp);
    thresholds.visit(v, kEps1Help, kEps2Help);
    v("least_squares", least_squares,
      "stop = paper: true: or the 2-norm of K P^-1 rho is below eps1, as where the active rows contradict "
      "each "
      "other (Algorithm 1, line 22, second test)");
    v("gate", gate, "true: evaluate states only after steps with alpha > 0 (C39); false: also after others");
    v("breakdown_guard", breakdown_guard,
      "true: mend vanishing inner products by a minimising step (C38); false: divide by them, as printed");
  }
  void validate(std::string_view solver) const;
  /// What `auto` stands for.
  CrOptions resolved() const;
};

/// With defaults for the diagonal preconditioner.
struct CrDiagOptions : CrOptions {
  CrDiagOptions() {
    inner = 0.3;
    postpone = 1.0;
  }
  void validate() const { CrOptions::validate("solver 'cr-diag'"); }
};

struct CrFullOptions : CrOptions {
  template <class Visitor>
  void visit(Visitor& v) {
    CrOptions::visit(v);
    v("duplicates", duplicates,
      "scale S by the number of contacts at the same place (Z, section 3.4.1); blocks = 0");
  }
  void validate() const { CrOptions::validate("solver 'cr-full'"); }
};

class SwitchingResiduals : public ActiveSetSolver {
 public:
  /// `full`: the block preconditioner.
  SwitchingResiduals(const CrOptions& options, bool full, std::unique_ptr<KrylovMethod> method);
  std::string unsupported_reason(const ContactProblem& problem) const override;
  void prepare(const ContactProblem& problem) override;

 protected:
  Iteration start(std::span<double> r, const StopTest& stop) override;
  bool ends_by_residual() const override { return !paper_; }
  bool keeps_best() const override { return !paper_; }
  void begin_iterations() override;
  bool solved() override;
  LoopEnd when_solved() override;
  bool lose_patience() override;
  StateInterval interval() const override;
  double state_tolerance() const override { return inner_; }

 private:
  double accuracy() const { return std::max(inner_, saddle_.states.held_accuracy()); }
  bool solved_by_paper();
  void watch_bounds();

  CrOptions cr_;
  bool wants_full_;
  double dt_ = 0.0;  ///< s; 0: unknown

  // of one solve
  bool paper_ = false;     ///< the paper's own rule ends the run
  double smallest_ = 0.0;  ///< of `inner_`, m/s
  double inner_ = 0.0;     ///< tolerance of the linear system and of the gates, m/s
  int longest_idle_ = 0;   ///< iterations without a lower estimate after which Diag replaces Full
  double improved_ = 0.0;  ///< least estimate, m/s
  int improved_at_ = 0;    ///< iteration
  Halving error_;
  long long bound_moves_ = 0;  ///< of held bounds
  int moved_at_ = 0;           ///< iteration of the last one, or of asking for less
};

class CrFull : public RegisteredSolver<CrFull, CrFullOptions, SwitchingResiduals> {
 public:
  static constexpr std::string_view kName = "cr-full";
  static constexpr SolverTraits kTraits{.needs = SolverNeeds::mass, .parallel = true};
  explicit CrFull(const Options& options);
};

class CrDiag : public RegisteredSolver<CrDiag, CrDiagOptions, SwitchingResiduals> {
 public:
  static constexpr std::string_view kName = "cr-diag";
  static constexpr SolverTraits kTraits{.needs = SolverNeeds::mass, .parallel = true};
  explicit CrDiag(const Options& options);
};

}  // namespace signorini
