#include "solvers/portfolio/stages.h"

#include <algorithm>

namespace signorini {

StopRule Stages::left(int most) const {
  StopRule rule = stop_;
  rule.max_iterations = std::min(most, stop_.max_iterations - whole.iterations);
  rule.time_limit = std::max(0.0, stop_.time_limit - watch_.seconds());
  return rule;
}

void Stages::add(const SolveReport& stage) {
  whole.status = stage.status;
  whole.iterations += stage.iterations;
  for (std::size_t p = 0; p < whole.phase_iterations.size(); ++p)
    whole.phase_iterations[p] += stage.phase_iterations[p];
  whole.products += stage.products;
  whole.counters += stage.counters;
  whole.own_residual = stage.own_residual;
  offset_ += stage.iterations;
  first_ = false;
}

void Stages::on_iteration(int iteration, std::span<const double> r, std::string_view phase) {
  if (iteration == 0 && !first_) return;
  outer_->on_iteration(iteration + offset_, r, iteration == 0 ? phase : phase_of(phase));
}

void Stages::on_progress(int iteration, const IterationProgress& progress) {
  outer_->on_progress(iteration + offset_, progress);
}

}  // namespace signorini
