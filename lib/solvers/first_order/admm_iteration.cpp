#include "solvers/first_order/admm_iteration.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace signorini {

namespace {

/// Larger first penalties are tried this often, each kLarger times the one before.
constexpr int kTries = 30;
constexpr double kLarger = 4.0;
constexpr double kLargestChange = 100.0;  ///< of ρ at once
constexpr double kLeastPenalty = 1e-6, kMostPenalty = 1e6;

}  // namespace

void AdmmSettings::validate(std::string_view solver) const {
  if (!(rho > 0.0)) throw_usage("solver '{}': rho = {} must be positive", solver, rho);
  if (!(relaxation > 0.0 && relaxation < 2.0))
    throw_usage("solver '{}': relaxation = {} must be in (0, 2)", solver, relaxation);
  if (!(eta >= 0.0)) throw_usage("solver '{}': eta = {} is negative", solver, eta);
  if (factors < 0) throw_usage("solver '{}': factors = {} is negative", solver, factors);
}

void AdmmIteration::prepare(const AdmmSettings& settings, const ContactCones& cones, Resolvent& resolvent) {
  settings_ = settings;
  cones_ = &cones;
  resolvent_ = &resolvent;
  for (auto* x : {&c_, &r_hat_, &before_, &mixed_, &next_, &u_, &z_}) x->assign(cones.rows(), 0.0);
  shift_.assign(cones.contacts(), 0.0);
  first_rho_ = settings_.rho;
  for (int i = 0; i < kTries; ++i, first_rho_ *= kLarger) {
    if (resolvent_->factor_first(first_rho_ + settings_.eta)) return;
  }
  throw_input("W has no factor with any penalty: its entries are not finite or far too large");
}

void AdmmIteration::reset(double scale, SolveCounters& counters) {
  counters_ = &counters;
  standstill_.start(scale);
  resolvent_->use_first();
  rho_ = first_rho_;
  impulse_defects_ = velocity_defects_ = 0.0;
  since_ = changes_ = 0;
  wait_ = kFirstWait;
}

void AdmmIteration::start(std::span<const double> r, std::span<const double> u, double scale,
                          SolveCounters& counters) {
  reset(scale, counters);
  std::copy(r.begin(), r.end(), r_hat_.begin());
  // z = û of the start, within K*
  cones_->measure_shift(u, shift_);
  std::copy(u.begin(), u.end(), z_.begin());
  for (std::size_t k = 0; k < shift_.size(); ++k) z_[3 * k] += shift_[k];
  cones_->project_velocity(z_);
  cones_->measure_shift(z_, shift_);
}

double AdmmIteration::start_near(std::span<const double> r, double scale, SolveCounters& counters) {
  reset(scale, counters);
  const std::span<const double> weight = cones_->weight();
  const double t = rho_ + settings_.eta;
  for (std::size_t i = 0; i < c_.size(); ++i) c_[i] = t * weight[i] * r[i];
  resolvent_->apply(t, c_, r_hat_, u_);
  ++counters.triangular_solves;
  const double estimate = cones_->error(r, u_) + cones_->largest_distance(r_hat_, r);
  start(r, u_, scale, counters);
  return estimate;
}

Iteration AdmmIteration::iterate(std::span<double> r) {
  adapt();
  resolve(r);
  split(r);
  observe(r);
  const double apart = cones_->largest_distance(r_hat_, next_);
  const double moved = rho_ * cones_->largest_distance(next_, r);
  std::copy(next_.begin(), next_.end(), r.begin());
  Iteration iteration;
  iteration.estimate = cones_->error(r, u_) + apart;
  const double magnified = std::max(1.0, resolvent_->smallest_exact() / rho_);
  iteration.exhausted = standstill_.reached(std::max(apart, moved) / magnified);
  return iteration;
}

/// r̂⁺ and its velocities.
void AdmmIteration::resolve(std::span<const double> y) {
  const std::span<const double> weight = cones_->weight();
  std::swap(r_hat_, before_);
  for (std::size_t i = 0; i < c_.size(); ++i)
    c_[i] = weight[i] * (rho_ * y[i] + settings_.eta * before_[i]) + z_[i];
  for (std::size_t k = 0; k < shift_.size(); ++k) c_[3 * k] -= shift_[k];
  resolvent_->apply(rho_ + settings_.eta, c_, r_hat_, u_);
  ++counters_->triangular_solves;
}

/// y⁺, z⁺ and its shift.
void AdmmIteration::split(std::span<const double> y) {
  const std::span<const double> weight = cones_->weight();
  const double part = settings_.relaxation;
  for (std::size_t i = 0; i < mixed_.size(); ++i) mixed_[i] = y[i] + part * (r_hat_[i] - y[i]);
  std::fill(shift_.begin(), shift_.end(), 0.0);
  cones_->descend(mixed_, 1.0 / rho_, z_, shift_, next_);
  for (std::size_t i = 0; i < z_.size(); ++i) z_[i] -= rho_ * weight[i] * (mixed_[i] - next_[i]);
  cones_->measure_shift(z_, shift_);
}

void AdmmIteration::observe(std::span<const double> y) {
  const std::span<const double> weight = cones_->weight();
  ++since_;
  impulse_defects_ += std::sqrt(cones_->squared_distance(mixed_, next_));
  velocity_defects_ += std::sqrt(sum_in_order(next_.size(), [&](std::size_t i) {
    const double d = rho_ * (next_[i] - y[i]) + settings_.eta * (r_hat_[i] - before_[i]);
    return weight[i] * d * d;
  }));
}

void AdmmIteration::adapt() {
  if (settings_.penalty == Penalty::fixed || since_ < wait_ || changes_ >= settings_.factors) return;
  const double factor =
      std::clamp(std::sqrt(impulse_defects_ / velocity_defects_), 1.0 / kLargestChange, kLargestChange);
  since_ = 0;
  impulse_defects_ = velocity_defects_ = 0.0;
  if (!(factor > kWorthIt || factor < 1.0 / kWorthIt)) return;
  const double least = std::max(kLeastPenalty, resolvent_->smallest_exact() / kMostMagnified);
  const double rho = std::clamp(factor * rho_, std::min(least, rho_), kMostPenalty);
  if (rho == rho_) return;
  wait_ *= 2;
  ++changes_;
  ++counters_->factorisations;
  if (!resolvent_->factor(rho + settings_.eta)) {
    ++counters_->guards;
    return;
  }
  rho_ = rho;
}

}  // namespace signorini
