#include "solvers/newton/interior_point.h"

#include <algorithm>
#include <cmath>

#include "solvers/newton/second_order_cone.h"

namespace signorini {

namespace {

constexpr double kToTheBorder = 0.99;  ///< of the longest step

/// (I + e_N gᵀ) v.
Vector3 with_slope(const Vector3& slope, const Vector3& v) { return {v[0] + slope.dot(v), v[1], v[2]}; }

}  // namespace

void InteriorPoint::prepare(NewtonSystem& system) {
  system_ = &system;
  contact_.assign(static_cast<std::size_t>(system.contacts()), {});
  for (std::vector<double>* v : {&x_, &y_, &d_, &zero_}) v->assign(system.rows(), 0.0);
}

void InteriorPoint::start() {
  for (Index k = 0; k < system_->contacts(); ++k) {
    Contact& c = contact_[k];
    c.xi = {0.5, 0.0, 0.0};
    c.zeta = {1.0, 0.0, 0.0};
  }
  evaluate();
}

/// x, y, the exact error and ρ of the present ξ, ζ.
void InteriorPoint::evaluate() {
  for (Index k = 0; k < system_->contacts(); ++k) {
    const Vector3& xi = contact_[k].xi;
    const bool moves = system_->root(k) > 0.0;
    const double normal = slides(k) ? xi[0] / system_->mu(k) : xi[0];
    Eigen::Map<Vector3>(x_.data() + 3 * static_cast<std::size_t>(k)) =
        moves ? Vector3(normal, xi[1], xi[2]) : Vector3(0.0, 0.0, 0.0);
  }
  system_->velocity(x_, y_);
  error_ = system_->error(x_, y_);
  for (Index k = 0; k < system_->contacts(); ++k) {
    Contact& c = contact_[k];
    const Eigen::Map<const Vector3> y(y_.data() + 3 * static_cast<std::size_t>(k));
    c.slope.setZero();
    if (!slides(k)) {
      c.gap = {c.zeta[0] - y[0], 0.0, 0.0};
      continue;
    }
    const double length = c.zeta.tail<2>().norm();
    if (length > 0.0) c.slope.tail<2>() = c.zeta.tail<2>() / length;
    c.gap = c.zeta - Vector3(y[0] / system_->mu(k) + length, y[1], y[2]);
  }
}

/// ((I + e_N gᵀ) D W̃ + P D⁻¹) d = …, d the change of x.
void InteriorPoint::set_pieces() {
  for (Index k = 0; k < system_->contacts(); ++k) {
    Contact& c = contact_[k];
    ContactPiece& piece = system_->piece(k);
    piece.open = false;
    piece.by_u.setZero();
    piece.by_r.setZero();
    if (!slides(k)) {
      c.lambda = {std::sqrt(c.xi[0] * c.zeta[0]), 0.0, 0.0};
      piece.by_u(0, 0) = 1.0;
      piece.by_r.diagonal() << c.zeta[0] / c.xi[0], 1.0, 1.0;
      continue;
    }
    const NesterovTodd scaling(c.xi, c.zeta);
    c.lambda = scaling.scale(c.xi);
    piece.by_u.row(0) << 1.0 / system_->mu(k), c.slope[1], c.slope[2];
    piece.by_u(1, 1) = piece.by_u(2, 2) = 1.0;
    piece.by_r = scaling.squared();
    piece.by_r.col(0) *= system_->mu(k);
  }
}

/// What P dξ + dζ has to be.
Vector3 InteriorPoint::wanted(const Contact& c, Index k, double target, double weight) const {
  if (!slides(k)) {
    const double second = weight * c.affine_xi[0] * c.affine_zeta[0];
    return {(target - c.xi[0] * c.zeta[0] - second) / c.xi[0], 0.0, 0.0};
  }
  const NesterovTodd scaling(c.xi, c.zeta);
  Vector3 right = -jordan_product(c.lambda, c.lambda);
  right[0] += target;
  if (weight > 0.0)
    right -= weight * jordan_product(scaling.scale(c.affine_xi), scaling.unscale(c.affine_zeta));
  return scaling.scale(jordan_quotient(c.lambda, right));
}

/// The step to complementarity `target`, with the second order of the affine step times `weight`.
bool InteriorPoint::aim(double target, double weight) {
  for (Index k = 0; k < system_->contacts(); ++k) {
    Contact& c = contact_[k];
    c.d_zeta = wanted(c, k, target, weight);
    system_->piece(k).F = -(c.d_zeta + with_slope(c.slope, c.gap));
  }
  if (!system_->solve(zero_, d_)) return false;
  for (Index k = 0; k < system_->contacts(); ++k) {
    Contact& c = contact_[k];
    if (!(system_->root(k) > 0.0)) {
      c.d_xi.setZero();
      c.d_zeta.setZero();
      continue;
    }
    const Eigen::Map<const Vector3> d(d_.data() + 3 * static_cast<std::size_t>(k));
    c.d_zeta -= system_->piece(k).by_r * d;
    c.d_xi = d;
    if (slides(k)) {
      c.d_xi[0] *= system_->mu(k);
    } else {
      c.d_xi.tail<2>().setZero();
      c.d_zeta.tail<2>().setZero();
    }
  }
  return true;
}

double InteriorPoint::longest_step() const {
  double longest = 1.0 / kToTheBorder;
  for (Index k = 0; k < system_->contacts(); ++k) {
    const Contact& c = contact_[k];
    longest = std::min({longest, longest_lorentz_step(c.xi, c.d_xi), longest_lorentz_step(c.zeta, c.d_zeta)});
  }
  return longest;
}

/// ξᵀζ after `step` of the present direction, summed over the contacts.
double InteriorPoint::complementarity(double step) const {
  double sum = 0.0;
  for (Index k = 0; k < system_->contacts(); ++k) {
    const Contact& c = contact_[k];
    if (system_->root(k) > 0.0) sum += (c.xi + step * c.d_xi).dot(c.zeta + step * c.d_zeta);
  }
  return sum;
}

bool InteriorPoint::step() {
  set_pieces();
  if (!system_->factor(0.0) || system_->closed() == 0 || !aim(0.0, 0.0)) return false;
  const double affine = std::min(1.0, longest_step());
  const double now = complementarity(0.0);
  const double ratio = std::max(0.0, complementarity(affine) / now);
  for (Contact& c : contact_) {
    c.affine_xi = c.d_xi;
    c.affine_zeta = c.d_zeta;
  }
  const double target = std::pow(ratio, 3.0) * now / static_cast<double>(system_->closed());
  if (!aim(target, affine * affine)) return false;
  const double step = std::min(1.0, kToTheBorder * longest_step());
  if (!(step > 1e-12)) return false;
  for (Contact& c : contact_) {
    c.xi += step * c.d_xi;
    c.zeta += step * c.d_zeta;
  }
  evaluate();
  return std::isfinite(error_);
}

}  // namespace signorini
