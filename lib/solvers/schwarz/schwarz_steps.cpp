#include "solvers/schwarz/schwarz_steps.h"

namespace signorini {
namespace {

/// Not Nesterov's, which is made for gradient steps.
Acceleration acceleration_of(SchwarzOuter outer) {
  switch (outer) {
    case SchwarzOuter::nncg:
      return Acceleration::nncg;
    case SchwarzOuter::anderson:
      return Acceleration::anderson;
    case SchwarzOuter::none:
      break;
  }
  return Acceleration::none;
}

}  // namespace

void SchwarzSteps::prepare(const GaussSeidelData& data, const SubdomainOptions& cut, const Solver& inner,
                           SchwarzOuter outer) {
  sweep_.prepare(data, make_subdomains(data.W, cut), inner);
  steps_.prepare(data, sweep_, acceleration_of(outer));
}

void SchwarzSteps::start(StopRule inner, double damping, double velocity_scale) {
  scale_ = velocity_scale;
  inner.velocity_scale = velocity_scale;
  inner.take_last = true;
  sweep_.start(inner, damping);
  steps_.start();
}

SweepStep SchwarzSteps::step(std::span<double> r, TaskArena* arena) { return steps_.step(r, arena); }

}  // namespace signorini
