#include "solvers/contact_states.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace signorini {

namespace {

/// Of the lag of held bounds: what the problem with these bounds is solved to before they move. Where
/// contacts nearly coincide, their normal impulses are a hundred times less accurate than the velocities
/// (docs/notes/measurements.md).
constexpr double kTightBounds = 1e-4;
/// HeldBounds::adaptive: the largest τ, and the moves that may pass without a halving of the lag.
constexpr double kLooseBounds = 0.1;
constexpr int kMovesInVain = 4;
/// Of the proximal lag: what the regularised problem is solved to before its centre moves.
constexpr double kCentreAccuracy = 0.1;
/// ϑ/S. Larger: more moves of the centre; smaller: less regularisation of redundant contacts
/// (docs/notes/measurements.md).
constexpr double kProximal = 1e-4;

}  // namespace

void ContactStates::prepare(const PrimalSystem& system, const StateRules& rules) {
  rules_ = rules;
  const auto m = static_cast<std::size_t>(system.contacts());
  contact_.assign(m, Contact{});
  softness_.resize(m);
  for (std::size_t k = 0; k < m; ++k) softness_[k] = system.B_diagonal[k].diagonal();
  for (auto* x : {&lambda, &sliding, &active, &proximal, &centre}) x->assign(3 * m, 0.0);
  across.assign(m, Vector2::Zero());
  compliance.assign(m, 0.0);
  for (auto* x : {&bound_, &error_, &scale_}) x->assign(m, 0.0);
  history_.resize(m);
}

void ContactStates::restrict_to_active(std::span<const double> x, std::span<double> out) const {
  for (std::size_t k = 0; k < across.size(); ++k) {
    const std::size_t i = 3 * k;
    const double along = across[k][0] * x[i + 1] + across[k][1] * x[i + 2];
    out[i] = active[i] * x[i];
    const double a = active[i + 1] * x[i + 1] + along * across[k][0];
    out[i + 2] = active[i + 2] * x[i + 2] + along * across[k][1];
    out[i + 1] = a;
  }
}

/// r_T = −bound·δ + a e with a unknown: a = −(bound/speed) e·s, the change of −bound·s/‖s‖ with s.
void ContactStates::slide_along(std::size_t k, const Vector2& direction, double bound, double speed) {
  contact_[k].direction = direction;
  for (std::size_t j = 0; j < 2; ++j) {
    lambda[3 * k + 1 + j] = active[3 * k + 1 + j] = 0.0;
    sliding[3 * k + 1 + j] = -bound * direction[static_cast<Eigen::Index>(j)];
  }
  const bool turns = newton() && bound > 0.0;
  across[k] = turns ? Vector2(-direction[1], direction[0]) : Vector2::Zero();
  compliance[k] = turns ? speed / bound : 0.0;
}

void ContactStates::forget_normals(Contact& contact, double normal) const {
  contact.normals.fill(std::max(0.0, normal));
  contact.known = 1;
}

void ContactStates::push_normal(Contact& contact, double normal) const {
  for (std::size_t i = contact.normals.size(); i-- > 1;) contact.normals[i] = contact.normals[i - 1];
  contact.normals[0] = std::max(0.0, normal);
  contact.known = std::min(contact.known + 1, rules_.average);
}

double ContactStates::average(const Contact& contact) const {
  double sum = 0.0;
  for (int i = 0; i < contact.known; ++i) sum += contact.normals[static_cast<std::size_t>(i)];
  return contact.known > 0 ? sum / contact.known : 0.0;
}

bool ContactStates::slips_freely(double product) const {
  return rules_.slip_test == StateForm::corrected ? product < 0.0 : product > 0.0;
}

double ContactStates::follow_violation(const Contact& contact, double violation, double mean,
                                       double softness) const {
  if (rules_.gates == StateForm::corrected) return violation;
  return softness * std::abs(mean - contact.last_average);
}

