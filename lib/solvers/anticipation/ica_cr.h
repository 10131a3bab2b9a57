#pragma once

#include <string_view>
#include <vector>

#include "krylov/conjugate_residuals.h"
#include "solvers/active_set/saddle_system.h"
#include "solvers/anticipation/anticipation_step.h"
#include "solvers/mass_solver.h"
#include "solvers/registered_solver.h"

/// `ica-cr`: iterative constraint anticipation identifies the active set; conjugate residuals then solve the
/// equality-constrained system, in turn. Ours, from Otaduy et al. 2009 (sections 5.2–5.5) and Verschoor and
/// Jalba 2019 (Algorithm 1), as Lazarevych et al. 2010 (section 4) combine conjugate gradients with
/// Gauss–Seidel.
///
/// Conjugate residuals change the state of every contact by itself; with redundant contacts simultaneous
/// changes overshoot, and thousands of them restart the iteration. Gauss–Seidel over the contacts is not
/// affected, but relaxation over the nodes needs iterations in proportion to cond(D⁻¹M), Krylov methods in
/// proportion to its root.
///
/// One cycle, from velocities v (n) and impulses r (3m) with ρ = f + H r − M v:
///
///     1. `sweeps` steps of anticipation_step.h
///     2. states by one projected step from (r, u) (active_set.h: `start`); with the sliding impulses
///        and the set of active rows fixed, a linear system is left (saddle_system.h)
///     3. conjugate residuals with Full, until the residual is 0.3 times that at their start, or `length` steps
///
/// 2 and 3 are left out where 1 alone has lowered the error to 0.3 of the smallest. An iteration is one step
/// of 1 or of 3: each costs one product with M; a cycle costs one and a half more.
///
/// Neither part need converge (C27; linear systems with wrong states). Where the error after 1 exceeds ten
/// times the smallest, the cycle is undone; then, and where three cycles bring no smaller error, `sweeps` and
/// `length` are doubled until one does. Converged means the error of r by `judge`, estimated after every step
/// of 1.
namespace signorini {

struct IcaCrOptions {
  CommonOptions common;
  int sweeps = 3;
  int length = 10;
  Judge judge = Judge::exact;

  template <class Visitor>
  void visit(Visitor& v) {
    common.visit(v);
    v("sweeps", sweeps, "iterations of constraint anticipation per cycle");
    v("length", length,
      "iterations of conjugate residuals per cycle at most; 0: constraint anticipation alone");
    v("judge", judge, kJudgeHelp);
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
