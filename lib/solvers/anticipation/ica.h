#pragma once

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "solvers/anticipation/anticipation_step.h"
#include "solvers/mass_solver.h"
#include "solvers/registered_solver.h"
#include "solvers/thresholds.h"

/// `ica`: iterative constraint anticipation (Otaduy et al. 2009, sections 5.2–5.5, eqs. 9–14).
///
/// An outer iteration is one step of anticipation_step.h from r (3m, N·s) and the response dv = v − v₀ (n, m/s) of
/// M dv = H r, v₀ the free velocity. It reads M once and never forms W; with `judge = own` M is never factored.
///
/// Stopping. The inner problem is solved to `inner_reduction` times the outer error, or a tenth of the
/// tolerance; where M = D to the latter, because it is the whole problem then and one outer iteration is
/// enough. `stop = paper5` and `inner_stop = paper5` are the paper's own rules (section 5.5; C28): the loop
/// ends when the residuals of the normal and of the friction conditions both change by at most 5 % from one
/// iteration (sweep) to the next, and no contact is violated by more than `paper_gap`. `stop = thresholds` is that
/// of Verschoor and Jalba 2019 (thresholds.h).
///
/// `start = swept`: the sweeps over M find the free velocity as well, from v₀ = v⁻ and r = 0, until its momentum
/// meets the stop; they are iterations of the phase `free`. Later solves of the same step (`update_contacts`) go on
/// from the last velocity.
///
/// Departure (docs/theory.md, C27): the mixture of Jacobi anticipation and Gauss–Seidel refinement need not
/// converge although M is positive definite. Where the error grows to 1000 times the best, or no longer
/// improves, the solver refines by damped Jacobi from then on, D replaced by ω D with ω > λ_max(D⁻¹ M)/2: a
/// proximal gradient method, convergent for every positive definite M. `refine = jacobi` starts with it.
namespace signorini {

enum class IcaRefine { gs, jacobi };
template <>
struct EnumNames<IcaRefine> {
  static constexpr std::array<std::pair<IcaRefine, std::string_view>, 2> value{
      {{IcaRefine::gs, "gs"}, {IcaRefine::jacobi, "jacobi"}}};
};

enum class IcaStop { residual, paper5, thresholds };
template <>
struct EnumNames<IcaStop> {
  static constexpr std::array<std::pair<IcaStop, std::string_view>, 3> value{
      {{IcaStop::residual, "residual"}, {IcaStop::paper5, "paper5"}, {IcaStop::thresholds, "thresholds"}}};
};

enum class IcaInnerStop { reduction, paper5 };
template <>
struct EnumNames<IcaInnerStop> {
  static constexpr std::array<std::pair<IcaInnerStop, std::string_view>, 2> value{
      {{IcaInnerStop::reduction, "reduction"}, {IcaInnerStop::paper5, "paper5"}}};
};

enum class IcaStart { free, constrained, swept };
template <>
struct EnumNames<IcaStart> {
  static constexpr std::array<std::pair<IcaStart, std::string_view>, 3> value{
      {{IcaStart::free, "free"}, {IcaStart::constrained, "constrained"}, {IcaStart::swept, "swept"}}};
};

struct IcaOptions {
  CommonOptions common;
  IcaRefine refine = IcaRefine::gs;
  double omega = 0.0;
  IcaStop stop = IcaStop::residual;
  IcaStart start = IcaStart::constrained;
  Judge judge = Judge::exact;
  IcaInnerStop inner_stop = IcaInnerStop::reduction;
  double inner_reduction = 0.1;
  int inner_max = 50;
  SweepOrder order = SweepOrder::natural;
  bool fallback = true;
  double paper_gap = 0.0;
  Thresholds thresholds;

