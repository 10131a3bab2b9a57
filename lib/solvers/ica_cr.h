#pragma once

#include <memory>
#include <string_view>

#include "solvers/primal_system.h"
#include "solvers/solver.h"

/// `ica-cr`: iterative constraint anticipation identifies the active set; conjugate residuals then solve the
/// equality-constrained system. Ours, from parts of Otaduy et al. 2009
/// (sections 5.2–5.5) and of Verschoor and Jalba 2019 (Algorithm 1), as Lazarevych et al. 2010 (section 4)
/// combine projected conjugate gradients with Gauss–Seidel.
///
/// Why: conjugate residuals switch every contact by itself. With redundant contacts simultaneous switches
/// overshoot, and thousands of changes of state restart the iteration. Gauss–Seidel over the contacts is not
/// affected, but relaxation over the nodes needs iterations in proportion to cond(D⁻¹M), Krylov methods in
/// proportion to its root.
///
/// One cycle, from velocities v and impulses r with ρ = f + H r − M v:
///
///     1. `sweeps` times, dv = v − v_free, B = Hᵀ D⁻¹ H:
///          anticipate   q_loc = u − Hᵀ D⁻¹ M dv                                     (Otaduy eqs. 9, 10)
///          contacts     u = B r + q_loc and the law, by projected Gauss–Seidel        (eqs. 11, 13, 14)
///          nodes        dv ← (D − L)⁻¹ (U dv + H r)                                    (eq. 12)
///     2. states by one projected step from (r, u) (contact_states.h: `start`); with the sliding impulses
///        and the set of active rows fixed, a linear system is left (saddle_system.h)
///     3. conjugate residuals with Full, until the residual has fallen to `reduction` of what it was or
///        `length` steps are done
///
/// 2 and 3 are left out where 1 has brought the smallest error so far to `reduction` of what it was:
/// relaxation is fast enough then.
///
/// An iteration is one sweep of 1 or one step of 3: each costs one product with M. A cycle starts with one
/// and a half more.
///
/// Guard: neither part need converge (Gauss–Seidel over the nodes of an M that is not diagonally dominant,
/// docs/theory.md, C27; linear systems with wrong states). Where the error after 1 exceeds ten times the
/// smallest, the cycle is undone; then, and where three cycles bring nothing, `sweeps` and `length` are
/// doubled until one does. So either part gets as long as it needs by itself.
///
/// Converged means the error of r by `judge`, looked at after every sweep of 1.
namespace signorini {

class IcaCr : public Solver {
 public:
  static constexpr std::string_view kName = "ica-cr";
  struct Options {
    CommonOptions common;
    int sweeps = 3;
    int length = 10;
    double reduction = 0.3;
    double inner_reduction = 0.1;
    int inner_max = 50;
    int repetitions = 3;
    Judge judge = Judge::exact;

    template <class Visitor>
    void visit(Visitor& v) {
      common.visit(v);
      v("sweeps", sweeps, "iterations of constraint anticipation in a cycle");
      v("length", length, "conjugate residuals in a cycle at most; 0: anticipation alone");
      v("reduction", reduction, "of the residual at fixed states, after which the cycle ends");
      v("inner_reduction", inner_reduction, "tolerance of the contacts' Gauss-Seidel relative to the error");
      v("inner_max", inner_max, "sweeps over the contacts in one iteration at most");
      v("repetitions", repetitions, "N, T1, T2 of a contact repeated in a sweep over the contacts");
      v("judge", judge,
        "exact: factors M while preparing and stops by the true residual; own: never factors M and stops by "
        "the error "
        "of the velocity at hand, which is too small for stiff M");
    }
    void validate() const;
  };

  explicit IcaCr(const Options& options);
  ~IcaCr() override;
  std::string_view name() const override { return kName; }
  std::string options() const override { return options_text(options_); }
  const CommonOptions& common() const override { return options_.common; }
  std::string unsupported_reason(const ContactProblem& problem) const override;
  /// `prepare` works in parallel, and so do products, sweeps and vectors of `solve` of large problems.
  void use_arena(TaskArena* arena) override { arena_ = arena; }
  void prepare(const ContactProblem& problem) override;
  SolveReport solve(std::span<double> r, const StopRule& stop, IterationObserver* observer) override;
  /// The next solve starts from the velocities of the last one.
  void update_contacts(const ContactProblem& problem) override;

 private:
  struct Impl;
  Options options_;
  TaskArena* arena_ = nullptr;
  std::unique_ptr<Impl> impl_;
};

}  // namespace signorini