void ContactStates::switch_off(std::size_t k) {
  contact_[k].on = false;
  lambda[3 * k] = active[3 * k] = 0.0;
  if (!held_) drop_tangents(k);
}

void ContactStates::drop_tangents(std::size_t k) {
  contact_[k].direction.setZero();
  across[k].setZero();
  compliance[k] = 0.0;
  for (std::size_t i = 3 * k + 1; i < 3 * k + 3; ++i) lambda[i] = sliding[i] = active[i] = 0.0;
}

void ContactStates::start(const PrimalSystem& system, std::span<const double> r, std::span<const double> u) {
  /// Without velocities: r_T this close to its bound slides.
  constexpr double kAtBound = 1.0 - 1e-4;
  /// And impulses this small, relative to the largest, are none.
  constexpr double kNoImpulse = 1e-6;
  changes_ = bound_moves_ = 0;
  held_ = false;
  for (auto* x : {&proximal, &centre}) std::fill(x->begin(), x->end(), 0.0);
  double least = 0.0;
  for (std::size_t k = 0; u.empty() && k < contact_.size(); ++k)
    least = std::max(least, kNoImpulse * r[3 * k]);
  for (std::size_t k = 0; k < contact_.size(); ++k) {
    Contact& c = contact_[k] = Contact{};
    switch_off(k);
    const Vector3& S = softness_[k];
    if (!(r[3 * k] > least) || !(S[0] > 0.0)) continue;
    if (!u.empty() && !(S[0] * r[3 * k] > u[3 * k])) continue;
    c.on = true;
    forget_normals(c, r[3 * k]);
    lambda[3 * k] = r[3 * k];
    active[3 * k] = 1.0;
    const double bound = system.mu[static_cast<Eigen::Index>(k)] * r[3 * k];
    if (!(bound > 0.0)) continue;
    const Vector2 tangent(r[3 * k + 1], r[3 * k + 2]);
    const double softest = std::max(S[1], S[2]);
    const Vector2 softness =
        system.law == FrictionLaw::cone ? Vector2(softest, softest) : Vector2(S[1], S[2]);
    Vector2 wanted = tangent / kAtBound;
    if (!u.empty()) wanted = tangent - Vector2(u[3 * k + 1], u[3 * k + 2]).cwiseQuotient(softness);
    start_tangents(system.law, k, bound, tangent, wanted);
  }
}

/// `wanted`: where the tangential impulse would go without its bound.
void ContactStates::start_tangents(FrictionLaw law, std::size_t k, double bound, const Vector2& r,
                                   const Vector2& wanted) {
  Contact& c = contact_[k];
  for (int j = 0; j < 2; ++j) {
    const std::size_t row = 3 * k + 1 + static_cast<std::size_t>(j);
    const double size = law == FrictionLaw::cone ? wanted.norm() : std::abs(wanted[j]);
    const bool slides = size > bound;  // false where nothing moves: NaN, infinity only of such contacts
    if (slides)
      c.direction[j] = law == FrictionLaw::cone ? -wanted[j] / size : (wanted[j] > 0.0 ? -1.0 : 1.0);
    (slides ? sliding : lambda)[row] = r[j];
    active[row] = slides ? 0.0 : 1.0;
  }
}

