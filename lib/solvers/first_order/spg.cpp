#include "solvers/first_order/spg.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace signorini {

namespace {

constexpr double kDescent = 1e-4;  ///< γ of the paper
constexpr double kLongestStep = 1e6;

}  // namespace

void SpgOptions::validate() const {
  if (memory < 1 || memory > Spg::kMostMemory)
    throw_usage("solver 'spg': memory = {} must be 1 to {}", memory, Spg::kMostMemory);
  validate_inner("spg", inner);
}

void Spg::prepare_island(ReducedProblem problem, Vector mu) {
  set_problem(std::move(problem), std::move(mu), options_.common.law);
  shift_.prepare(cones_);
  for (auto* x : {&trial_, &u_now_, &u_trial_}) x->assign(cones_.rows(), 0.0);
}

Iteration Spg::start(std::span<double> r, const StopTest& stop) {
  begin(stop, options_.law_form);
  alpha_ = 1.0;
  short_next_ = false;
  fresh_ = true;
  remembered_ = newest_ = 0;
  remember(0.0);
  evaluate(r, u_now_);
  shift_.start(options_.law_form, options_.inner, u_now_);
  return tell_start(r, u_now_);
}

Iteration Spg::iterate(std::span<double> r) {
  if (fresh_ && cones_.make_admissible(r)) evaluate(r, u_now_);
  fresh_ = false;
  const std::span<const double> shift = shift_.shift();
  cones_.descend(r, alpha_, u_now_, shift, trial_, arena_);
  evaluate(trial_, u_trial_);
  const double correction = cones_.largest_distance(trial_, r) / alpha_;
  const double length = std::sqrt(cones_.squared_distance(trial_, r)) / alpha_;
  const double slope =
      sum_in_order(r.size(), [&](std::size_t i) { return (trial_[i] - r[i]) * u_now_[i]; }) +
      sum_in_order(shift.size(), [&](std::size_t k) { return (trial_[3 * k] - r[3 * k]) * shift[k]; });
  const double bend =
      sum_in_order(r.size(), [&](std::size_t i) { return (trial_[i] - r[i]) * (u_trial_[i] - u_now_[i]); });
  const double lambda = step_length(slope, bend);
  choose_step(r, bend);
  remember(lambda * slope + 0.5 * lambda * lambda * bend);
  if (lambda == 1.0) {
    std::copy(trial_.begin(), trial_.end(), r.begin());
    std::swap(u_now_, u_trial_);
  } else {
    for (std::size_t i = 0; i < r.size(); ++i) {
      r[i] += lambda * (trial_[i] - r[i]);
      u_now_[i] += lambda * (u_trial_[i] - u_now_[i]);
    }
  }
  if (shift_.update(u_now_, length)) {
    ++counters_.relinearisations;
    remembered_ = newest_ = 0;
    remember(0.0);
  }
  return tell(r, u_now_, correction);
}

/// λ: 1, or the minimiser of the parabola f(r) + λ slope + ½ λ² bend where 1 rises above the memory.
double Spg::step_length(double slope, double bend) {
  const double highest = *std::max_element(height_.begin(), height_.begin() + remembered_);
  if (!(slope < 0.0) || !(slope + 0.5 * bend > highest + kDescent * slope)) return 1.0;
  ++counters_.guards;
  return std::min(1.0, -slope / bend);
}

/// f changes by `change`: heights are counted from the new value.
void Spg::remember(double change) {
  for (int i = 0; i < remembered_; ++i) height_[static_cast<std::size_t>(i)] -= change;
  if (remembered_ < options_.memory) {
    newest_ = remembered_++;
  } else {
    newest_ = (newest_ + 1) % options_.memory;
  }
  height_[static_cast<std::size_t>(newest_)] = 0.0;
}

/// α of the next iteration from d = p − r and W d; both scale with λ alike.
void Spg::choose_step(std::span<const double> r, double bend) {
  const bool short_step =
      options_.step == SpectralStep::short_step || (options_.step == SpectralStep::alternate && short_next_);
  short_next_ = !short_next_;
  const double length = cones_.squared_distance(trial_, r);
  if (!(length > 0.0)) return;  // at rest
  alpha_ = kLongestStep;
  if (!(bend > 0.0)) return;
  const std::span<const double> step = cones_.step();
  const double pull = sum_in_order(r.size(), [&](std::size_t i) {
    const double change = u_trial_[i] - u_now_[i];
    return step[i] * change * change;
  });
  alpha_ = std::clamp(short_step ? bend / pull : length / bend, 1.0 / largest_curvature_, kLongestStep);
}

}  // namespace signorini
