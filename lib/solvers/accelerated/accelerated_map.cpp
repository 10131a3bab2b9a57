#include "solvers/accelerated/accelerated_map.h"

namespace signorini {
namespace {

/// Iterations that `anderson` combines.
constexpr int kWindow = 5;

}  // namespace

void AcceleratedMap::prepare(const GaussSeidelData& data, SweepMap& map, Acceleration by) {
  map_ = &map;
  by_ = by;
  if (by == Acceleration::nesterov) nesterov_.prepare(data, map);
  if (by == Acceleration::nncg) nncg_.prepare(data, map);
  if (by == Acceleration::anderson) anderson_.prepare(data, map, kWindow);
  change_.assign(3 * data.contact.size(), 0.0);
}

void AcceleratedMap::start() {
  nesterov_.start();
  nncg_.start();
  anderson_.start();
}

SweepStep AcceleratedMap::step(std::span<double> r, TaskArena* arena) {
  switch (by_) {
    case Acceleration::nesterov:
      return nesterov_.step(r, arena);
    case Acceleration::nncg:
      return nncg_.step(r, arena);
    case Acceleration::anderson:
      return anderson_.step(r, arena);
    case Acceleration::none:
      break;
  }
  return map_->step(change_, r, change_, arena);
}

}  // namespace signorini
