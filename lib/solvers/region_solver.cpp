#include "solvers/region_solver.h"

#include <fmt/format.h>

#include <utility>

#include "base/check.h"
#include "solvers/region_tasks.h"
#include "solvers/registry.h"

namespace signorini {

void RegionSolver::limit_iterations(std::span<const int> limits) { SIGNORINI_CHECK(limits.empty()); }

UncutProblem::UncutProblem(std::unique_ptr<Solver> inner, RegionOptions options)
    : ForwardingSolver(std::move(inner)), options_(options) {
  if (options_.mode != RegionMode::points_inner) return;
  arena_ = std::make_unique<TaskArena>(options_.threads);
  inner_->use_arena(arena_.get());
}

std::unique_ptr<Solver> UncutProblem::fresh() const {
  return std::make_unique<UncutProblem>(inner_->fresh(), options_);
}

std::string UncutProblem::unsupported_reason(const ContactProblem& problem) const {
  if (options_.mode == RegionMode::points_inner && !traits().inner_regions) {
    return fmt::format(
        "region mode points-inner is for the inner problem of 'ica', and '{}' has none; use islands, or "
        "points "
        "where M couples no mass points",
        name());
  }
  return inner_->unsupported_reason(problem);
}

void UncutProblem::prepare(const ContactProblem& problem) {
  partition_ = partition_regions(problem, options_.mode);
  inner_->prepare(problem);
}

void UncutProblem::update_contacts(const ContactProblem& problem) {
  partition_ = partition_regions(problem, options_.mode);
  inner_->update_contacts(problem);
}

SolveReport UncutProblem::solve(std::span<double> r, const StopRule& stop, IterationObserver* observer) {
  if (arena_) {
    arena_->forget_busiest();
    arena_->begin_alone(options_.head_start);
  }
  return inner_->solve(r, stop, observer);
}

std::unique_ptr<RegionSolver> with_regions(std::unique_ptr<Solver> solver, RegionOptions regions) {
  if (regions.threads < 1) throw_usage("threads: {} is not at least 1", regions.threads);
  if (regions.mode == RegionMode::none || regions.mode == RegionMode::points_inner)
    return std::make_unique<UncutProblem>(std::move(solver), regions);
  return std::make_unique<RegionTasks>(std::move(solver), regions);
}

std::unique_ptr<RegionSolver> make_region_solver(std::string_view name, const OptionMap& options,
                                                 RegionOptions regions) {
  return with_regions(make_solver(name, options), regions);
}

}  // namespace signorini
