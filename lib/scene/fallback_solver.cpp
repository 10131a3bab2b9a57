#include "scene/fallback_solver.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "solvers/stop_test.h"

namespace signorini {

namespace {

/// The report of the second solve with the work of the first one added.
SolveReport joined(SolveReport report, const SolveReport& before) {
  report.iterations += before.iterations;
  report.products += before.products;
  report.counters += before.counters;
  ++report.counters.guards;
  return report;
}

}  // namespace

FallbackSolver::FallbackSolver(std::unique_ptr<Solver> first, std::unique_ptr<Solver> second,
                               double accepted_residual)
    : first_(std::move(first)), second_(std::move(second)), accepted_residual_(accepted_residual) {
  const LawSpec a = first_->common().spec(), b = second_->common().spec();
  if (a.law != b.law || a.frame != b.frame) {
    throw_usage("'{}' cannot stand in for '{}': they have different friction laws", second_->name(),
                first_->name());
  }
}

std::unique_ptr<Solver> FallbackSolver::fresh() const {
  return std::make_unique<FallbackSolver>(first_->fresh(), second_->fresh(), accepted_residual_);
}

std::string FallbackSolver::unsupported_reason(const ContactProblem& problem) const {
  return first_->unsupported_reason(problem);
}

void FallbackSolver::use_arena(TaskArena* arena) {
  first_->use_arena(arena);
  second_->use_arena(arena);
}

void FallbackSolver::prepare(const ContactProblem& problem) {
  first_->prepare(problem);
  problem_ = &problem;
  second_is_prepared_ = false;
}

void FallbackSolver::update_contacts(const ContactProblem& problem) {
  first_->update_contacts(problem);
  problem_ = &problem;
  second_is_prepared_ = false;
}

bool FallbackSolver::fails(const SolveReport& report, std::span<const double> r) const {
  if (!all_finite(r)) return true;
  return report.status != SolveStatus::converged && !(report.own_residual <= accepted_residual_);
}

SolveReport FallbackSolver::solve(std::span<double> r, const StopRule& stop, IterationObserver* observer) {
  start_.assign(r.begin(), r.end());
  const SolveReport before = first_->solve(r, stop, observer);
  if (before.status == SolveStatus::unsupported || is_cancelled(stop.cancelled) || !fails(before, r))
    return before;
  if (!second_->unsupported_reason(*problem_).empty()) return before;
  if (!second_is_prepared_) second_->prepare(*problem_);
  second_is_prepared_ = true;
  answer_.assign(r.begin(), r.end());
  std::copy(start_.begin(), start_.end(), r.begin());
  const SolveReport after = second_->solve(r, stop, observer);
  if (!fails(after, r) || !all_finite(answer_) || after.own_residual < before.own_residual)
    return joined(after, before);
  std::copy(answer_.begin(), answer_.end(), r.begin());
  SolveReport report = joined(after, before);
  report.status = before.status;
  report.own_residual = before.own_residual;
  report.message = before.message;
  return report;
}

}  // namespace signorini
