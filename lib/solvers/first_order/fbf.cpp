#include "solvers/first_order/fbf.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace signorini {

namespace {

constexpr double kRatio = 0.9;         ///< ν
constexpr double kTimid = 0.4;         ///< ratios below it allow longer steps
constexpr double kGrowth = 1.5;        ///< of τ then
constexpr double kOverRelaxed = 1.8;   ///< γ
constexpr double kShrink = 2.0 / 3.0;  ///< of τ where the ratio is too large

}  // namespace

void Fbf::prepare_island(ReducedProblem problem, Vector mu) {
  set_problem(std::move(problem), std::move(mu), options_.common.law);
  for (Point* point : {&now_, &trial_}) {
    point->r.assign(cones_.rows(), 0.0);
    point->u.assign(cones_.rows(), 0.0);
    point->shift.assign(cones_.contacts(), 0.0);
  }
  pull_.assign(cones_.rows(), 0.0);
  least_tau_ = kRatio / (largest_curvature_ * (1.0 + 2.0 * cones_.largest_friction()));
}

Iteration Fbf::start(std::span<double> r, const StopTest& stop) {
  begin(stop, LawForm::exact);
  tau_ = 1.0;
  std::copy(r.begin(), r.end(), now_.r.begin());
  evaluate_at(now_);
  return tell_start(now_.r, now_.u);
}

Iteration Fbf::iterate(std::span<double> r) {
  const double ratio = predict();
  const double correction = cones_.largest_distance(now_.r, trial_.r) / tau_;
  std::copy(trial_.r.begin(), trial_.r.end(), r.begin());
  correct();
  if (ratio < kTimid) tau_ *= kGrowth;
  const Iteration iteration = tell(r, trial_.u, correction);
  evaluate_at(now_);
  return iteration;
}

void Fbf::evaluate_at(Point& point) {
  evaluate(point.r, point.u);
  cones_.measure_shift(point.u, point.shift);
}

/// z with F(x) − F(z), and the ratio τ ‖F(x) − F(z)‖/‖x − z‖.
double Fbf::predict() {
  const std::span<const double> step = cones_.step();
  for (;;) {
    cones_.descend(now_.r, tau_, now_.u, now_.shift, trial_.r, arena_);
    evaluate_at(trial_);
    for (std::size_t i = 0; i < pull_.size(); ++i) pull_[i] = now_.u[i] - trial_.u[i];
    for (std::size_t k = 0; k < now_.shift.size(); ++k) pull_[3 * k] += now_.shift[k] - trial_.shift[k];
    const double way = std::sqrt(cones_.squared_distance(now_.r, trial_.r));
    if (!(way > 0.0)) return 1.0;  // at rest: τ stays
    const double pulled =
        std::sqrt(sum_in_order(pull_.size(), [&](std::size_t i) { return step[i] * pull_[i] * pull_[i]; }));
    const double ratio = tau_ * pulled / way;
    if (!(ratio > kRatio) || tau_ <= least_tau_) return ratio;
    tau_ = std::max(least_tau_, tau_ * kShrink * std::min(1.0, 1.0 / ratio));
    ++counters_.guards;
  }
}

/// x ← x − κ g with g = x − z − τ S⁻¹(F(x) − F(z)).
void Fbf::correct() {
  const std::span<const double> step = cones_.step(), weight = cones_.weight();
  for (std::size_t i = 0; i < pull_.size(); ++i)
    pull_[i] = now_.r[i] - trial_.r[i] - tau_ * step[i] * pull_[i];
  double kappa = 1.0;
  if (options_.length == FbfLength::contraction) {
    const double along = sum_in_order(
        pull_.size(), [&](std::size_t i) { return weight[i] * (now_.r[i] - trial_.r[i]) * pull_[i]; });
    const double square =
        sum_in_order(pull_.size(), [&](std::size_t i) { return weight[i] * pull_[i] * pull_[i]; });
    if (along > 0.0 && square > 0.0) kappa = kOverRelaxed * along / square;
  }
  for (std::size_t i = 0; i < pull_.size(); ++i) now_.r[i] -= kappa * pull_[i];
}

}  // namespace signorini
