#include "harness/replay_answer.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

namespace signorini {
namespace {

/// Of successive iterations: two per octave.
constexpr double kLeastRatio = 1.4142135623730951;

/// Residuals of all contacts at the iterations of a schedule.
class ContactErrorsObserver : public IterationObserver {
 public:
  ContactErrorsObserver(const RunTarget& target, LawSpec law, std::vector<int> schedule, ReplayAnswer& out)
      : target_(target), law_(law), schedule_(std::move(schedule)), out_(out) {}

  void on_iteration(int iteration, std::span<const double> r, std::string_view) override {
    if (next_ == schedule_.size() || iteration < schedule_[next_]) return;
    out_.at.push_back(iteration);
    out_.errors_at.emplace_back(target_.problem->contacts());
    target_.referee->contact_errors(r, law_, out_.errors_at.back());
    while (next_ < schedule_.size() && schedule_[next_] <= iteration) ++next_;
  }

 private:
  const RunTarget& target_;
  LawSpec law_;
  std::vector<int> schedule_;
  std::size_t next_ = 0;
  ReplayAnswer& out_;
};

/// Fills in what the referee says of `answer.r`.
void judge(const RunTarget& target, LawSpec law, ReplayAnswer& answer) {
  const std::span<const double> r = span_of(std::as_const(answer.r));
  answer.u = target.referee->relative_velocity(r);
  answer.errors.resize(target.problem->contacts());
  target.referee->contact_errors(r, law, answer.errors);
  for (const ContactEnd& end : contact_ends(r, target.problem->mu, law, span_of(target.referee->q())))
    answer.states.push_back(end.state);
}

}  // namespace

std::vector<int> replay_schedule(int last) {
  const double ratio =
      std::max(kLeastRatio, std::pow(static_cast<double>(std::max(last, 1)), 1.0 / (kReplayIterates - 3)));
  std::vector<int> schedule{0};
  for (double next = 1.0; next <= last && std::ssize(schedule) < kReplayIterates - 1; next *= ratio) {
    const int iteration = static_cast<int>(std::lround(next));
    if (iteration > schedule.back()) schedule.push_back(iteration);
  }
  return schedule;
}

ReplayAnswer solve_for_replay(const RunTarget& target, const SolverVariant& variant,
                              const RunLimits& limits) {
  ReplayAnswer answer;
  PreparedRun run = prepare_run(target, variant, RegionMode::none, 1);
  std::unique_ptr<ContactErrorsObserver> observer;
  if (run.solver) {
    observer = std::make_unique<ContactErrorsObserver>(target, run.solver->common().spec(),
                                                       replay_schedule(limits.max_iterations), answer);
  }
  SolveOutcome outcome = solve_self_stopped(target, run, limits, observer.get());
  answer.status = outcome.record.status;
  answer.iterations = outcome.record.iterations;
  answer.residual = outcome.record.errors.residual;
  answer.message = outcome.record.message;
  if (!is_answer(outcome)) {
    answer.at.clear();
    answer.errors_at.clear();
    return answer;
  }
  answer.r = std::move(outcome.r);
  judge(target, run.solver->common().spec(), answer);
  if (!answer.at.empty() && answer.at.back() >= answer.iterations) {
    answer.at.pop_back();
    answer.errors_at.pop_back();
  }
  answer.at.push_back(answer.iterations);
  answer.errors_at.push_back(answer.errors);
  return answer;
}

ReplayAnswer recorded_answer(const RunTarget& target, const Vector& impulse, LawSpec law, double tolerance) {
  ReplayAnswer answer;
  answer.r = impulse;
  judge(target, law, answer);
  answer.residual = target.referee->measure(span_of(impulse), law).residual;
  answer.status = meets(answer.residual, tolerance) ? SolveStatus::converged : SolveStatus::stalled;
  return answer;
}

}  // namespace signorini
