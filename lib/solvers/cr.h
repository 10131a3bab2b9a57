#pragma once

#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "solvers/contact_states.h"
#include "solvers/krylov_method.h"
#include "solvers/primal_system.h"
#include "solvers/solver.h"

/// `cr-full`, `cr-diag`: conjugate residuals on velocities and impulses together, contacts switching their
/// states before convergence (Verschoor and Jalba 2019, section 3, Algorithms 1–3; the codes C38 to C41, T09,
/// T14 and T15 are corrections and pitfalls in docs/theory.md).
///
/// The system, its residual and what a change of states costs: saddle_system.h. The states: contact_states.h.
///
/// Preconditioners, D the 3×3 node blocks of M's diagonal and S = Z diag(L D⁻¹ Lᵀ):
///
///     Diag:  (D⁻¹ ρ_v;  S⁻¹ ρ_c)          positive definite
///     Full:  a = S⁻¹(L D⁻¹ ρ_v + ρ_c),  (D⁻¹(ρ_v − Lᵀ a);  −a)         the block inverse, indefinite
///
/// Z (Full only) counts the contacts of the same place (duplicate_scales.h).
///
/// One product with M per iteration. States are looked at every max(1, ⌊log2(ϱ)/3⌋) iterations, ϱ the
/// residual over the inner tolerance (C40, `interval`), and only after steps with α > 0 (C39). Where z·Bz or
/// Bp·C⁻¹Bp vanishes without convergence, one minimising step along C⁻¹ B C⁻¹ ρ with Diag restarts the
/// iteration (C38); after three such events, and where the error no longer improves, Diag replaces Full
/// (T09).
///
/// On the way, changes whose gate is below `postpone` times the residual of the system wait: they are below
/// the current velocity error, and every restart discards the conjugate directions. The converged state looks
/// at every change above the tolerance. Where the error has not halved within `patience` iterations, the
/// bounds of friction are held and move only when the problem with these bounds is solved, and its rows are
/// regularised; `bounds = adaptive` moves them on a rougher solution (contact_states.h). What these options
/// and the interval are worth was measured: docs/notes/measurements.md.
///
/// Inside, the system and the gates of the states work to `inner` times the asked tolerance, and tighter
/// wherever the true residual turns out to be larger than asked (T14, T15). Converged means the error of r
/// itself, by `judge`.
///
/// `stop = paper` ends by the paper's own test instead (section 3.1, Algorithm 1 lines 22–25, with the values
/// of section 6.2; C41), dt the time step and ρ in the paper's mixed units:
///
///     ‖(ρ_v; dt ρ_c)‖₂ < ε₁ = 5e-5 (kg m/s and m),   dt ‖ρ_c‖∞ < ε₂ = 5e-6 m,   and no state changes whose
///     gate, times dt, is above ε₂
///
/// What it leaves depends on the masses and the time step of the scene.
namespace signorini {

/// Iterations between evaluations of the states, from the ratio ϱ of the residual to the inner tolerance.
enum class CrInterval { log2, log10_squared, ln_squared, every, converged };
template <>
struct EnumNames<CrInterval> {
  static constexpr std::array<std::pair<CrInterval, std::string_view>, 5> value{
      {{CrInterval::log2, "log2"},
       {CrInterval::log10_squared, "log10-squared"},
       {CrInterval::ln_squared, "ln-squared"},
       {CrInterval::every, "every"},
       {CrInterval::converged, "converged"}}};
};

enum class CrStop { residual, paper };
template <>
struct EnumNames<CrStop> {
  static constexpr std::array<std::pair<CrStop, std::string_view>, 2> value{
      {{CrStop::residual, "residual"}, {CrStop::paper, "paper"}}};
};

enum class CrPreconditioner { full, diag };

struct CrOptions {
  CommonOptions common;
  CrInterval interval = CrInterval::log2;
  SlideDirection direction = SlideDirection::prox;
  int average = 2;
  double angle = 1.2;
  double turn = 0.01;
  StateForm gates = StateForm::corrected;
  StateForm slip_test = StateForm::corrected;
  bool gate = true;
  bool breakdown_guard = true;
  bool duplicates = true;
  double inner = 0.2;
  double postpone = 0.8;
  int patience = 120;
  HeldBounds bounds = HeldBounds::tight;
  Judge judge = Judge::exact;
  CrStop stop = CrStop::residual;
  double eps1 = 5e-5;
  double eps2 = 5e-6;

