#include "solvers/first_order/apgd.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace signorini {

namespace {

constexpr double kGrowth = 2.0, kDecay = 0.9;
/// Of L: below it, steps are longer than any curvature of a scaled W asks for.
constexpr double kLeastLipschitz = 1e-3;

}  // namespace

void Apgd::prepare_island(ReducedProblem problem, Vector mu) {
  set_problem(std::move(problem), std::move(mu), options_.common.law);
  shift_.prepare(cones_);
  for (auto* x : {&before_, &point_, &next_, &u_now_, &u_before_, &u_point_, &u_next_})
    x->assign(cones_.rows(), 0.0);
}

Iteration Apgd::start(std::span<double> r, const StopTest& stop) {
  begin(stop, options_.law_form);
  lipschitz_ = 1.0;
  theta_ = 1.0;
  beta_ = 0.0;
  evaluate(r, u_now_);
  std::copy(r.begin(), r.end(), before_.begin());
  u_before_ = u_now_;
  shift_.start(options_.law_form, options_.inner, u_now_);
  return tell_start(r, u_now_);
}

Iteration Apgd::iterate(std::span<double> r) {
  extrapolate(r);
  descend();
  const double correction = lipschitz_ * cones_.largest_distance(next_, point_);
  const double length = lipschitz_ * std::sqrt(cones_.squared_distance(next_, point_));
  if (options_.restart == ApgdRestart::gradient && goes_uphill(r)) {
    theta_ = 1.0;
    beta_ = 0.0;
    ++counters_.restarts;
  } else {
    const double next = 0.5 * theta_ * (std::sqrt(theta_ * theta_ + 4.0) - theta_);
    beta_ = theta_ * (1.0 - theta_) / (theta_ * theta_ + next);
    theta_ = next;
  }
  lipschitz_ = std::max(kLeastLipschitz, kDecay * lipschitz_);
  std::copy(r.begin(), r.end(), before_.begin());
  std::copy(next_.begin(), next_.end(), r.begin());
  std::swap(u_before_, u_now_);
  std::swap(u_now_, u_next_);
  if (shift_.update(u_now_, length)) ++counters_.relinearisations;
  return tell(r, u_now_, correction);
}

/// y = r + β (r − r before); u is affine in r.
void Apgd::extrapolate(std::span<const double> r) {
  for (std::size_t i = 0; i < r.size(); ++i) {
    point_[i] = r[i] + beta_ * (r[i] - before_[i]);
    u_point_[i] = u_now_[i] + beta_ * (u_now_[i] - u_before_[i]);
  }
}

/// r⁺ and its velocities, with the first L that bounds the curvature along the step.
void Apgd::descend() {
  for (;;) {
    cones_.descend(point_, 1.0 / lipschitz_, u_point_, shift_.shift(), next_, arena_);
    evaluate(next_, u_next_);
    const double bend = sum_in_order(
        next_.size(), [&](std::size_t i) { return (next_[i] - point_[i]) * (u_next_[i] - u_point_[i]); });
    const double bound = lipschitz_ * cones_.squared_distance(next_, point_);
    if (!(bend > bound && lipschitz_ < largest_curvature_)) return;
    lipschitz_ = std::min(kGrowth * lipschitz_, largest_curvature_);
    ++counters_.guards;
  }
}

bool Apgd::goes_uphill(std::span<const double> r) const {
  return cones_.product(point_, next_, next_, r) > 0.0;
}

}  // namespace signorini
