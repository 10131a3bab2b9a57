#include "solvers/staggered_qp.h"

#include <algorithm>
#include <cmath>

#include "linalg/dot.h"

namespace signorini {

namespace {

/// Relative size below which an inner product counts as a breakdown (docs/theory.md, C38).
constexpr double kBreakdown = 1e-13;
/// Looks at a solved system that may fail to lower the number of violated rows before rows change singly.
constexpr int kBlockPatience = 5;

/// max |x_i| that keeps a NaN.
template <class Value>
double largest(std::size_t n, const Value& value) {
  double most = 0.0, poison = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    const double x = std::abs(value(i));
    poison += 0.0 * x;
    most = std::max(most, x);
  }
  return most + poison;
}

Vector2 tangent_of(std::span<const double> x, std::size_t k) { return {x[3 * k + 1], x[3 * k + 2]}; }
Vector2 across(const Vector2& slip) { return {-slip[1], slip[0]}; }

}  // namespace

void StaggeredQp::prepare(const PrimalSystem& system, QpMethod method) {
  system_ = &system;
  method_ = method;
  const std::size_t n = system.size();
  const auto m = static_cast<std::size_t>(system.contacts());
  for (auto* x : {&v_, &momentum_, &scratch_}) x->assign(n, 0.0);
  for (auto* x : {&softness_, &active_, &compliance_, &inverse_soft_, &u_, &r_, &change_, &Hz_, &Hp_, &row_})
    x->assign(3 * m, 0.0);
  if (method == QpMethod::cr) {
    for (auto* x : {&z_, &Bz_, &p_, &Bp_, &q_, &CBz_}) x->resize(n, 3 * m);
  } else {
    for (auto* x : {&t_, &t_before_, &next_, &lanczos_, &B_lanczos_}) x->resize(n, 3 * m);
    H_lanczos_.assign(3 * m, 0.0);
    for (Direction& d : direction_) {
      d.w.resize(n, 3 * m);
      d.Bw.resize(n, 3 * m);
      d.Hw.assign(3 * m, 0.0);
    }
  }
  normal_state_.assign(m, Row::held);
  tangents_.assign(m, Tangents{});
  asks_.assign(3 * m, 0);
  turning_.assign(m, 0);
  for (std::size_t k = 0; k < m; ++k) {
    const Matrix3& block = system.B_diagonal[k];
    for (std::size_t j = 0; j < 3; ++j) softness_[3 * k + j] = block.diagonal()[static_cast<Eigen::Index>(j)];
  }
  inverse_diagonal_.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto j = static_cast<Eigen::Index>(i % 3);
    inverse_diagonal_[i] = 1.0 / diagonal_block(system.A, static_cast<Index>(i / 3))(j, j);
  }
}

void StaggeredQp::start(std::span<const double> r, std::span<const double> v_start) {
  products_ = direction_products_ = state_changes_ = restarts_ = 0;
  if (v_start.size() == v_.size()) {
    std::copy(v_start.begin(), v_start.end(), v_.begin());
  } else {
    std::copy(system_->v_free.begin(), system_->v_free.end(), v_.begin());
  }
  std::copy(r.begin(), r.end(), r_.begin());
  std::fill(change_.begin(), change_.end(), 0.0);
  changed_impulses_ = false;
  set_states_from(r);
  set_rows(QpStage::normal);
  refresh();
}

/// Tangential states are guessed when friction's turn comes: |r_T| against μ r_N says too little of an answer
/// that is right to some tolerance only.
void StaggeredQp::set_states_from(std::span<const double> r) {
  for (std::size_t k = 0; k < tangents_.size(); ++k) {
    tangents_[k] = Tangents{};
    normal_state_[k] = moves(3 * k) && r[3 * k] > 0.0 ? Row::free : Row::held;
  }
}

