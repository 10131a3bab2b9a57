#include "solvers/accelerated/nncg_sweeps.h"

#include <algorithm>
#include <utility>

namespace signorini {

void NncgSweeps::prepare(const GaussSeidelData& data, const SweepPlan& plan) {
  sweep_.prepare(data, plan);
  change_.assign(3 * data.contact.size(), 0.0);
  direction_.assign(3 * data.contact.size(), 0.0);
}

void NncgSweeps::start(NncgForm form, double restart_above) {
  form_ = form;
  restart_above_ = robust() ? restart_above : std::min(restart_above, 1.0);
  swept_once_ = directed_ = false;
  old_square_ = std::numeric_limits<double>::infinity();
  restarts_ = 0;
  guard_ = {};
}

SweepStep NncgSweeps::step(std::span<double> r, TaskArena* arena) {
  if (swept_once_) accelerate(r, arena);
  swept_once_ = true;
  const SweepStep step = sweep_.step(direction_, r, change_, arena);
  square_ = robust() ? step.square : dot(change_, change_);
  along_ = step.along;
  return step;
}

/// Whether the next point may leave y; a restart otherwise.
bool NncgSweeps::may_accelerate() {
  if (robust() && !guard_.allows(square_)) return false;
  const bool shrinks = square_ > 0.0 && square_ <= restart_above_ * old_square_;
  const bool returns = robust() && directed_ && along_ < 0.0;
  if (shrinks && !returns) return true;
  ++restarts_;
  return false;
}

/// r = y ← y + β p, p ← β p + d.
void NncgSweeps::accelerate(std::span<double> r, TaskArena* arena) {
  const bool kept = may_accelerate();
  const double beta = std::min(1.0, square_ / old_square_);
  old_square_ = square_;
  if (!kept || !directed_) {
    if (kept) std::swap(direction_, change_);  // p = d
    directed_ = kept;
    return;
  }
  constexpr std::size_t kGrain = 4096;
  for_each_chunk(arena, r.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const double further = beta * direction_[i];
      r[i] += further;
      direction_[i] = further + change_[i];
    }
  });
}

}  // namespace signorini
