#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "contact/align_tangents.h"
#include "solvers/region_solver.h"

/// Decorator for `frame = aligned` and `rotated`: the solver sees the problem in turned tangents, t1 along the
/// tangential free velocity (Otaduy 2009 section 3.2) or by 45° from the problem's own, and the impulses are
/// returned in the problem's own tangents.
/// max|q| depends on the tangents; the residual stays relative to that of the original problem.
namespace signorini {

class TurnedFrame : public ForwardingSolver<Solver> {
 public:
  explicit TurnedFrame(std::unique_ptr<Solver> inner);

  /// Those of the inner solver, but it needs the whole problem (no `prepare_island`).
  const SolverTraits& traits() const override { return traits_; }
  std::unique_ptr<Solver> fresh() const override { return std::make_unique<TurnedFrame>(inner_->fresh()); }
  void prepare(const ContactProblem& problem) override;
  void update_contacts(const ContactProblem& problem) override;
  SolveReport solve(std::span<double> r, const StopRule& stop, IterationObserver* observer) override;

 private:
  void turn(const ContactProblem& problem);

  SolverTraits traits_;
  std::optional<ContactProblem> turned_;
  std::vector<TangentTurn> turns_;
  double own_scale_ = 1.0;     ///< max|q| in the problem's own tangents, m/s
  std::vector<double> shown_;  ///< the iterate in the problem's own tangents, for the observer
};

}  // namespace signorini
