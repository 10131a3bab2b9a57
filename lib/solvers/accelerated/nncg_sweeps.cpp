#include "solvers/accelerated/nncg_sweeps.h"

#include <algorithm>
#include <utility>

namespace signorini {
namespace {

constexpr std::size_t kGrain = 4096;  ///< numbers that a thread takes at a time

}  // namespace

void NncgSweeps::prepare(const GaussSeidelData& data, const SweepPlan& plan) {
  map_ = nullptr;
  sweep_.prepare(data, plan);
  prepare_directions(data);
}

void NncgSweeps::prepare(const GaussSeidelData& data, SweepMap& map) {
  map_ = &map;
  prepare_directions(data);
}

void NncgSweeps::prepare_directions(const GaussSeidelData& data) {
  data_ = &data;
  const std::size_t dofs = on_bodies(data) ? data.bodies->free.size() : 0;
  for (std::vector<double>* v : {&v_direction_, &v_before_}) v->assign(dofs, 0.0);
  change_.assign(3 * data.contact.size(), 0.0);
  direction_.assign(3 * data.contact.size(), 0.0);
}

void NncgSweeps::start(NncgForm form, double restart_above) {
  form_ = form;
  restart_above_ = robust() ? restart_above : std::min(restart_above, 1.0);
  swept_once_ = directed_ = false;
  sweep_.forget();
  old_square_ = std::numeric_limits<double>::infinity();
  restarts_ = 0;
  guard_ = {};
}

SweepStep NncgSweeps::step(std::span<double> r, TaskArena* arena) {
  if (swept_once_) accelerate(r, arena);
  swept_once_ = true;
  if (on_bodies(*data_)) begin_sweep(r, arena);
  const SweepStep step =
      map_ ? map_->step(direction_, r, change_, arena) : sweep_.step(direction_, r, change_, arena);
  square_ = robust() ? step.square : dot(change_, change_);
  along_ = step.along;
  return step;
}

/// Velocities of r and p; those of r are kept, so that the sweep's M⁻¹ H d is known afterwards.
void NncgSweeps::begin_sweep(std::span<double> r, TaskArena* arena) {
  release_fixed(*data_, r);
  if (sweep_.refresh_velocities(r) && directed_) data_->bodies->responses(direction_, v_direction_);
  const std::span<const double> v = sweep_.velocities();
  for_each_chunk(arena, v.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    std::copy(v.begin() + begin, v.begin() + end, v_before_.begin() + begin);
  });
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
  if (kept && directed_) {
    move(beta, r, arena);
  } else if (kept) {  // p = d
    std::swap(direction_, change_);
    const std::span<const double> v = sweep_.velocities();
    for (std::size_t i = 0; i < v_direction_.size(); ++i) v_direction_[i] = v[i] - v_before_[i];
  }
  directed_ = kept;
}

void NncgSweeps::move(double beta, std::span<double> r, TaskArena* arena) {
  for_each_chunk(arena, r.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const double further = beta * direction_[i];
      r[i] += further;
      direction_[i] = further + change_[i];
    }
  });
  if (on_bodies(*data_)) move_velocities(beta, arena);
}

/// As r and p: the velocities are linear in them.
void NncgSweeps::move_velocities(double beta, TaskArena* arena) {
  const std::span<double> v = sweep_.velocities();
  for_each_chunk(arena, v.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const double change = v[i] - v_before_[i], further = beta * v_direction_[i];
      v[i] += further;
      v_direction_[i] = further + change;
    }
  });
  sweep_.moved();
}

}  // namespace signorini