  template <class Visitor>
  void visit(Visitor& v) {
    common.visit(v);
    v("refine", refine,
      "step over M. gs: one forward block Gauss-Seidel sweep (eq. 12); jacobi: damped Jacobi from the start");
    v("omega", omega, "damped Jacobi: factor of D; 0: 0.6 lambda_max(D^-1 M), by power iteration");
    v("stop", stop,
      "residual: the asked residual; paper5: the residuals change by at most 5 % (Otaduy 2009, section 5.5); "
      "thresholds: eps1 and eps2 (Verschoor and Jalba 2019, section 6.2)");
    v("start", start,
      "velocities at the start. constrained: those that the start impulses give (Verschoor 2019, section "
      "7), by the factor of M with judge = exact, else by sweeps with r held; free: the free velocity; "
      "swept: "
      "the free velocity, found by counted sweeps from the velocity of the last step (judge = own)");
    v("judge", judge, kJudgeHelp);
    v("inner_stop", inner_stop,
      "reduction: sweeps over the contacts end by inner_reduction; paper5: where their residuals change by "
      "at most 5 % (Otaduy 2009, section 5.5)");
    v("inner_reduction", inner_reduction,
      "sweeps over the contacts end where the largest correction is below this times the outer error");
    v("inner_max", inner_max, "sweeps over the contacts per outer iteration at most");
    v("order", order,
      "order of the contacts in a sweep: natural; coloured: groups without a common node block, which "
      "threads update side by side; auto: coloured in mass-point regions that are large enough for it, "
      "else natural");
    v("fallback", fallback,
      "true: damped Jacobi replaces the sweeps over M where they diverge or stagnate; false: as printed");
    v("paper_gap", paper_gap,
      "stop = paper5 or inner_stop = paper5: also no contact is violated by more than this at the end of "
      "the step, m; 0: not asked for");
    thresholds.visit(v, "stop = thresholds: 2-norm of the residual, in kg m/s and m together",
                     "stop = thresholds: largest error of a contact, m");
  }
  void validate() const;
};

class Ica : public RegisteredSolver<Ica, IcaOptions, MassSolver> {
 public:
  static constexpr std::string_view kName = "ica";
  static constexpr SolverTraits kTraits{
      .needs = SolverNeeds::mass, .parallel = true, .inner_regions = true, .phases = {"", "free"}};
  explicit Ica(const Options& options) : RegisteredSolver(options) {}

  std::string unsupported_reason(const ContactProblem& problem) const override;
  void prepare(const ContactProblem& problem) override;
  /// Keeps what belongs to M, and the response of the last solve as a start of the next one; a second solve
  /// of the same problem starts afresh.
  void update_contacts(const ContactProblem& problem) override;

 protected:
  Iteration start(std::span<double> r, const StopTest& stop) override;
  Iteration iterate(std::span<double> r) override;
  LoopEnd settle(std::span<double> r) override;
  bool ends_by_residual() const override { return !paper_; }
  bool keeps_best() const override { return !(paper_ && options_.stop == IcaStop::thresholds); }
  std::size_t phase() const override { return last_was_free_ ? 1 : 0; }
  IterationProgress progress() override;

  /// Where the error no longer improves for so many iterations, solves end (stalled) in place of damped Jacobi.
  void leave_when_stale(int iterations) {
    patience_ = iterations;
    leaves_ = true;
  }
  /// After a solve of the same problem: the next one goes on from v = M⁻¹(f + H r), size().
  void go_on_from(std::span<const double> r, std::span<const double> v);
  /// v₀ + dv, size().
  void copy_velocity(std::span<double> v) const;

 private:
  void set_up(const ContactProblem& problem);
  void begin(std::span<double> r, IcaStart kind);
  void respond();
  Iteration sweep_freely(std::span<const double> r);
  bool meets_thresholds() const;
  void measure_momentum();
  void measure_velocity(std::span<const double> r);
  void fall_back(std::span<double> r);
  double damping();
  double error() const { return contact_error_ + momentum_; }

  AnticipationStep step_;
  AnticipationStep::Rule rule_;
  Vector start_vector_;    ///< n: of the power iteration
  std::vector<double> u_;  ///< 3m: Hᵀ(v₀ + dv) + w
  double dt_ = 0.0;        ///< s
  int patience_ = 200;     ///< outer iterations without an error 1 % below the best
  bool leaves_ = false;

  // of one solve
  bool has_response_ = false;  ///< dv, M dv and U dv are those of the last solve, for the same M
  bool go_on_ = false;         ///< … and `update_contacts` asked to start from them
  bool paper_ = false;         ///< the paper's own rule ends the run
  int iterations_ = 0, improved_at_ = 0;
  double rounding_ = 0.0, tolerance_ = 0.0, enough_ = 0.0;  ///< m/s
  bool sweeps_freely_ = false;                              ///< the free velocity is not found yet
  bool last_was_free_ = false;                              ///< the last iteration was one of those
  double momentum_ = 0.0;                                   ///< ‖D⁻¹ρ‖∞, ρ = M dv − impulse, m/s
  double momentum_squares_ = 0.0;                           ///< ‖ρ‖², with stop = thresholds alone
  double contact_squares_ = 0.0;                            ///< Σ of the contact errors squared, m²/s²
  double contact_error_ = 0.0;                              ///< largest of the velocity at hand, m/s
  double smallest_ = 0.0, improved_ = 0.0;                  ///< m/s
  double last_contacts_ = 0.0, last_momentum_ = 0.0;        ///< before the last iteration, m/s
};

}  // namespace signorini
