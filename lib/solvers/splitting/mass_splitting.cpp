#include "solvers/splitting/mass_splitting.h"

#include <utility>

#include "solvers/relaxation/body_rows.h"

namespace signorini {
namespace {

/// Iterations that `anderson` combines.
constexpr int kWindow = 5;

}  // namespace

std::string MassSplitting::unsupported_reason(const ContactProblem& problem) const {
  return works_on_impulses(problem) ? DelassusSolver::unsupported_reason(problem) : "";
}

bool MassSplitting::works_on_impulses(const ContactProblem& problem) const {
  return !body_rows_refusal(problem).empty();
}

void MassSplitting::prepare(const ContactProblem& problem) {
  if (works_on_impulses(problem)) return DelassusSolver::prepare(problem);
  set_sweeps(make_gauss_seidel_data(make_body_rows(problem), problem.mu, options_.common.law,
                                    TangentChoice::automatic));
}

void MassSplitting::prepare_island(ReducedProblem problem, Vector mu) {
  set_sweeps(make_gauss_seidel_data(std::move(problem.W), std::move(problem.q), std::move(mu),
                                    options_.common.law, TangentChoice::automatic));
}

void MassSplitting::set_sweeps(GaussSeidelData data) {
  set_data(std::move(data));
  sweep_.prepare(data_);
  if (options_.outer == SplittingOuter::nesterov) nesterov_.prepare(data_, sweep_);
  if (options_.outer == SplittingOuter::nncg) nncg_.prepare(data_, sweep_);
  if (options_.outer == SplittingOuter::anderson) anderson_.prepare(data_, sweep_, kWindow);
  change_.assign(u_.size(), 0.0);
}

Iteration MassSplitting::start(std::span<double> /*r*/, const StopTest& /*stop*/) {
  reset_counters();
  nesterov_.start();
  nncg_.start();
  anderson_.start();
  return {};
}

SweepStep MassSplitting::step(std::span<double> r) {
  switch (options_.outer) {
    case SplittingOuter::nesterov:
      return nesterov_.step(r, arena_);
    case SplittingOuter::nncg:
      return nncg_.step(r, arena_);
    case SplittingOuter::anderson:
      return anderson_.step(r, arena_);
    case SplittingOuter::none:
      break;
  }
  return sweep_.step(change_, r, change_, arena_);
}

Iteration MassSplitting::iterate(std::span<double> r) {
  const SweepStep taken = step(r);
  counters_.restarts = nesterov_.restarts() + nncg_.restarts() + anderson_.restarts();
  counters_.guards = nesterov_.guards() + nncg_.guards() + anderson_.guards();
  return swept(taken.correction);
}

}  // namespace signorini
