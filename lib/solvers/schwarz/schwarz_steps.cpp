#include "solvers/schwarz/schwarz_steps.h"

namespace signorini {
namespace {

/// Iterations that `anderson` combines.
constexpr int kWindow = 5;

}  // namespace

void SchwarzSteps::prepare(const GaussSeidelData& data, const SubdomainOptions& cut, const Solver& inner,
                           SchwarzOuter outer) {
  outer_ = outer;
  sweep_.prepare(data, make_subdomains(data.W, cut), inner);
  if (outer == SchwarzOuter::nncg) nncg_.prepare(data, sweep_);
  if (outer == SchwarzOuter::anderson) anderson_.prepare(data, sweep_, kWindow);
  change_.assign(3 * data.contact.size(), 0.0);
}

void SchwarzSteps::start(StopRule inner, double damping, double velocity_scale) {
  scale_ = velocity_scale;
  inner.velocity_scale = velocity_scale;
  inner.take_last = true;
  sweep_.start(inner, damping);
  nncg_.start();
  anderson_.start();
}

SweepStep SchwarzSteps::step(std::span<double> r, TaskArena* arena) {
  switch (outer_) {
    case SchwarzOuter::nncg:
      return nncg_.step(r, arena);
    case SchwarzOuter::anderson:
      return anderson_.step(r, arena);
    case SchwarzOuter::none:
      break;
  }
  return sweep_.step(change_, r, change_, arena);
}

long long SchwarzSteps::restarts() const {
  return outer_ == SchwarzOuter::nncg ? nncg_.restarts() : anderson_.restarts();
}

long long SchwarzSteps::guards() const {
  return outer_ == SchwarzOuter::nncg ? nncg_.guards() : anderson_.guards();
}

}  // namespace signorini
