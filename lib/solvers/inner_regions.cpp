#include "solvers/inner_regions.h"

#include <fmt/format.h>

#include "solvers/ica.h"

namespace signorini {

InnerRegions::InnerRegions(std::unique_ptr<Solver> inner, int threads)
    : arena_(std::make_unique<TaskArena>(threads)), inner_(std::move(inner)) {
  inner_->use_arena(arena_.get());
}

std::string InnerRegions::unsupported_reason(const ContactProblem& problem) const {
  if (inner_->name() != Ica::kName) {
    return fmt::format(
        "region mode points-inner is for the inner problem of 'ica', and '{}' has none; use islands, or "
        "points "
        "where M couples no mass points",
        inner_->name());
  }
  return inner_->unsupported_reason(problem);
}

void InnerRegions::prepare(const ContactProblem& problem) {
  partition_ = partition_regions(problem, RegionMode::points_inner);
  inner_->prepare(problem);
}

void InnerRegions::update_contacts(const ContactProblem& problem) {
  partition_ = partition_regions(problem, RegionMode::points_inner);
  inner_->update_contacts(problem);
}

SolveReport InnerRegions::solve(std::span<double> r, const StopRule& stop, IterationObserver* observer) {
  return inner_->solve(r, stop, observer);
}

}  // namespace signorini
