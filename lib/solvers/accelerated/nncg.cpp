#include "solvers/accelerated/nncg.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "linalg/dot.h"

namespace signorini {

void NncgOptions::validate() const {
  if (!(restart_above >= 0.0 && std::isfinite(restart_above)))
    throw_usage("solver 'nncg': restart_above = {} must be a number of at least 0", restart_above);
}

void Nncg::prepare_island(ReducedProblem problem, Vector mu) {
  const FrictionLaw law = options_.common.law;
  set_data(make_gauss_seidel_data(std::move(problem.W), std::move(problem.q), std::move(mu), law,
                                  natural_tangent_step(law)));
  change_.resize(u_.size());
  direction_.resize(u_.size());
}

Iteration Nncg::start(std::span<double> /*r*/, const StopTest& /*stop*/) {
  reset_counters();
  swept_once_ = directed_ = false;
  old_square_ = std::numeric_limits<double>::infinity();
  guard_ = {};
  return {};
}

Iteration Nncg::iterate(std::span<double> r) {
  if (swept_once_) accelerate(r);
  swept_once_ = true;
  const SweepStep step = gauss_seidel_step(data_, direction_, r, change_);
  square_ = robust() ? step.square : dot(change_, change_);
  along_ = step.along;
  return swept(step.correction);
}

/// Whether the next point may leave y; a restart otherwise.
bool Nncg::may_accelerate() {
  if (robust()) {
    const bool allowed = guard_.allows(square_);
    counters_.guards = guard_.spells();
    if (!allowed) return false;
  }
  const bool shrinks = square_ > 0.0 && square_ <= most_growth() * old_square_;
  const bool returns = robust() && directed_ && along_ < 0.0;
  if (shrinks && !returns) return true;
  ++counters_.restarts;
  return false;
}

/// r = y ← y + β p, p ← β p + d.
void Nncg::accelerate(std::span<double> r) {
  const bool kept = may_accelerate();
  const double beta = std::min(1.0, square_ / old_square_);
  old_square_ = square_;
  if (!kept || !directed_) {
    if (kept) std::swap(direction_, change_);  // p = d
    directed_ = kept;
    return;
  }
  for (std::size_t i = 0; i < r.size(); ++i) {
    const double further = beta * direction_[i];
    r[i] += further;
    direction_[i] = further + change_[i];
  }
}

}  // namespace signorini
