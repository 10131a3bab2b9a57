#include "solvers/accelerated/nncg_sweeps.h"

#include <utility>

namespace signorini {

void NncgSweeps::prepare(const GaussSeidelData& data) {
  data_ = &data;
  change_.assign(3 * data.contact.size(), 0.0);
  direction_.assign(3 * data.contact.size(), 0.0);
}

void NncgSweeps::start(NncgForm form, double restart_above) {
  form_ = form;
  restart_above_ = restart_above;
  swept_once_ = along_ = false;
  old_square_ = std::numeric_limits<double>::infinity();
  restarts_ = 0;
  guard_ = {};
}

SweepStep NncgSweeps::step(std::span<double> r) {
  if (swept_once_) accelerate(r);
  swept_once_ = true;
  const SweepStep step = gauss_seidel_step(*data_, r, change_);
  square_ = form_ == NncgForm::robust ? step.square : dot(change_, change_);
  return step;
}

/// Whether the direction may be kept; a restart otherwise.
bool NncgSweeps::may_accelerate() {
  if (form_ == NncgForm::robust && !guard_.allows(square_)) return false;
  if (square_ > 0.0 && square_ <= restart_above_ * old_square_) return true;
  ++restarts_;
  return false;
}

/// r = y ← y + β p, p ← β p + d.
void NncgSweeps::accelerate(std::span<double> r) {
  const bool kept = may_accelerate();
  const double beta = square_ / old_square_;
  old_square_ = square_;
  if (!kept || !along_) {
    if (kept) std::swap(direction_, change_);  // p = d
    along_ = kept;
    return;
  }
  for (std::size_t i = 0; i < r.size(); ++i) {
    const double further = beta * direction_[i];
    r[i] += further;
    direction_[i] = further + change_[i];
  }
}

}  // namespace signorini
