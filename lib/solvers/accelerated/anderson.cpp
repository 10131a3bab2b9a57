#include "solvers/accelerated/anderson.h"

#include <cmath>
#include <limits>
#include <utility>

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

void AndersonOptions::validate() const {
  if (window < 0 || window > AndersonHistory::kMostColumns)
    throw_usage("solver 'anderson': window = {} must be in [0, {}]", window, AndersonHistory::kMostColumns);
}

void Anderson::prepare_island(ReducedProblem problem, Vector mu) {
  const FrictionLaw law = options_.common.law;
  set_sweeps(std::move(problem), std::move(mu), law, TangentChoice::automatic, options_.order);
  change_.resize(u_.size());
  if (options_.window > 0) history_.prepare(metric_roots(data_), options_.window);
}

Iteration Anderson::start(std::span<double> /*r*/, const StopTest& /*stop*/) {
  reset_counters();
  swept_once_ = false;
  old_square_ = std::numeric_limits<double>::infinity();
  guard_ = {};
  if (options_.window > 0) history_.forget();
  return {};
}

Iteration Anderson::iterate(std::span<double> r) {
  if (swept_once_ && options_.window > 0) {
    if (may_accelerate()) {
      history_.append(r, change_);
      history_.extrapolate(r);
    } else {
      history_.forget();
    }
    old_square_ = square_;
  }
  swept_once_ = true;
  const SweepStep step = sweep_.step(change_, r, change_, arena_);
  square_ = step.square;
  return swept_in_order(step.correction);
}

bool Anderson::may_accelerate() {
  if (options_.guard == AndersonGuard::none) return true;
  const bool allowed = guard_.allows(square_);
  counters_.guards = guard_.spells();
  if (!allowed) return false;
  if (square_ <= kGrowth * kGrowth * old_square_) return true;
  ++counters_.restarts;
  return false;
}

}  // namespace signorini
