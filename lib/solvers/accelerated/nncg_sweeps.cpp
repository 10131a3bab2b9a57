#include "solvers/accelerated/nncg_sweeps.h"

#include <algorithm>
#include <utility>

namespace signorini {

void NncgSweeps::prepare(const GaussSeidelData& data) {
  data_ = &data;
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

SweepStep NncgSweeps::step(std::span<double> r) {
  if (swept_once_) accelerate(r);
  swept_once_ = true;
  const SweepStep step = gauss_seidel_step(*data_, direction_, r, change_);
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
void NncgSweeps::accelerate(std::span<double> r) {
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
