#pragma once

#include <string_view>
#include <vector>

#include "krylov/conjugate_residuals.h"
#include "solvers/active_set/saddle_system.h"
#include "solvers/anticipation/anticipation_step.h"
#include "solvers/mass_solver.h"
#include "solvers/registered_solver.h"

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
///     1. `sweeps` times a step of anticipation_step.h
///     2. states by one projected step from (r, u) (active_set.h: `start`); with the sliding impulses
///        and the set of active rows fixed, a linear system is left (saddle_system.h)
///     3. conjugate residuals with Full, until the residual has fallen to `reduction` of what it was or
///        `length` steps are done
///
/// 2 and 3 are left out where 1 has brought the smallest error so far to `reduction` of what it was:
/// relaxation is fast enough then.
///
/// An iteration is one step of 1 or of 3: each costs one product with M. A cycle costs one and a half more.
///
/// Guard: neither part need converge (Gauss–Seidel over the nodes of an M that is not diagonally dominant,
/// docs/theory.md, C27; linear systems with wrong states). Where the error after 1 exceeds ten times the
/// smallest, the cycle is undone; then, and where three cycles bring nothing, `sweeps` and `length` are
/// doubled until one does. So either part gets as long as it needs by itself.
///
/// Converged means the error of r by `judge`, looked at after every sweep of 1.
namespace signorini {

struct IcaCrOptions {
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

class IcaCr : public RegisteredSolver<IcaCr, IcaCrOptions, MassSolver> {
 public:
  static constexpr std::string_view kName = "ica-cr";
  static constexpr SolverTraits kTraits{
      .needs = SolverNeeds::mass, .parallel = true, .phases = {"ica", "cr"}};
  explicit IcaCr(const Options& options) : RegisteredSolver(options) {}

  void prepare(const ContactProblem& problem) override;
  /// The next solve starts from the velocities of the last one.
  void update_contacts(const ContactProblem& problem) override;

 protected:
  Iteration start(std::span<double> r, const StopTest& stop) override;
  Iteration iterate(std::span<double> r) override;
  LoopEnd settle(std::span<double> r) override;
  std::size_t phase() const override { return following_ ? 1 : 0; }
  IterationProgress progress() override;
  const SolveCounters& counters() override;

 private:
  /// One iterate: velocities and impulses with the error that the solver itself sees in them.
  struct Kept {
    std::vector<double> v, r;
    double error = 0.0;  ///< m/s
  };

  void begin_sweeps(std::span<double> r);
  void sweep(std::span<double> r);
  void keep(std::span<const double> r);
  bool judge_cycle(std::span<double> r);
  LoopEnd end_of_sweeps(std::span<double> r);
  void end_of_step();

  SaddleSystem saddle_;
  AnticipationStep step_;
  ConjugateResiduals directions_;
  Kept kept_;
  std::vector<double> start_;  ///< n: velocities that solves start from
  bool belong_ = false;        ///< they are those of the last answer

  // of one solve
  double enough_ = 0.0;  ///< of corrections of a sweep over the contacts, m/s
  double error_ = 0.0;   ///< of the impulses at the velocity at hand, m/s
  double aim_ = 0.0;     ///< residual that ends step 3, m/s
  int sweeps_ = 0, length_ = 0;
  int done_ = 0;  ///< iterations of the present step of the cycle
  int idle_ = 0, doublings_ = 0, undone_ = 0;
  bool following_ = false;  ///< step 3
  bool moved_ = true;       ///< v and λ are not those of the last sweep
  KrylovStep krylov_;
};

}  // namespace signorini
