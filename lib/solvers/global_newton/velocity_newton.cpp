#include "solvers/global_newton/velocity_newton.h"

#include <algorithm>
#include <limits>

namespace signorini {

namespace {

constexpr double kGain = 0.9;

}  // namespace

void VelocityNewton::set_problem(const ContactProblem& problem, FrictionLaw law, Judge judge) {
  system_.prepare(problem, law, judge, arena_);
  const std::size_t rows = 3 * static_cast<std::size_t>(system_.contacts());
  u_.assign(rows, 0.0);
  for (auto* x : {&y_, &v_}) x->assign(system_.size(), 0.0);
  immovable_ = 0.0;
  for (Index k = 0; k < system_.contacts(); ++k) {
    if (!(system_.inverse_mass[k].normal > 0.0)) immovable_ = std::max(immovable_, -system_.w[3 * k]);
  }
  best().resize(rows);
}

void VelocityNewton::find_velocities() {
  for (std::size_t i = 0; i < y_.size(); ++i) v_[i] = system_.origin[i] + y_[i];
  system_.relative_velocity(v_, u_);
  ++counters_.direction_products;
}

Iteration VelocityNewton::told() const {
  Iteration iteration;
  iteration.estimate = std::max(contact_error_, immovable_) + momentum_;
  return iteration;
}

IterationProgress VelocityNewton::progress() {
  IterationProgress told;
  told.plain = std::max(contact_error_, momentum_);
  told.constraint = contact_error_;
  return told;
}

void VelocityNewton::forget_gains() {
  idle_ = 0;
  gained_ = std::numeric_limits<double>::infinity();
}

int VelocityNewton::count_idle() {
  idle_ = residual() < kGain * gained_ ? 0 : idle_ + 1;
  if (idle_ == 0) gained_ = residual();
  return idle_;
}

}  // namespace signorini
