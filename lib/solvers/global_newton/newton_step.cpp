#include "solvers/global_newton/newton_step.h"

#include <algorithm>
#include <cmath>

#include "solvers/stop_test.h"

namespace signorini {

namespace {

Vector3 part(std::span<const double> x, Index k) {
  return Eigen::Map<const Vector3>(x.data() + 3 * static_cast<std::size_t>(k));
}

}  // namespace

void NewtonStep::prepare(const PrimalSystem& system) {
  system_ = &system;
  matrix_.prepare(system, Symmetry::general);
  const std::size_t m = system.contacts();
  scale_.resize(m);
  largest_scale_ = 0.0;
  for (std::size_t k = 0; k < m; ++k) {
    const InverseMass& w = system.inverse_mass[k];
    scale_[k] = w.normal > 0.0 ? (w.normal + 2.0 * w.tangent) / 3.0 : 0.0;
    largest_scale_ = std::max(largest_scale_, scale_[k]);
  }
  C_.assign(m, Matrix3::Zero());
  state_.assign(m, FrictionState::unknown);
  for (auto* x : {&F_, &dr_, &du_}) x->assign(3 * m, 0.0);
  for (auto* x : {&dv_, &defect_, &product_, &right_, &change_}) x->assign(system.size(), 0.0);
}

InverseMass NewtonStep::shifted_mass(Index k, double proximal) const {
  InverseMass w = system_->inverse_mass[k];
  w.normal += proximal * scale_[k];
  if (w.tangent > 0.0) w.tangent += proximal * scale_[k];
  return w;
}

/// ũ of contact k.
Vector3 NewtonStep::shifted_velocity(Index k, std::span<const double> r, std::span<const double> u,
                                     const Shift& shift) const {
  if (shift.proximal == 0.0) return part(u, k);
  return part(u, k) + shift.proximal * scale_[k] * (part(r, k) - part(shift.centre, k));
}

void NewtonStep::linearise(std::span<const double> r, std::span<const double> u, const Shift& shift,
                           SolveCounters& counters) {
  ++counters.evaluations;
  for (Index k = 0; k < count(scale_); ++k) {
    const double beta = (shift.regularisation + shift.proximal) * scale_[k];
    const CoulombPiece piece = coulomb_piece(system_->law, shifted_mass(k, shift.proximal), system_->mu[k],
                                             beta, part(r, k), shifted_velocity(k, r, u, shift));
    C_[k] = piece.C;
    Eigen::Map<Vector3>(F_.data() + 3 * static_cast<std::size_t>(k)) = piece.F;
    if (state_[k] != piece.state && state_[k] != FrictionState::unknown) ++counters.state_changes;
    state_[k] = piece.state;
  }
}

/// defect = H r − M y.
void NewtonStep::momentum_defect(std::span<const double> r, std::span<const double> y,
                                 SolveCounters& counters) {
  std::fill(defect_.begin(), defect_.end(), 0.0);
  system_->impulse(r, defect_);
  system_->multiply(y, product_);
  for (std::size_t i = 0; i < defect_.size(); ++i) defect_[i] -= product_[i];
  ++counters.mass_products;
  ++counters.direction_products;
}

/// Adds to dv and dr what M dv − H dr = defect, dr + C Hᵀ dv = F ask for.
void NewtonStep::add_correction(SolveCounters& counters) {
  std::fill(right_.begin(), right_.end(), 0.0);
  system_->impulse(F_, right_);
  for (std::size_t i = 0; i < right_.size(); ++i) right_[i] += defect_[i];
  matrix_.solve(right_, change_);
  contact_velocities(system_->H, change_, du_);
  for (Index k = 0; k < count(C_); ++k)
    Eigen::Map<Vector3>(dr_.data() + 3 * static_cast<std::size_t>(k)) += part(F_, k) - C_[k] * part(du_, k);
  for (std::size_t i = 0; i < dv_.size(); ++i) dv_[i] += change_[i];
  ++counters.triangular_solves;
  counters.direction_products += 2;
}

/// What dv and dr leave of the equations becomes defect and F: the momentum alone, as dr meets its own to rounding.
void NewtonStep::take_remainder(SolveCounters& counters) {
  system_->multiply(dv_, product_);
  std::fill(right_.begin(), right_.end(), 0.0);
  system_->impulse(dr_, right_);
  for (std::size_t i = 0; i < defect_.size(); ++i) defect_[i] += right_[i] - product_[i];
  std::fill(F_.begin(), F_.end(), 0.0);
  ++counters.mass_products;
  ++counters.direction_products;
}

bool NewtonStep::find(std::span<const double> r, std::span<const double> u, std::span<const double> y,
                      const Shift& shift, SolveCounters& counters) {
  linearise(r, u, shift, counters);
  ++counters.factorisations;
  if (!matrix_.factor(C_)) return false;
  momentum_defect(r, y, counters);
  std::fill(dr_.begin(), dr_.end(), 0.0);
  std::fill(dv_.begin(), dv_.end(), 0.0);
  add_correction(counters);
  take_remainder(counters);
  add_correction(counters);
  contact_velocities(system_->H, dv_, du_);
  ++counters.direction_products;
  return all_finite(dr_) && all_finite(dv_);
}

bool NewtonStep::respond(std::span<const double> r, std::span<double> y, SolveCounters& counters) {
  std::fill(C_.begin(), C_.end(), Matrix3::Zero());
  ++counters.factorisations;
  if (!matrix_.factor(C_)) return false;
  std::fill(right_.begin(), right_.end(), 0.0);
  system_->impulse(r, right_);
  matrix_.solve(right_, y);
  ++counters.triangular_solves;
  return all_finite(y);
}

double NewtonStep::momentum(std::span<const double> r, std::span<const double> y, SolveCounters& counters) {
  momentum_defect(r, y, counters);
  return system_->largest_velocity(defect_);
}

NewtonStep::Distance NewtonStep::distance(std::span<const double> r, std::span<const double> u,
                                          const Shift& shift) const {
  Distance all;
  for (Index k = 0; k < count(scale_); ++k) {
    if (!(scale_[k] > 0.0)) continue;
    const Vector3 r_k = part(r, k), u_k = shifted_velocity(k, r, u, shift);
    const double e =
        contact_error(system_->law, shifted_mass(k, shift.proximal), system_->mu[k], r_k.data(), u_k.data());
    const double unit_free = e / system_->scale;
    all.largest = std::max(all.largest, e);
    all.merit += unit_free * unit_free * (largest_scale_ / scale_[k]);
  }
  if (std::isnan(all.merit)) all.largest = all.merit;
  return all;
}

}  // namespace signorini
