#include "solvers/accelerated/nesterov_sweeps.h"

#include <algorithm>
#include <cmath>

namespace signorini {
namespace {

constexpr std::size_t kGrain = 4096;  ///< numbers that a thread takes at a time

}  // namespace

void NesterovSweeps::prepare(const GaussSeidelData& data, SweepMap& map) {
  map_ = &map;
  change_.assign(3 * data.contact.size(), 0.0);
  direction_.assign(change_.size(), 0.0);
}

void NesterovSweeps::start() {
  restart();
  restarts_ = 0;
  guard_ = {};
}

void NesterovSweeps::restart() {
  std::fill(direction_.begin(), direction_.end(), 0.0);
  directed_ = false;
  t_ = 1.0;
}

SweepStep NesterovSweeps::step(std::span<double> r, TaskArena* arena) {
  const double next = 0.5 * (1.0 + std::sqrt(1.0 + 4.0 * t_ * t_));
  const double beta = directed_ ? (t_ - 1.0) / next : 0.0;
  for_each_chunk(arena, r.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      direction_[i] *= beta;
      r[i] += direction_[i];
    }
  });
  const SweepStep step = map_->step(direction_, r, change_, arena);
  const bool allowed = guard_.allows(step.square);
  const bool returns = step.square + step.along < 0.0;  // (G(y) − y)·(r⁺ − r)
  if (returns) ++restarts_;
  if (returns || !allowed) {
    restart();
    return step;
  }
  for_each_chunk(arena, r.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) direction_[i] += change_[i];
  });
  directed_ = true;
  t_ = next;
  return step;
}

}  // namespace signorini