bool StaggeredQp::enter(QpStage stage, double relaxation) {
  stage_ = stage;
  fewest_ = asks_.size() + 1;
  patience_ = kBlockPatience;
  if (stage == QpStage::friction) {
    set_bounds(relaxation);
    for (std::size_t k = 0; k < tangents_.size(); ++k) follow_bounds(k);
  }
  const bool moved = changed_impulses_;
  set_rows(stage);
  flush_changes();
  measure();
  return moved;
}

void StaggeredQp::set_bounds(double relaxation) {
  for (std::size_t k = 0; k < tangents_.size(); ++k) {
    Tangents& t = tangents_[k];
    const double wanted = system_->mu[static_cast<Eigen::Index>(k)] * std::max(0.0, r_[3 * k]);
    const bool was_rubbing = t.bound > 0.0;
    t.bound += relaxation * (wanted - t.bound);
    if (relaxation >= 1.0) t.bound = wanted;
    t.slips = t.confirmed = {};
    if (was_rubbing || !(t.bound > 0.0)) continue;
    guess_state(k);
  }
}

/// The state that one projected step r_T − u_T/S gives.
void StaggeredQp::guess_state(std::size_t k) {
  Tangents& t = tangents_[k];
  t.slip.setZero();
  t.sliding = false;
  const Vector2 r = tangent_of(r_, k), s = tangent_of(u_, k);
  if (system_->law == FrictionLaw::cone) {
    const Vector2 pulled = s - disc_softness(k) * r;
    t.sliding = pulled.norm() > disc_softness(k) * t.bound;
    if (t.sliding) t.slip = pulled.normalized();
  } else {
    for (int j = 0; j < 2; ++j) {
      const double S = softness_[3 * k + 1 + static_cast<std::size_t>(j)];
      const double pulled = s[j] - S * r[j];
      if (std::abs(pulled) > S * t.bound) t.slip[j] = pulled > 0.0 ? 1.0 : -1.0;
    }
  }
}

/// Held tangential impulses move with b; sticking ones above it begin to slide.
void StaggeredQp::follow_bounds(std::size_t k) {
  Tangents& t = tangents_[k];
  Vector2 impulse = tangent_of(r_, k);
  if (!rubs(k)) {
    t.slip.setZero();
    t.sliding = false;
    impulse.setZero();
  } else if (system_->law == FrictionLaw::cone) {
    if (!t.sliding && impulse.norm() > t.bound) {
      t.sliding = true;
      t.slip = -impulse.normalized();
    }
    if (t.sliding) impulse = -t.bound * t.slip;
  } else {
    for (int j = 0; j < 2; ++j) {
      if (t.slip[j] == 0.0 && std::abs(impulse[j]) > t.bound) t.slip[j] = impulse[j] > 0.0 ? -1.0 : 1.0;
      if (t.slip[j] != 0.0) impulse[j] = -t.bound * t.slip[j];
    }
  }
  for (std::size_t j = 0; j < 2; ++j) {
    const std::size_t row = 3 * k + 1 + j;
    const double value = impulse[static_cast<Eigen::Index>(j)];
    if (!moves(row) || value == r_[row]) continue;
    change_impulse(row, value);
    changed_impulses_ = true;
  }
}

