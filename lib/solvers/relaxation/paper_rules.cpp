#include "solvers/relaxation/paper_rules.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace signorini {

void PaperThresholds::validate(std::string_view context) const {
  if (eps >= 0.0 && delta >= 0.0) return;
  throw_usage("{}: thresholds must not be negative (eps {}, delta {})", context, eps, delta);
}

Norms step_norms(std::span<const double> r, std::span<const double> previous) {
  Norms norms;
  for (std::size_t i = 0; i < r.size(); ++i) norms.add(r[i] - previous[i]);
  return norms.rooted();
}

double impulse_scale(const GaussSeidelData& data, double velocity_scale) {
  double softest = std::numeric_limits<double>::infinity();
  for (const Matrix3& block : data.diagonal) {
    if (block(0, 0) > 0.0) softest = std::min(softest, block(0, 0));
  }
  return velocity_scale / softest;
}

PaperRules::PaperRules(const PaperThresholds& thresholds, double impulse_scale, double velocity_scale)
    : active_(true), eps_(thresholds.eps * impulse_scale), delta_(thresholds.delta * velocity_scale) {}

bool PaperRules::met(const Norms& step, const Norms& residual) const {
  return active_ && (step.two <= eps_ || residual.two <= delta_);
}

}  // namespace signorini
