#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "solvers/delassus_solver.h"
#include "solvers/registered_solver.h"
#include "solvers/schwarz/schwarz_steps.h"

/// `schwarz`: an island on all cores. Subdomains of its contacts (subdomains.h) are solved as tasks by another solver on
/// u = W r + q, again and again, until they agree:
///
///     x_E = the answer on subdomain E of   u_E = W_EE x_E + q_E + W_Eo r_o   to a tenth of the present residual, or
///           what `inner_iterations` of `inner` make of it
///     r_k ← r_k + ω (x_k − r_k)   for the own contacts k of E            ω: `damping`
///
/// Subdomains of one colour start from the same r, those of the next from what they have left. `strength` decides what a
/// colour is: 0 makes neighbours alternate (multiplicative Schwarz, block Gauss–Seidel), 1 or more takes all at once
/// (additive), and between them neighbours alternate that are coupled more than that. The law is kept by every iterate:
/// it bounds r_T by a convex cone.
///
/// `outer` accelerates r → y = G(r), one such iteration, as it does sweeps: `nncg` or `anderson` (docs/solvers.md).
///
/// The exact error, one product with W, is measured in every iteration. Answers have the same bits for any number of threads.
/// Inner solvers: those on W, q whose q may change after `prepare`; not `schwarz`.
namespace signorini {

struct SchwarzOptions {
  CommonOptions common;
  std::string inner = "nncg";
  int inner_iterations = 10;
  int size = 100;
  int overlap = 0;
  double strength = 0.1;
  double damping = 1.0;
  SchwarzOuter outer = SchwarzOuter::nncg;

  template <class Visitor>
  void visit(Visitor& v) {
    common.visit(v);
    v("inner", inner,
      "solver of the subdomains, with its default options: one that needs no more than W and q");
    v("inner_iterations", inner_iterations, "its iterations at most, each time that a subdomain is solved");
    v("size", size, "contacts of a subdomain, about");
    v("overlap", overlap, "rings of neighbouring contacts that a subdomain is solved with");
    v("strength", strength,
      "subdomains alternate where a block of W between them is more than this times the diagonal blocks; 0: "
      "wherever "
      "there is one; 1: nowhere, all at once");
    v("damping", damping, "share of the new impulses that is taken, in (0, 1]");
    v("outer", outer, "what accelerates the iterations: none, nncg or anderson");
  }
  void validate() const;
};

class Schwarz : public RegisteredSolver<Schwarz, SchwarzOptions, DelassusSolver> {
 public:
  static constexpr std::string_view kName = "schwarz";
  static constexpr SolverTraits kTraits{.parallel = true};
  explicit Schwarz(const Options& options);

  std::string island_refusal(Index contacts) const override;
  void prepare_island(ReducedProblem problem, Vector mu) override;
  SolveReport solve(std::span<double> r, const StopRule& rule, IterationObserver* observer) override;
  bool follows_free_velocity() const override { return false; }
  WorkAndSpan work_and_span(int cores) const override { return steps_.sweep().work_and_span(cores); }

 protected:
  Iteration start(std::span<double> r, const StopTest& stop) override;
  Iteration iterate(std::span<double> r) override;

 private:
  /// The exact error of r, m/s, which is also that at which subdomains aim next.
  double judge(std::span<const double> r);

  std::unique_ptr<Solver> inner_;
  StopRule inner_rule_;  ///< of subdomains; their time limit and cancellation are those of the whole
  SchwarzSteps steps_;
  double error_ = 0.0;  ///< of the present r, m/s
};

}  // namespace signorini