bool ContactStates::evaluate(const PrimalSystem& system, std::span<const double> u, double gate,
                             Moment moment) {
  bool changed = false;
  for (std::size_t k = 0; k < contact_.size(); ++k) {
    if (!(softness_[k][0] > 0.0)) continue;
    const double* own = u.data() + 3 * k;
    const bool was_on = contact_[k].on;
    const bool switched = switch_normal(system, k, own, gate, moment);
    if (switched) ++changes_;
    changed = changed || switched;
    const double mu = system.mu[static_cast<Eigen::Index>(k)];
    if (switched && held_) recentre(k);
    if (!(mu > 0.0) || (held_ ? !(bound_[k] > 0.0) : switched || !was_on)) continue;
    push_normal(contact_[k], lambda[3 * k]);
    const Bounds bounds = held_ ? Bounds{bound_[k], bound_[k]}
                                : Bounds{mu * std::max(0.0, lambda[3 * k]), mu * average(contact_[k])};
    bool moved = false;
    if (system.law == FrictionLaw::cone) {
      moved = follow_cone(k, bounds, own, gate, moment);
    } else {
      for (int j = 0; j < 2; ++j) moved = follow_pyramid(k, j, bounds, own, gate, moment) || moved;
    }
    if (moved) ++changes_;
    if (moved && held_) recentre(k);
    changed = changed || moved;
  }
  if (changed || !held_ || moment == Moment::running || !(std::max(bound_lag(system), proximal_lag()) > gate))
    return changed;
  if (kCentreAccuracy * proximal_lag() <= bound_accuracy_ * bound_lag(system)) move_bounds(system, u, gate);
  for (std::size_t k = 0; k < contact_.size(); ++k) recentre(k);
  return true;
}

bool ContactStates::switch_normal(const PrimalSystem& system, std::size_t k, const double* u, double gate,
                                  Moment moment) {
  Contact& c = contact_[k];
  if (c.on) {
    const bool opens = u[0] >= (moment == Moment::converged ? -gate : 0.0);
    const double pull = -lambda[3 * k];
    if (!(opens && pull >= 0.0 && softness_[k][0] * pull > gate)) return false;
    switch_off(k);
    return true;
  }
  if (!(u[0] < -gate) || rules_.gates == StateForm::printed) return false;
  c.on = true;
  active[3 * k] = 1.0;
  forget_normals(c, 0.0);
  if (!held_ && system.mu[static_cast<Eigen::Index>(k)] > 0.0) begin_tangents(system.law, k, u, gate);
  return true;
}

/// Sliding along s without an impulse yet.
void ContactStates::begin_tangents(FrictionLaw law, std::size_t k, const double* u, double gate) {
  Contact& c = contact_[k];
  c.slips = c.confirmed = {};
  const Vector2 s(u[1], u[2]);
  if (law == FrictionLaw::cone) {
    const double speed = s.norm();
    c.direction = speed > gate ? Vector2(s / speed) : Vector2::Zero();
    if (!(speed > gate)) active[3 * k + 1] = active[3 * k + 2] = 1.0;
  } else {
    for (int j = 0; j < 2; ++j) {
      c.direction[j] = s[j] > 0.0 ? 1.0 : -1.0;
      if (!(std::abs(s[j]) > gate)) active[3 * k + 1 + static_cast<std::size_t>(j)] = 1.0;
    }
  }
}

bool ContactStates::follow_cone(std::size_t k, const Bounds& bounds, const double* u, double gate,
                                Moment moment) {
  Contact& c = contact_[k];
  const double S = std::max(softness_[k][1], softness_[k][2]);
  const auto [bound, mean] = bounds;
  const Vector2 s(u[1], u[2]);
  Eigen::Map<Vector2> stuck(lambda.data() + 3 * k + 1);
  Eigen::Map<Vector2> known(sliding.data() + 3 * k + 1);
  const double speed = s.norm();
  if (active[3 * k + 1] > 0.0) {
    const double size = stuck.norm();
    if (!(S * (size - bound) > gate)) return false;
    if (moment == Moment::running && !slips_freely(s.dot(stuck))) return false;
    forget_normals(c, lambda[3 * k]);
    slide_along(k, -stuck / size, bound, speed);
    return true;
  }
  const Vector2 present = known + stuck;
  if (s.dot(c.direction) <= 0.0 && speed > gate && rules_.gates == StateForm::corrected) {
    stuck = present;
    known.setZero();
    active[3 * k + 1] = active[3 * k + 2] = 1.0;
    across[k].setZero();
    compliance[k] = 0.0;
    return true;
  }
  if (held_ && newton() && moment == Moment::running)
    return false;  // else a restart for every turn, and nearly coincident contacts never settle
  Vector2 direction = c.direction;
  if (newton() && present.norm() > 0.0) direction = -present.normalized();
  if (rules_.direction != SlideDirection::paper) {
    const Vector2 pushed = mean * S * direction + s;
    if (pushed.norm() > 0.0) direction = pushed.normalized();
  } else if (speed > gate) {
    const double cosine = std::clamp(s.dot(direction) / speed, -1.0, 1.0);
    if (std::acos(cosine) * 180.0 / std::numbers::pi > rules_.angle)
      direction = (direction + rules_.turn * (s / speed - direction)).normalized();
  }
  const double violation = follow_violation(c, S * (bound * direction + present).norm(), mean, S);
  if (!(violation > gate)) return false;
  c.last_average = mean;
  slide_along(k, direction, mean, speed);
  return true;
}