/// Which rows are free, C and the preconditioner of rows, from the states.
void StaggeredQp::set_rows(QpStage stage) {
  std::fill(active_.begin(), active_.end(), 0.0);
  std::fill(compliance_.begin(), compliance_.end(), 0.0);
  turning_count_ = 0;
  const bool cone = system_->law == FrictionLaw::cone;
  for (std::size_t k = 0; k < tangents_.size(); ++k) {
    const Tangents& t = tangents_[k];
    if (stage == QpStage::normal) {
      active_[3 * k] = normal_state_[k] == Row::free ? 1.0 : 0.0;
    } else if (rubs(k)) {
      for (std::size_t j = 0; j < 2; ++j) {
        const bool holds = cone || t.slip[static_cast<Eigen::Index>(j)] == 0.0;
        active_[3 * k + 1 + j] = holds && moves(3 * k + 1 + j) ? 1.0 : 0.0;
      }
      if (!cone || !t.sliding) continue;
      if (active_[3 * k + 1] == 0.0 || active_[3 * k + 2] == 0.0) {
        active_[3 * k + 1] = active_[3 * k + 2] = 0.0;  // one direction cannot move: nothing turns
        continue;
      }
      turning_[turning_count_++] = k;
      const double slipping = std::max(0.0, tangent_of(u_, k).dot(t.slip));
      compliance_[3 * k + 1] = compliance_[3 * k + 2] = slipping / t.bound;
    }
  }
  for (std::size_t i = 0; i < active_.size(); ++i)
    inverse_soft_[i] = active_[i] > 0.0 ? 1.0 / (softness_[i] + compliance_[i]) : 0.0;
  for (std::size_t i = 0; i < turning_count_; ++i) {
    const std::size_t k = turning_[i];
    inverse_soft_[3 * k + 1] = inverse_soft_[3 * k + 2] = 1.0 / (disc_softness(k) + compliance_[3 * k + 1]);
  }
}

/// ρ_v follows the changes of r.
void StaggeredQp::flush_changes() {
  if (!changed_impulses_) return;
  add_impulses(system_->H, change_, momentum_);
  ++direction_products_;
  std::fill(change_.begin(), change_.end(), 0.0);
  changed_impulses_ = false;
}

bool StaggeredQp::look(double gate, QpLook when) {
  std::size_t count = 0;
  std::size_t last = 0;
  const auto ask = [&](std::size_t row, double violation) {
    asks_[row] = violation > gate ? 1 : 0;
    if (asks_[row] == 0) return;
    ++count;
    last = row;
  };
  const bool cone = system_->law == FrictionLaw::cone;
  for (std::size_t k = 0; k < tangents_.size(); ++k) {
    if (stage_ == QpStage::normal) {
      ask(3 * k, moves(3 * k) ? violation_normal(k, gate, when) : 0.0);
    } else if (rubs(k)) {
      if (cone) {
        ask(3 * k + 1, violation_cone(k, gate, when));
      } else {
        for (int j = 0; j < 2; ++j)
          ask(3 * k + 1 + static_cast<std::size_t>(j), violation_pyramid(k, j, gate, when));
      }
    }
  }
  if (count == 0) return false;
  bool all = true;
  if (when == QpLook::solved) {
    if (count < fewest_) {
      fewest_ = count;
      patience_ = kBlockPatience;
    } else {
      all = patience_ > 0;
      patience_ = std::max(0, patience_ - 1);
    }
  }
  for (std::size_t row = all ? 0 : last; row <= last; ++row) {
    if (asks_[row] != 0) flip(row);
    asks_[row] = 0;
  }
  std::fill(asks_.begin(), asks_.end(), 0);
  set_rows(stage_);
  flush_changes();
  measure();
  return true;
}

double StaggeredQp::violation_normal(std::size_t k, double gate, QpLook when) const {
  const double u = u_[3 * k];
  if (normal_state_[k] != Row::free) return -u;
  const bool opens = u >= (when == QpLook::solved ? -gate : 0.0);
  return opens ? -softness_[3 * k] * r_[3 * k] : 0.0;
}

double StaggeredQp::violation_pyramid(std::size_t k, int j, double gate, QpLook when) {
  Tangents& t = tangents_[k];
  const std::size_t row = 3 * k + 1 + static_cast<std::size_t>(j);
  const auto part = static_cast<std::size_t>(j);
  if (!moves(row)) return 0.0;
  if (t.slip[j] == 0.0) {
    const bool yields = when == QpLook::solved || u_[row] * r_[row] < 0.0;
    return yields ? softness_[row] * (std::abs(r_[row]) - t.bound) : 0.0;
  }
  const double back = -u_[row] * t.slip[j];
  if (when == QpLook::solved) return back;
  // against cycles: sticking must be asked for more often the more often this tangent has slipped
  if (!(back > gate)) {
    t.confirmed[part] = 0;
    return 0.0;
  }
  return ++t.confirmed[part] < 1 + t.slips[part] ? 0.0 : back;
}

