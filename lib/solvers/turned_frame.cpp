#include "solvers/turned_frame.h"

#include <algorithm>
#include <utility>

#include "contact/delassus_operator.h"
#include "solvers/stop_test.h"

namespace signorini {

namespace {

/// Turns every iterate back before it is shown.
class TurnedObserver : public IterationObserver {
 public:
  TurnedObserver(IterationObserver& target, std::span<const TangentTurn> turns, std::span<double> shown)
      : target_(target), turns_(turns), shown_(shown) {}

  void on_iteration(int iteration, std::span<const double> r, std::string_view phase) override {
    std::copy(r.begin(), r.end(), shown_.begin());
    turn_impulses(shown_, turns_, -1);
    target_.on_iteration(iteration, shown_, phase);
  }
  /// Norms over rows of a contact are those of the turned rows: nothing to turn back.
  void on_progress(int iteration, const IterationProgress& progress) override {
    target_.on_progress(iteration, progress);
  }

 private:
  IterationObserver& target_;
  std::span<const TangentTurn> turns_;
  std::span<double> shown_;
};

}  // namespace

TurnedFrame::TurnedFrame(std::unique_ptr<Solver> inner)
    : ForwardingSolver(std::move(inner)), traits_(inner_->traits()) {
  if (traits_.needs == SolverNeeds::delassus) traits_.needs = SolverNeeds::either;
}

void TurnedFrame::prepare(const ContactProblem& problem) {
  turn(problem);
  inner_->prepare(*turned_);
}

void TurnedFrame::update_contacts(const ContactProblem& problem) {
  turn(problem);
  inner_->update_contacts(*turned_);
}

void TurnedFrame::turn(const ContactProblem& problem) {
  const Vector q = assemble_q(problem);
  const std::vector<double> angles = turned_angles(inner_->common().spec(), span_of(q));
  turns_ = tangent_turns(angles);
  turned_ = turn_tangents(problem, angles);
  shown_.resize(3 * problem.contacts());
  own_scale_ = velocity_scale(q);
}

SolveReport TurnedFrame::solve(std::span<double> r, const StopRule& rule, IterationObserver* observer) {
  StopRule stop = rule;
  if (!(stop.velocity_scale > 0.0)) stop.velocity_scale = own_scale_;
  turn_impulses(r, turns_, +1);
  SolveReport report;
  if (observer == nullptr) {
    report = inner_->solve(r, stop, nullptr);
  } else {
    TurnedObserver turned(*observer, turns_, shown_);
    report = inner_->solve(r, stop, &turned);
  }
  turn_impulses(r, turns_, -1);
  return report;
}

}  // namespace signorini