bool ContactStates::follow_pyramid(std::size_t k, int j, const Bounds& bounds, const double* u, double gate,
                                   Moment moment) {
  Contact& c = contact_[k];
  const auto part = static_cast<std::size_t>(j);
  const std::size_t row = 3 * k + 1 + part;
  const double S = softness_[k][1 + j];
  const auto [bound, mean] = bounds;
  const double s = u[1 + j];
  if (active[row] > 0.0) {
    const double size = std::abs(lambda[row]);
    if (!(S * (size - bound) > gate)) return false;
    if (moment == Moment::running && !slips_freely(s * lambda[row])) return false;
    c.direction[j] = lambda[row] > 0.0 ? -1.0 : 1.0;
    ++c.slips[part];
    c.confirmed[part] = 0;
    sliding[row] = -bound * c.direction[j];
    lambda[row] = active[row] = 0.0;
    return true;
  }
  if (s * c.direction[j] <= 0.0 && std::abs(s) > gate && rules_.gates == StateForm::corrected) {
    // against cycles: sticking must be asked for more often the more often this tangent has slipped
    if (++c.confirmed[part] < 1 + c.slips[part]) return false;
    c.confirmed[part] = 0;
    lambda[row] = sliding[row];
    sliding[row] = 0.0;
    active[row] = 1.0;
    return true;
  }
  c.confirmed[part] = 0;
  const double violation = follow_violation(c, S * std::abs(bound * c.direction[j] + sliding[row]), mean, S);
  if (!(violation > gate)) return false;
  c.last_average = mean;
  sliding[row] = -mean * c.direction[j];
  return true;
}

void ContactStates::hold_bounds(const PrimalSystem& system) {
  held_ = true;
  history_.forget();
  bound_accuracy_ = kTightBounds;
  lag_ = std::numeric_limits<double>::infinity();
  moves_in_vain_ = 0;
  for (std::size_t k = 0; k < contact_.size(); ++k) {
    bound_[k] = system.mu[static_cast<Eigen::Index>(k)] * std::max(0.0, lambda[3 * k]);
    if (!(bound_[k] > 0.0)) drop_tangents(k);
    const Vector3& S = softness_[k];
    proximal[3 * k] = kProximal * S[0];
    proximal[3 * k + 1] = proximal[3 * k + 2] = kProximal * std::max(S[1], S[2]);
    recentre(k);
    contact_[k].slips = contact_[k].confirmed = {};
  }
}

double ContactStates::bound_error(const PrimalSystem& system, std::size_t k) const {
  return system.mu[static_cast<Eigen::Index>(k)] * std::max(0.0, lambda[3 * k]) - bound_[k];
}

double ContactStates::bound_lag(const PrimalSystem& system) const {
  double largest = 0.0;
  for (std::size_t k = 0; k < contact_.size(); ++k)
    largest =
        std::max(largest, std::max(softness_[k][1], softness_[k][2]) * std::abs(bound_error(system, k)));
  return largest;
}