double StaggeredQp::violation_cone(std::size_t k, double gate, QpLook when) const {
  const Tangents& t = tangents_[k];
  const double S = disc_softness(k);
  if (!(S > 0.0)) return 0.0;
  const Vector2 impulse = tangent_of(r_, k);
  const Vector2 s = tangent_of(u_, k);
  const double size = impulse.norm();
  if (!t.sliding) {
    const bool yields = when == QpLook::solved || s.dot(impulse) < 0.0;
    return yields ? S * (size - t.bound) : 0.0;
  }
  const double back = -s.dot(t.slip);
  if (back > gate) return back;
  return size > 0.0 ? S * t.bound * (impulse / size + t.slip).norm() : 0.0;
}

void StaggeredQp::flip(std::size_t row) {
  const std::size_t k = row / 3;
  ++state_changes_;
  if (row % 3 == 0) return flip_normal(k);
  if (system_->law == FrictionLaw::cone) return flip_cone(k);
  flip_pyramid(k, row % 3 == 1 ? 0 : 1);
}

void StaggeredQp::flip_normal(std::size_t k) {
  if (normal_state_[k] == Row::held) {
    normal_state_[k] = Row::free;
    return;
  }
  normal_state_[k] = Row::held;
  change_impulse(3 * k, 0.0);
  changed_impulses_ = true;
}

void StaggeredQp::flip_pyramid(std::size_t k, int j) {
  Tangents& t = tangents_[k];
  const auto part = static_cast<std::size_t>(j);
  if (t.slip[j] != 0.0) {
    t.slip[j] = 0.0;
    t.confirmed[part] = 0;
    return;
  }
  const std::size_t row = 3 * k + 1 + part;
  t.slip[j] = r_[row] > 0.0 ? -1.0 : 1.0;
  ++t.slips[part];
  change_impulse(row, -t.bound * t.slip[j]);
  changed_impulses_ = true;
}

void StaggeredQp::flip_cone(std::size_t k) {
  Tangents& t = tangents_[k];
  const Vector2 impulse = tangent_of(r_, k);
  if (t.sliding && tangent_of(u_, k).dot(t.slip) < 0.0) {
    t.sliding = false;
    t.slip.setZero();
    return;
  }
  t.sliding = true;
  t.slip = -impulse.normalized();
  for (std::size_t j = 0; j < 2; ++j)
    change_impulse(3 * k + 1 + j, -t.bound * t.slip[static_cast<Eigen::Index>(j)]);
  changed_impulses_ = true;
}

/// Onto the free rows; the two tangents of a sliding disc onto t.
void StaggeredQp::project(std::vector<double>& c) const {
  for (std::size_t i = 0; i < c.size(); ++i) c[i] *= active_[i];
  for (std::size_t i = 0; i < turning_count_; ++i) {
    const std::size_t k = turning_[i];
    const Vector2 t = across(tangents_[k].slip);
    const Vector2 along = t * t.dot(tangent_of(c, k));
    c[3 * k + 1] = along[0];
    c[3 * k + 2] = along[1];
  }
}

void StaggeredQp::precondition(const SaddleVector& x, SaddleVector& out) const {
  std::copy(x.v.begin(), x.v.end(), out.v.begin());
  system_->apply_inverse_diagonal(out.v);
  for (std::size_t i = 0; i < out.c.size(); ++i) out.c[i] = inverse_soft_[i] * x.c[i];
}

