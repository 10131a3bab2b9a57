#pragma once

#include <memory>
#include <vector>

#include "solvers/solver.h"

namespace signorini {

/// Decorator: a second solver for the problems on which the first one fails, both from the same start.
///
///     r = first(r₀);     where its status is not `converged` and its own residual is above ε, or r is not finite:
///     r = second(r₀);    fails too: of the two answers the one with the smaller own residual (each by its own measure)
///
/// ε is what the stepper accepts (`solver.accepted_residual`). The second one is prepared only when it is needed, always
/// anew, so what it does depends on the problem alone. The report has the iterations and the work of both; `guards` counts
/// the solves of the second one. Both must have the same friction law, because the frames of impulses depend on it.
class FallbackSolver final : public Solver {
 public:
  /// Throws `UsageError` for solvers of different laws.
  FallbackSolver(std::unique_ptr<Solver> first, std::unique_ptr<Solver> second, double accepted_residual);

  std::string_view name() const override { return first_->name(); }
  std::string options() const override { return first_->options(); }
  const CommonOptions& common() const override { return first_->common(); }
  const SolverTraits& traits() const override { return first_->traits(); }
  std::unique_ptr<Solver> fresh() const override;
  std::string unsupported_reason(const ContactProblem& problem) const override;
  void use_arena(TaskArena* arena) override;
  void prepare(const ContactProblem& problem) override;
  void update_contacts(const ContactProblem& problem) override;
  SolveReport solve(std::span<double> r, const StopRule& stop, IterationObserver* observer) override;

 private:
  bool fails(const SolveReport& report, std::span<const double> r) const;

  std::unique_ptr<Solver> first_, second_;
  double accepted_residual_;
  const ContactProblem* problem_ = nullptr;
  bool second_is_prepared_ = false;
  std::vector<double> start_, answer_;
};

}  // namespace signorini
