#pragma once

#include <span>
#include <string>
#include <vector>

#include "solvers/delassus_solver.h"
#include "solvers/relaxation/ordered_sweep.h"

/// The base of `pgs`, `nsgs`, `nncg` and `anderson`: sweeps in an order that the option `order` names (sweep_plan.h).
///
/// Between `solve` and the method the contacts are renumbered; start impulses, answers and the iterates that an
/// observer sees have the problem's own numbers. With the natural order nothing is moved.
namespace signorini {

class SweepingSolver : public DelassusSolver {
 public:
  std::string unsupported_reason(const ContactProblem& problem) const override;
  bool works_on_impulses(const ContactProblem& problem) const override {
    return !takes_body_rows(problem, matrix());
  }
  void prepare(const ContactProblem& problem) override;
  /// False where contacts are renumbered or sweeps read the rows of bodies.
  bool follows_free_velocity() const override { return plan_.contact.empty() && !data_.bodies; }
  SolveReport solve(std::span<double> r, const StopRule& rule, IterationObserver* observer) override;
  /// Of a sweep, in contacts.
  WorkAndSpan work_and_span(int cores) const override { return sweep_.work_and_span(cores); }

 protected:
  /// What a sweep is to read; where that is the rows of bodies, `prepare` calls `prepare_bodies`.
  virtual SweepMatrix matrix() const { return SweepMatrix::delassus; }
  virtual void prepare_bodies(const ContactProblem& /*problem*/) {}

  /// Called by `prepare_island`; `data_` is then in the order of the sweeps.
  void set_sweeps(ReducedProblem problem, Vector mu, FrictionLaw law, TangentChoice tangent,
                  SweepOrder order);
  /// Called by `prepare_bodies`: the same with the rows of bodies. W is not formed.
  void set_body_sweeps(const ContactProblem& problem, FrictionLaw law, TangentChoice tangent,
                       SweepOrder order);
  /// The `Iteration` of one `OrderedSweep::run` or `step`.
  Iteration swept_in_order(double correction) {
    for (int i = 1; i < sweep_.sweeps(); ++i) swept(correction);
    return swept(correction);
  }

  SweepPlan plan_;
  OrderedSweep sweep_;

 private:
  void start_sweeps();

  std::vector<double> placed_, shown_;  ///< 3m, N·s; empty where nothing is moved
};

}  // namespace signorini