/// Bx = (M x_v − Lᵀ x_c; −L x_v − C x_c); Hx = Hᵀ x_v of every row.
void StaggeredQp::apply(const SaddleVector& x, SaddleVector& Bx, std::vector<double>& Hx) {
  system_->multiply(x.v, Bx.v);
  for (std::size_t i = 0; i < row_.size(); ++i) row_[i] = -x.c[i];
  add_impulses(system_->H, row_, Bx.v);
  contact_velocities(system_->H, x.v, Hx);
  for (std::size_t i = 0; i < row_.size(); ++i) Bx.c[i] = -Hx[i];
  project(Bx.c);
  for (std::size_t i = 0; i < row_.size(); ++i) Bx.c[i] -= compliance_[i] * x.c[i];
  ++products_;
  direction_products_ += 2;
}

/// ρ_c = u_L + C x with x the part of r in free rows.
void StaggeredQp::constraint_rows(std::vector<double>& out) const {
  std::copy(u_.begin(), u_.end(), out.begin());
  project(out);
  for (std::size_t i = 0; i < turning_count_; ++i) {
    const std::size_t k = turning_[i];
    const Vector2 t = across(tangents_[k].slip);
    const Vector2 along = t * t.dot(tangent_of(r_, k));
    for (std::size_t j = 0; j < 2; ++j)
      out[3 * k + 1 + j] += compliance_[3 * k + 1 + j] * along[static_cast<Eigen::Index>(j)];
  }
}

void StaggeredQp::residual_vector(SaddleVector& out) const {
  std::copy(momentum_.begin(), momentum_.end(), out.v.begin());
  constraint_rows(out.c);
}

void StaggeredQp::measure() {
  momentum_error_ =
      largest(momentum_.size(), [this](std::size_t i) { return momentum_[i] * inverse_diagonal_[i]; });
  constraint_rows(row_);
  constraint_ = largest(row_.size(), [this](std::size_t i) { return row_[i]; });
  residual_ = std::max(momentum_error_, constraint_) + 0.0 * (momentum_error_ + constraint_);
}

double StaggeredQp::preconditioned_residual() {
  if (method_ == QpMethod::minres) {  // through vectors that no step keeps
    residual_vector(next_);
    precondition(next_, B_lanczos_);
    return largest(B_lanczos_.v.size(), [this](std::size_t i) { return B_lanczos_.v[i]; });
  }
  return largest(z_.v.size(), [this](std::size_t i) { return z_.v[i]; });
}

void StaggeredQp::restart() {
  ++restarts_;
  if (method_ == QpMethod::minres) return restart_lanczos();
  residual_vector(Bz_);
  precondition(Bz_, z_);
  apply(z_, Bz_, Hz_);
  zBz_ = dot(z_.v, Bz_.v) + dot(z_.c, Bz_.c);
  zz_ = dot(z_.v, z_.v) + dot(z_.c, z_.c);
  BzBz_ = dot(Bz_.v, Bz_.v) + dot(Bz_.c, Bz_.c);
  p_.v = z_.v;
  p_.c = z_.c;
  Bp_.v = Bz_.v;
  Bp_.c = Bz_.c;
  Hp_ = Hz_;
  precondition(Bp_, q_);
  Bpq_ = dot(Bp_.v, q_.v) + dot(Bp_.c, q_.c);
  BpBp_ = BzBz_;
  qq_ = dot(q_.v, q_.v) + dot(q_.c, q_.c);
  reference_ = BzBz_;
}

bool StaggeredQp::broken() const {
  if (method_ == QpMethod::minres) return false;
  constexpr double tiny = kBreakdown * kBreakdown;
  return !(zBz_ * zBz_ > tiny * zz_ * BzBz_) || !(Bpq_ * Bpq_ > tiny * BpBp_ * qq_);
}

double StaggeredQp::step() {
  if (method_ == QpMethod::minres) return step_lanczos();
  const double alpha = zBz_ / Bpq_;
  advance(alpha);
  return alpha;
}

