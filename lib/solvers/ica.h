#pragma once

#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "solvers/primal_system.h"
#include "solvers/solver.h"

/// `ica`: iterative constraint anticipation (Otaduy et al. 2009, sections 5.2–5.5, eqs. 9–14).
///
/// Unknowns are r and the response dv = v − v_free of M dv = H r. With D the node blocks of the diagonal of M
/// and B = Hᵀ D⁻¹ H (built once, sparse), every outer iteration
///
///     1. anticipates by block Jacobi:  q_loc = Hᵀ(v_free + dv − D⁻¹ M dv) + w                 (eqs. 9, 10)
///     2. solves  u = B r + q_loc  and the contact law by projected Gauss–Seidel, r warm; a contact repeats
///        N, T1, T2 three times before the sweep moves on (eqs. 11, 13, 14; docs/theory.md, C26)
///     3. refines by one forward block Gauss–Seidel sweep:  dv ← (D − L)⁻¹ (U dv + H r)              (eq. 12)
///
/// The inner problem is solved to `inner_reduction` of the outer error, or a tenth of the tolerance; where M
/// is D to the latter, because then it is the whole problem and one outer iteration is enough. `inner_stop =
/// paper5` is the paper's own rule (section 5.5): sweeps end when the residuals of the normal and of the
/// friction conditions, as a sweep meets them, both change by at most 5 % from one sweep to the next, and no
/// contact is violated by more than `paper_gap` (0: any).
///
/// The mixture of Jacobi anticipation and Gauss–Seidel refinement need not converge although M is positive
/// definite (docs/theory.md, C27). Where the error grows to 1000 times the best, or no longer improves, the
/// solver falls back on refinement by damped Jacobi, D replaced by ω D with ω > λ_max(D⁻¹ M)/2: a proximal
/// gradient method, convergent for every positive definite M. `refine = jacobi` starts with it.
///
/// A sweep of step 3 leaves  M dv − H r = U_old − U_new  (U the strict upper part times dv before and after),
/// so an outer iteration reads every block of M once.
namespace signorini {

enum class IcaRefine { gs, jacobi };
template <>
struct EnumNames<IcaRefine> {
  static constexpr std::array<std::pair<IcaRefine, std::string_view>, 2> value{
      {{IcaRefine::gs, "gs"}, {IcaRefine::jacobi, "jacobi"}}};
};

enum class IcaStop { residual, paper5 };
template <>
struct EnumNames<IcaStop> {
  static constexpr std::array<std::pair<IcaStop, std::string_view>, 2> value{
      {{IcaStop::residual, "residual"}, {IcaStop::paper5, "paper5"}}};
};

enum class IcaInnerStop { reduction, paper5 };
template <>
struct EnumNames<IcaInnerStop> {
  static constexpr std::array<std::pair<IcaInnerStop, std::string_view>, 2> value{
      {{IcaInnerStop::reduction, "reduction"}, {IcaInnerStop::paper5, "paper5"}}};
};

enum class IcaStart { free, constrained };
template <>
struct EnumNames<IcaStart> {
  static constexpr std::array<std::pair<IcaStart, std::string_view>, 2> value{
      {{IcaStart::free, "free"}, {IcaStart::constrained, "constrained"}}};
};

class Ica : public Solver {
 public:
  static constexpr std::string_view kName = "ica";
  struct Options {
    CommonOptions common;
    IcaRefine refine = IcaRefine::gs;
    double omega = 0.0;
    IcaStop stop = IcaStop::residual;
    IcaStart start = IcaStart::constrained;
    Judge judge = Judge::exact;
    IcaInnerStop inner_stop = IcaInnerStop::reduction;
    double inner_reduction = 0.1;
    int inner_max = 50;
    int repetitions = 3;
    bool fallback = true;
    double paper_gap = 0.0;

    template <class Visitor>
    void visit(Visitor& v) {
      common.visit(v);
      v("refine", refine,
        "gs: one forward block Gauss-Seidel sweep (eq. 12), damped Jacobi after divergence; jacobi: damped "
        "Jacobi only");
      v("omega", omega, "factor of D in damped Jacobi; 0: 0.6 lambda_max(D^-1 M) by power iteration");
      v("stop", stop, "residual: the common rule; paper5: changes below 5 % (Otaduy 2009 section 5.5)");
      v("start", start,
        "response that the start values of r are given: none (free), or their own (constrained; Verschoor "
        "2019 "
        "section 7), by the factor of M where judge = exact has one, else by sweeps with r held");
      v("judge", judge,
        "exact: factors M while preparing and stops by the true residual; own: never factors M and stops by "
        "the error "
        "of the velocity at hand, which is too small for stiff M");
      v("inner_stop", inner_stop,
        "reduction: inner sweeps end by inner_reduction; paper5: when their residuals change "
        "by at "
        "most 5 % (Otaduy 2009 section 5.5)");
      v("inner_reduction", inner_reduction,
        "inner sweeps end when corrections are below this times the outer error");
      v("inner_max", inner_max, "inner sweeps per outer iteration at most");
      v("repetitions", repetitions, "local repetitions of N, T1, T2 at a contact");
      v("fallback", fallback,
        "damped Jacobi where the sweeps diverge or stagnate; false: sweeps alone, as printed");
      v("paper_gap", paper_gap,
        "stop or inner_stop = paper5: distance in m that a contact may be violated by at the end; 0: any");
    }
    void validate() const;
  };

  explicit Ica(const Options& options);
  ~Ica() override;

  std::string_view name() const override { return kName; }
  std::string options() const override { return options_text(options_); }
  const CommonOptions& common() const override { return options_.common; }
  std::string unsupported_reason(const ContactProblem& problem) const override;
  /// `prepare` works in parallel.
  void use_arena(TaskArena* arena) override { arena_ = arena; }
  void prepare(const ContactProblem& problem) override;
  /// Keeps what belongs to M, and the response of the last solve as a start of the next one; a second solve
  /// of the same problem starts afresh.
  void update_contacts(const ContactProblem& problem) override;
  SolveReport solve(std::span<double> r, const StopRule& stop, IterationObserver* observer) override;

  /// Of the last solve: inner sweeps, and whether the fallback was taken.
  long long inner_sweeps() const;
  bool fell_back() const;

 private:
  struct Impl;
  void set_up(const ContactProblem& problem);
  Options options_;
  TaskArena* arena_ = nullptr;
  std::unique_ptr<Impl> impl_;
};

}  // namespace signorini
