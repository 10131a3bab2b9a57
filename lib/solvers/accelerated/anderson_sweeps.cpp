#include "solvers/accelerated/anderson_sweeps.h"

#include <cmath>

namespace signorini {

namespace {

/// The most that |d| may grow from one sweep to the next. From 1 to 10 there is little between them.
constexpr double kGrowth = 2.0;

/// 1/√ρ of every row.
std::vector<double> metric_roots(const GaussSeidelData& data) {
  std::vector<double> roots;
  roots.reserve(3 * data.contact.size());
  for (const GaussSeidelContact& contact : data.contact) {
    for (const double inverse_mass : contact.inverse_mass) roots.push_back(std::sqrt(inverse_mass));
  }
  return roots;
}

}  // namespace

void AndersonSweeps::prepare(const GaussSeidelData& data, const SweepPlan& plan, int window) {
  map_ = nullptr;
  sweep_.prepare(data, plan);
  prepare_history(data, window);
}

void AndersonSweeps::prepare(const GaussSeidelData& data, SweepMap& map, int window) {
  map_ = &map;
  prepare_history(data, window);
}

void AndersonSweeps::prepare_history(const GaussSeidelData& data, int window) {
  window_ = window;
  change_.assign(3 * data.contact.size(), 0.0);
  if (window > 0) history_.prepare(metric_roots(data), window);
}

void AndersonSweeps::start(bool guarded) {
  guarded_ = guarded;
  swept_once_ = false;
  old_square_ = std::numeric_limits<double>::infinity();
  restarts_ = 0;
  guard_ = {};
  if (window_ > 0) history_.forget();
}

SweepStep AndersonSweeps::step(std::span<double> r, TaskArena* arena) {
  if (swept_once_ && window_ > 0) {
    if (may_accelerate()) {
      history_.append(r, change_);
      history_.extrapolate(r);
    } else {
      history_.forget();
    }
    old_square_ = square_;
  }
  swept_once_ = true;
  const SweepStep step =
      map_ ? map_->step(change_, r, change_, arena) : sweep_.step(change_, r, change_, arena);
  square_ = step.square;
  return step;
}

bool AndersonSweeps::may_accelerate() {
  if (!guarded_) return true;
  if (!guard_.allows(square_)) return false;
  if (square_ <= kGrowth * kGrowth * old_square_) return true;
  ++restarts_;
  return false;
}

}  // namespace signorini