/// y += α p and what moves with it; q = C⁻¹ B p.
void StaggeredQp::advance(double alpha) {
  for (std::size_t i = 0; i < v_.size(); ++i) {
    v_[i] += alpha * p_.v[i];
    momentum_[i] -= alpha * Bp_.v[i];
    z_.v[i] -= alpha * q_.v[i];
  }
  axpy(alpha, p_.c, r_);
  axpy(alpha, Hp_, u_);
  axpy(-alpha, q_.c, z_.c);
  zz_ = dot(z_.v, z_.v) + dot(z_.c, z_.c);
  measure();
}

void StaggeredQp::turn() {
  if (method_ == QpMethod::minres) return;
  apply(z_, Bz_, Hz_);
  const double next = dot(z_.v, Bz_.v) + dot(z_.c, Bz_.c);
  BzBz_ = dot(Bz_.v, Bz_.v) + dot(Bz_.c, Bz_.c);
  const double beta = next / zBz_;
  zBz_ = next;
  precondition(Bz_, CBz_);
  xpby(z_.v, beta, p_.v);
  xpby(Bz_.v, beta, Bp_.v);
  xpby(CBz_.v, beta, q_.v);
  xpby(z_.c, beta, p_.c);
  xpby(Bz_.c, beta, Bp_.c);
  xpby(CBz_.c, beta, q_.c);
  xpby(Hz_, beta, Hp_);
  Bpq_ = dot(Bp_.v, q_.v) + dot(Bp_.c, q_.c);
  BpBp_ = dot(Bp_.v, Bp_.v) + dot(Bp_.c, Bp_.c);
  qq_ = dot(q_.v, q_.v) + dot(q_.c, q_.c);
}

bool StaggeredQp::minimising_step() {
  residual_vector(Bp_);
  precondition(Bp_, z_);
  apply(z_, Bz_, Hz_);
  precondition(Bz_, p_);
  apply(p_, Bp_, Hp_);
  precondition(Bp_, q_);
  const double along = dot(Bp_.v, z_.v) + dot(Bp_.c, z_.c);
  const double size = dot(Bp_.v, q_.v) + dot(Bp_.c, q_.c);
  const double alpha = along / size;
  if (!(size > 0.0) || !std::isfinite(alpha) || alpha == 0.0) return false;
  advance(alpha);
  return true;
}

void StaggeredQp::refresh() {
  for (std::size_t i = 0; i < v_.size(); ++i)
    scratch_[i] = system_->v_free[static_cast<Eigen::Index>(i)] - v_[i];
  system_->multiply(scratch_, momentum_);
  add_impulses(system_->H, r_, momentum_);
  system_->relative_velocity(v_, u_);
  ++products_;
  direction_products_ += 2;
  std::fill(change_.begin(), change_.end(), 0.0);
  changed_impulses_ = false;
  measure();
}

double StaggeredQp::impulses(std::span<double> r) const {
  const bool cone = system_->law == FrictionLaw::cone;
  double moved = 0.0;
  for (std::size_t k = 0; k < tangents_.size(); ++k) {
    const double normal = std::isnan(r_[3 * k]) ? r_[3 * k] : std::max(0.0, r_[3 * k]);
    const double bound = system_->mu[static_cast<Eigen::Index>(k)] * normal;
    const Vector2 tangent = tangent_of(r_, k);
    const Vector2 kept = cone ? FrictionCone::project_tangent(tangent, bound)
                              : FrictionPyramid::project_tangent(tangent, bound);
    r[3 * k] = normal;
    r[3 * k + 1] = kept[0];
    r[3 * k + 2] = kept[1];
    for (std::size_t i = 3 * k; i < 3 * k + 3; ++i)
      moved = std::max(moved, softness_[i] * std::abs(r[i] - r_[i]));
  }
  return system_->error(r, u_) + momentum_error_ + moved;
}

}  // namespace signorini
