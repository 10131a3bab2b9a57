#pragma once

#include <memory>
#include <string_view>

#include "solvers/iterative_solver.h"
#include "solvers/registered_solver.h"

/// `reference`: a slow, simple, accurate solver that everything else is tested against.
///
/// Gauss–Seidel over the contacts with the exact solution of every one-contact problem (one_contact.h); where
/// it converges slowly, steps of a semi-smooth Newton method on the equations of Alart and Curnier (1991), in
/// m/s,
///
///     F_N = u_N or W_NN r_N;   F_T = (r_T − P(r_T − ρ_T u_T; μ p_N))/ρ_T,   p_N = max(0, r_N − ρ_N u_N)
///
/// with a dense LU factor of order 3m and step halving; a Newton step that does not lower the error is taken
/// back. It shares no sweep and no error formula with the other solvers. An iteration is a sweep or a Newton
/// step. With μ = 0 the answer is the projection of the free velocity on the admissible velocities in the
/// metric of M.
namespace signorini {

struct ReferenceOptions {
  CommonOptions common;
  int newton_contacts = 400;

  template <class Visitor>
  void visit(Visitor& v) {
    common.visit(v);
    v("newton_contacts", newton_contacts,
      "most contacts of a problem for Newton steps, which factor a dense matrix of order 3 contacts; 0: "
      "Gauss-Seidel only");
  }
  void validate() const;
};

class Reference : public RegisteredSolver<Reference, ReferenceOptions, IterativeSolver> {
 public:
  static constexpr std::string_view kName = "reference";
  static constexpr SolverTraits kTraits{.phases = {"gs", "newton"}};
  explicit Reference(const Options& options);
  ~Reference() override;

  std::string unsupported_reason(const ContactProblem& /*problem*/) const override { return ""; }
  void prepare(const ContactProblem& problem) override;
  void prepare_island(ReducedProblem problem, Vector mu) override;

 protected:
  double velocity_scale() override;
  Iteration start(std::span<double> r, const StopTest& stop) override;
  Iteration iterate(std::span<double> r) override;
  LoopEnd settle(std::span<double> r) override;
  double measure(std::span<const double> r, double estimate) override;
  std::size_t phase() const override;
  const SolveCounters& counters() override;
  long long products() override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace signorini
