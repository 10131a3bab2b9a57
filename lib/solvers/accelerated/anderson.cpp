#include "solvers/accelerated/anderson.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace signorini {

namespace {

/// The most that |d| may grow from one sweep to the next.
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
  set_data(make_gauss_seidel_data(std::move(problem.W), std::move(problem.q), std::move(mu), law,
                                  natural_tangent_step(law)));
  change_.resize(u_.size());
  if (options_.window > 0) history_.prepare(metric_roots(data_), options_.window);
}

Iteration Anderson::start(std::span<double> /*r*/, const StopTest& /*stop*/) {
  reset_counters();
  paired_ = false;
  guard_ = {};
  if (options_.window > 0) history_.forget();
  return {};
}

Iteration Anderson::iterate(std::span<double> r) {
  const bool accelerated = paired_ && options_.window > 0 && accelerate(r);
  const SweepStep step = gauss_seidel_step(data_, r, change_);
  const bool grew = accelerated && options_.guard == AndersonGuard::growth &&
                    step.square > kGrowth * kGrowth * square_;
  if (grew) {
    take_back(r);
    return swept(correction_);
  }
  paired_ = true;
  correction_ = step.correction;
  square_ = step.square;
  return swept(step.correction);
}

/// r = y of the last sweep ← the point that the history offers; false where it offers none.
bool Anderson::accelerate(std::span<double> r) {
  if (options_.guard == AndersonGuard::growth) {
    const bool allowed = guard_.allows(square_);
    counters_.guards += allowed ? 0 : 1;
    if (!allowed) {
      history_.forget();
      return false;
    }
  }
  history_.append(r, change_);
  return history_.extrapolate(r);
}

void Anderson::take_back(std::span<double> r) {
  const std::span<const double> before = history_.last();
  std::copy(before.begin(), before.end(), r.begin());
  history_.forget();
  paired_ = false;
  ++counters_.restarts;
}

}  // namespace signorini