double ContactStates::proximal_lag() const {
  double largest = 0.0;
  for (std::size_t i = 0; i < centre.size(); ++i)
    largest = std::max(largest, proximal[i] * std::abs(lambda[i] - centre[i]));
  return largest;
}

double ContactStates::held_accuracy(const PrimalSystem& system) const {
  return held_ ? std::max(bound_accuracy_ * bound_lag(system), kCentreAccuracy * proximal_lag()) : 0.0;
}

void ContactStates::recentre(std::size_t k) {
  for (std::size_t i = 3 * k; i < 3 * k + 3; ++i) centre[i] = lambda[i];
}

void ContactStates::loosen_bounds() { bound_accuracy_ = std::min(kLooseBounds, 10.0 * bound_accuracy_); }

void ContactStates::adapt_accuracy(double lag) {
  if (lag < 0.5 * lag_) {
    lag_ = lag;
    moves_in_vain_ = 0;
  } else if (++moves_in_vain_ >= kMovesInVain) {
    bound_accuracy_ = std::max(kTightBounds, 0.1 * bound_accuracy_);
    lag_ = lag;
    moves_in_vain_ = 0;
  }
}

void ContactStates::move_bounds(const PrimalSystem& system, std::span<const double> u, double gate) {
  const bool cone = system.law == FrictionLaw::cone;
  ++bound_moves_;
  if (rules_.bounds == HeldBounds::adaptive) adapt_accuracy(bound_lag(system));
  for (std::size_t k = 0; k < contact_.size(); ++k) {
    error_[k] = bound_error(system, k);
    scale_[k] = std::max(softness_[k][1], softness_[k][2]);
  }
  history_.step(scale_, error_, bound_);
  for (std::size_t k = 0; k < contact_.size(); ++k) {
    Contact& c = contact_[k];
    const bool had = c.direction.squaredNorm() > 0.0 || active[3 * k + 1] > 0.0 || active[3 * k + 2] > 0.0;
    c.slips = c.confirmed = {};
    if (!(bound_[k] > 0.0)) {
      bound_[k] = 0.0;
      drop_tangents(k);
      continue;
    }
    if (!had) begin_tangents(system.law, k, u.data() + 3 * k, gate);
    if (cone) {
      if (active[3 * k + 1] > 0.0) continue;
      const Vector2 present(lambda[3 * k + 1] + sliding[3 * k + 1], lambda[3 * k + 2] + sliding[3 * k + 2]);
      const Vector2 direction = present.norm() > 0.0 ? Vector2(-present.normalized()) : c.direction;
      slide_along(k, direction, bound_[k], Vector2(u[3 * k + 1], u[3 * k + 2]).norm());
    } else {
      for (std::size_t j = 0; j < 2; ++j)
        if (active[3 * k + 1 + j] == 0.0)
          sliding[3 * k + 1 + j] = -bound_[k] * c.direction[static_cast<Eigen::Index>(j)];
    }
  }
}

void ContactStates::impulses(const PrimalSystem& system, std::span<double> r) const {
  for (std::size_t k = 0; k < contact_.size(); ++k) {
    const double normal = std::max(0.0, lambda[3 * k]);
    const Vector2 tangent(lambda[3 * k + 1] + sliding[3 * k + 1], lambda[3 * k + 2] + sliding[3 * k + 2]);
    const double bound = system.mu[static_cast<Eigen::Index>(k)] * normal;
    const Vector2 kept = system.law == FrictionLaw::cone ? FrictionCone::project_tangent(tangent, bound)
                                                         : FrictionPyramid::project_tangent(tangent, bound);
    r[3 * k] = normal;
    r[3 * k + 1] = kept[0];
    r[3 * k + 2] = kept[1];
    // max and min lose a NaN
    if (std::isnan(lambda[3 * k])) r[3 * k] = lambda[3 * k];
  }
}

}  // namespace signorini