  template <class Visitor>
  void visit(Visitor& v) {
    visit_states(v);
    v("stop", stop,
      "residual: the common rule; paper: eps1 and eps2 below (Verschoor and Jalba 2019, sections 3.1 and "
      "6.2)");
    v("eps1", eps1, "stop = paper: 2-norm of the residual of the system, kg m/s and m together");
    v("eps2", eps2, "stop = paper: largest violation of an active constraint, and of a waiting state, m");
    v("gate", gate, "look at the states only after steps with alpha > 0");
    v("breakdown_guard", breakdown_guard,
      "mend vanishing inner products by a minimising step (C38); false: divide by them, as printed");
    v("duplicates", duplicates, "Full: scale S by the number of contacts of the same place (Z)");
  }
  /// What does not belong to the recurrences of conjugate residuals.
  template <class Visitor>
  void visit_states(Visitor& v) {
    common.visit(v);
    v("interval", interval,
      "iterations between looks at the states, at most with x the residual over the inner tolerance: "
      "log2(x)/3, "
      "log10(x)^2/3, ln(x)^2/3, 1 (every), only at convergence (converged)");
    v("direction", direction,
      "sliding direction: prox, by projection in the metric of the contact; newton, the same with the turn "
      "of the "
      "impulse as an unknown of the linear system; paper, a turn by `turn` beyond `angle`");
    v("average", average,
      "normal impulses in the moving average that bounds sliding friction (eq. 19), 1 to 8");
    v("angle", angle, "direction = paper: degrees below which the direction is kept");
    v("turn", turn, "direction = paper: part of the way to the new direction");
    v("gates", gates,
      "corrected: changes of state wait for a violation of their own kind; printed: for a change of the "
      "impulse "
      "(Algorithm 2, line 19; Algorithm 3), so that nothing is ever switched on or back to sticking (C34, "
      "C35)");
    v("slip_test", slip_test,
      "corrected: sticking ends where friction is exceeded and opposes the slip; printed: where it has the "
      "sign of "
      "eq. 16, with physical impulses the wrong one (C31)");
    v("inner", inner, "tolerance of the linear system and of the states relative to the asked residual");
    v("postpone", postpone,
      "changes of state on the way wait while their gate is below this times the residual of the system; 0: "
      "never");
    v("patience", patience,
      "iterations without halving the error after which bounds of friction are held and move only between "
      "solved problems; 0: never");
    v("bounds", bounds,
      "what is solved before held bounds move. tight: the problem to 1e-4 of what they lag behind; adaptive: "
      "less where they have waited for 80 iterations, and interval = log2 is then ln-squared");
    v("judge", judge,
      "exact: factors M while preparing and stops by the true residual; own: never factors M and stops by "
      "the error "
      "of the velocity at hand, which is too small for stiff M");
  }
  void validate(std::string_view solver) const;
};

class ConjugateResiduals : public Solver {
 public:
  ConjugateResiduals(const CrOptions& options, CrPreconditioner preconditioner);
  ~ConjugateResiduals() override;

  const CommonOptions& common() const override { return options_.common; }
  std::string unsupported_reason(const ContactProblem& problem) const override;
  /// `prepare` works in parallel, and so do products and vectors of `solve` from some thousand dofs on.
  void use_arena(TaskArena* arena) override { arena_ = arena; }
  void prepare(const ContactProblem& problem) override;
  SolveReport solve(std::span<double> r, const StopRule& stop, IterationObserver* observer) override;
  /// The next solve starts from the velocities of the last one.
  void update_contacts(const ContactProblem& problem) override;
  /// Of the last solve.
  const SolveCounters& counters() const;

 protected:
  /// Another Krylov method in the place of conjugate residuals.
  ConjugateResiduals(const CrOptions& options, CrPreconditioner preconditioner,
                     std::unique_ptr<KrylovMethod> method);
  CrOptions options_;

 private:
  struct Impl;
  CrPreconditioner preconditioner_;
  TaskArena* arena_ = nullptr;
  std::unique_ptr<Impl> impl_;
};

class CrFull : public ConjugateResiduals {
 public:
  static constexpr std::string_view kName = "cr-full";
  struct Options : CrOptions {
    void validate() const { CrOptions::validate("solver 'cr-full'"); }
  };
  explicit CrFull(const Options& options) : ConjugateResiduals(options, CrPreconditioner::full) {}
  std::string_view name() const override { return kName; }
  std::string options() const override { return options_text(options_); }
};

class CrDiag : public ConjugateResiduals {
 public:
  static constexpr std::string_view kName = "cr-diag";
  struct Options : CrOptions {
    Options() {
      inner = 0.3;
      postpone = 1.0;
    }
    void validate() const { CrOptions::validate("solver 'cr-diag'"); }
  };
  explicit CrDiag(const Options& options) : ConjugateResiduals(options, CrPreconditioner::diag) {}
  std::string_view name() const override { return kName; }
  std::string options() const override { return options_text(options_); }
};

}  // namespace signorini
