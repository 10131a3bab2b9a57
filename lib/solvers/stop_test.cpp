#include "solvers/stop_test.h"

#include <algorithm>
#include <cmath>

#include "contact/velocity_scale.h"

namespace signorini {

namespace {

constexpr double kSafety = 0.999;

}  // namespace

double velocity_scale(const Vector& q) {
  double largest = 0.0;
  for (const double value : q) largest = std::max(largest, std::abs(value));
  return velocity_scale_of(largest);
}

StopTest::StopTest(const StopRule& rule, double own_scale)
    : rule_(rule),
      scale_(rule.velocity_scale > 0.0 ? rule.velocity_scale : own_scale),
      tolerance_(rule.fixed_iterations ? 0.0 : kSafety * rule.residual * scale_),
      timed_(rule.time_limit < std::numeric_limits<double>::infinity()) {}

void BestIterate::offer(std::span<const double> r, double error) {
  if (has_ && !(error < error_)) return;
  std::copy(r.begin(), r.end(), r_.begin());
  error_ = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
  has_ = true;
}

void BestIterate::restore(std::span<double> r) const {
  if (has_) {
    std::copy(r_.begin(), r_.end(), r.begin());
  } else {
    std::fill(r.begin(), r.end(), 0.0);
  }
}

bool all_finite(std::span<const double> r) {
  return std::all_of(r.begin(), r.end(), [](double x) { return std::isfinite(x); });
}

void make_finite(std::span<double> r) {
  if (!all_finite(r)) std::fill(r.begin(), r.end(), 0.0);
}

}  // namespace signorini
