#include "solvers/global_newton/sap.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "linalg/dot.h"

namespace signorini {

namespace {

constexpr int kIdle = 200;
/// Of R between minimisations: error over the last one from which it has grown, or creeps where few Newton steps
/// were enough; steps after which a minimisation ends in any case, as rounding may keep it from its end; the
/// factors on R; the least of R over the model's.
constexpr double kGrew = 1.02;
constexpr double kCreeps = 0.95;
constexpr int kFewSteps = 3;
constexpr int kMostSteps = 60;
constexpr double kMore = 4.0;
constexpr double kLess = 0.25;
constexpr double kLeast = 1e-6;
constexpr double kLongestStep = 1.5;
/// Of the exact line search: slope that is enough, over the slope at its start; evaluations.
constexpr double kSlope = 1e-8;
constexpr int kMostEvaluations = 60;
/// Of backtracking.
constexpr double kArmijo = 1e-4;
constexpr double kShorter = 0.8;
constexpr int kMostShortenings = 40;

Vector3 part(const std::vector<double>& x, Index k) {
  return Eigen::Map<const Vector3>(x.data() + 3 * static_cast<std::size_t>(k));
}

Eigen::Map<Vector3> part(std::vector<double>& x, Index k) {
  return Eigen::Map<Vector3>(x.data() + 3 * static_cast<std::size_t>(k));
}

}  // namespace

void SapOptions::validate() const {
  if (!(beta > 0.0)) throw_usage("solver 'sap': beta = {} must be positive", beta);
  if (!(sigma > 0.0)) throw_usage("solver 'sap': sigma = {} must be positive", sigma);
  if (!(eps_r > 0.0)) throw_usage("solver 'sap': eps_r = {} must be positive", eps_r);
  if (!(forcing > 0.0)) throw_usage("solver 'sap': forcing = {} must be positive", forcing);
}

void Sap::prepare(const ContactProblem& problem) {
  set_problem(problem, options_.common.law, options_.judge);
  matrix_.prepare(system_, Symmetry::positive_definite);
  const std::size_t m = system_.contacts(), n = system_.size();
  R_.assign(m, {});
  mu_.assign(m, 0.0);
  const double normal = options_.beta * options_.beta / (4.0 * std::numbers::pi * std::numbers::pi);
  for (std::size_t k = 0; k < m; ++k) {
    const InverseMass& of = system_.inverse_mass[k];
    if (!(of.normal > 0.0)) continue;
    const double w = Vector3(of.normal, of.tangent, of.tangent).norm() / 3.0;
    R_[k] = {normal * w, options_.sigma * w};
    if (of.tangent > 0.0) mu_[k] = system_.mu[static_cast<Eigen::Index>(k)];
  }
  now_ = R_;
  G_.assign(m, Matrix3::Zero());
  for (auto* x : {&dv_, &mass_y_, &mass_dv_, &impulse_, &gradient_, &scaled_, &free_momentum_, &root_})
    x->assign(n, 0.0);
  for (auto* x : {&du_, &gamma_, &centre_, &best_r_}) x->assign(3 * m, 0.0);
  shift_.assign(m, 0.0);
  system_.multiply(span_of(system_.origin), free_momentum_);
  for (Index i = 0; i < system_.M.block_rows; ++i) {
    const Vector3 diagonal = diagonal_block(system_.M, i).diagonal();
    for (Index a = 0; a < 3; ++a) root_[3 * static_cast<std::size_t>(i) + a] = 1.0 / std::sqrt(diagonal[a]);
  }
}

Iteration Sap::start(std::span<double> r, const StopTest& stop) {
  counters_ = {};
  by_model_ = !is_exact() && !stop.fixed();
  stage_ = Stage::going;
  forget_gains();
  least_ = std::numeric_limits<double>::infinity();
  share_ = 1.0;
  last_residual_ = std::numeric_limits<double>::infinity();
  steps_ = 0;
  std::copy(R_.begin(), R_.end(), now_.begin());
  begin(r);
  Iteration first;
  first.estimate = system_.error(r, u_);
  if (is_exact()) start_outer_loop(r);
  find_impulses();
  return first;
}

/// The velocities that the start impulses give.
void Sap::begin(std::span<const double> r) {
  std::fill(y_.begin(), y_.end(), 0.0);
  std::fill(centre_.begin(), centre_.end(), 0.0);
  std::fill(shift_.begin(), shift_.end(), 0.0);
  if (std::any_of(r.begin(), r.end(), [](double x) { return x != 0.0; })) respond(r);
  if (!all_finite(y_)) std::fill(y_.begin(), y_.end(), 0.0);
  find_velocities();
}

/// y = M⁻¹ H r.
void Sap::respond(std::span<const double> r) {
  if (system_.exact()) {
    system_.exact_response(r, y_);
  } else {
    std::fill(G_.begin(), G_.end(), Matrix3::Zero());
    ++counters_.factorisations;
    if (!matrix_.factor(G_)) return;
    std::fill(impulse_.begin(), impulse_.end(), 0.0);
    system_.impulse(r, impulse_);
    matrix_.solve(impulse_, y_);
  }
  ++counters_.triangular_solves;
}

/// r° = r with the shift of its velocities; from r = 0 the first minimisation is the model's.
void Sap::start_outer_loop(std::span<const double> r) {
  if (std::all_of(r.begin(), r.end(), [](double x) { return x == 0.0; })) return;
  std::copy(r.begin(), r.end(), centre_.begin());
  find_shift();
}

void Sap::find_shift() {
  for (Index k = 0; k < count(shift_); ++k) shift_[k] = mu_[k] * part(u_, k).tail<2>().norm();
}

/// What the cone is to project, y_k, at the relative velocity u_k.
Vector3 Sap::pushed(Index k, const Vector3& u) const {
  Vector3 towards = u;
  towards[0] += shift_[k];
  return part(centre_, k) - towards.cwiseQuotient(now_[k].diagonal());
}

/// γ, G and the gradient at v.
void Sap::find_impulses() {
  for (Index k = 0; k < count(now_); ++k) {
    if (!(now_[k].normal > 0.0)) continue;
    const ConeImpulse impulse = project_in_norm(now_[k], mu_[k], pushed(k, part(u_, k)));
    part(gamma_, k) = impulse.gamma;
    G_[k] = impulse.G;
  }
  system_.multiply(y_, mass_y_);
  std::fill(impulse_.begin(), impulse_.end(), 0.0);
  system_.impulse(gamma_, impulse_);
  for (std::size_t i = 0; i < gradient_.size(); ++i) gradient_[i] = mass_y_[i] - impulse_[i];
  ++counters_.evaluations;
  ++counters_.mass_products;
  ++counters_.direction_products;
}

/// Errors of γ and v.
void Sap::find_errors() {
  contact_error_ = 0.0;
  double poison = 0.0;  // max loses a NaN
  for (Index k = 0; k < count(now_); ++k) {
    if (!(now_[k].normal > 0.0)) continue;
    const Vector3 r = part(gamma_, k), u = part(u_, k);
    const double e = contact_error(system_.law, system_.inverse_mass[k], system_.mu[k], r.data(), u.data());
    contact_error_ = std::max(contact_error_, e);
    poison += 0.0 * e;
  }
  std::copy(gradient_.begin(), gradient_.end(), scaled_.begin());
  momentum_ = system_.largest_velocity(scaled_) + poison;
}

Iteration Sap::iterate(std::span<double> r) {
  if (stage_ == Stage::last) {
    std::copy(best_r_.begin(), best_r_.end(), r.begin());
    stage_ = Stage::ended;
    Iteration iteration;
    iteration.estimate = std::max(least_, immovable_);
    return iteration;
  }
  Iteration iteration;
  if (stage_ == Stage::ended || !step()) {
    stage_ = Stage::ended;
    iteration = told();
    iteration.moved = false;
    return iteration;
  }
  ++steps_;
  std::copy(gamma_.begin(), gamma_.end(), r.begin());
  iteration = told();
  if (!iteration.finite()) return iteration;
  if (residual() < least_) {
    least_ = residual();
    std::copy(r.begin(), r.end(), best_r_.begin());
  }
  if (count_idle() >= kIdle) stage_ = Stage::last;
  const double rounding = std::numeric_limits<double>::epsilon() * system_.scale;
  if (residual() <= rounding) stage_ = Stage::ended;
  const double enough = std::max(options_.forcing * contact_error_, 4.0 * rounding);
  if (is_exact() && (momentum_ <= enough || steps_ >= kMostSteps)) move_centre();
  return iteration;
}

/// Without a stop of the caller's, the model ends here.
LoopEnd Sap::settle(std::span<double> /*r*/) {
  return by_model_ && meets_paper_rule() ? LoopEnd::paper_rule : LoopEnd::none;
}

/// ‖D ∇ℓ‖ ≤ ε_r max(‖D M v‖, ‖D H γ‖).
bool Sap::meets_paper_rule() const {
  double gradient = 0.0, momentum = 0.0, impulse = 0.0;
  for (std::size_t i = 0; i < root_.size(); ++i) {
    const double p = root_[i] * (free_momentum_[i] + mass_y_[i]);
    gradient += root_[i] * root_[i] * gradient_[i] * gradient_[i];
    impulse += root_[i] * root_[i] * impulse_[i] * impulse_[i];
    momentum += p * p;
  }
  return std::sqrt(gradient) <= options_.eps_r * std::sqrt(std::max(momentum, impulse));
}

/// A Newton step with its line search. False when there is none.
bool Sap::step() {
  ++counters_.factorisations;
  if (!all_finite(gradient_) || !matrix_.factor(G_)) return false;
  matrix_.solve(gradient_, dv_);
  ++counters_.triangular_solves;
  for (double& x : dv_) x = -x;
  contact_velocities(system_.H, dv_, du_);
  system_.multiply(dv_, mass_dv_);
  ++counters_.mass_products;
  ++counters_.direction_products;
  if (!all_finite(dv_)) return false;
  const double t = search();
  // u by increments: 1/R magnifies what rounding of v + w would add to it
  for (std::size_t i = 0; i < y_.size(); ++i) y_[i] += t * dv_[i];
  for (std::size_t i = 0; i < u_.size(); ++i) u_[i] += t * du_[i];
  find_impulses();
  find_errors();
  return true;
}

/// The contacts' part of the cost, its slope and curvature at v + t dv.
Sap::Along Sap::contacts_along(double t) const {
  Along sum;
  for (Index k = 0; k < count(now_); ++k) {
    if (!(now_[k].normal > 0.0)) continue;
    const Vector3 du = part(du_, k);
    const Vector3 u = part(u_, k) + t * du;
    const ConeImpulse impulse = project_in_norm(now_[k], mu_[k], pushed(k, u));
    sum.cost += 0.5 * impulse.gamma.dot(now_[k].diagonal().cwiseProduct(impulse.gamma));
    sum.slope -= impulse.gamma.dot(du);
    sum.curvature += du.dot(impulse.G * du);
  }
  return sum;
}

/// Length of the step. Where rounding hides the descent it is 1.
double Sap::search() {
  const double slope = dot(dv_, mass_y_), curvature = dot(dv_, mass_dv_);
  return options_.line_search == SapLineSearch::exact ? search_exactly(slope, curvature)
                                                      : search_backwards(slope, curvature);
}

/// Root of the slope in (0, kLongestStep], by Newton's method from 1 in a bracket that bisection shortens.
double Sap::search_exactly(double slope, double curvature) {
  const double first = slope + contacts_along(0.0).slope;
  if (!(first < 0.0)) return 1.0;
  double low = 0.0, high = kLongestStep, t = 1.0;
  bool bounded = false;  // the slope at `high` is known to be positive
  for (int i = 0; i < kMostEvaluations; ++i) {
    const Along contacts = contacts_along(t);
    const double here = slope + t * curvature + contacts.slope;
    if (std::abs(here) <= -kSlope * first) return t;
    if (here < 0.0) {
      if (t >= kLongestStep) return t;
      low = t;
    } else {
      high = t;
      bounded = true;
    }
    const double newton = t - here / (curvature + contacts.curvature);
    if (newton > low && newton < high) {
      t = newton;
    } else {
      t = bounded ? 0.5 * (low + high) : kLongestStep;
    }
  }
  return t;
}

double Sap::search_backwards(double slope, double curvature) {
  const Along start = contacts_along(0.0);
  const double first = slope + start.slope;
  if (!(first < 0.0)) return 1.0;
  double t = kLongestStep;
  for (int i = 0; i < kMostShortenings; ++i, t *= kShorter) {
    const double change = t * slope + 0.5 * t * t * curvature + contacts_along(t).cost - start.cost;
    if (change <= kArmijo * t * first) return t;
  }
  return 1.0;
}

/// Less of R where the error creeps down: contacts that need large impulses for small velocities approach them by
/// u/R each time. More, up to the model's, where it grew: R damps the iteration on the shift.
void Sap::adapt_regularisation() {
  const double ratio = residual() / last_residual_;
  if (ratio > kGrew || steps_ >= kMostSteps) {
    share_ = std::min(1.0, kMore * share_);
  } else if (ratio > kCreeps && steps_ <= kFewSteps) {
    share_ = std::max(kLeast, kLess * share_);
  }
  last_residual_ = residual();
  steps_ = 0;
  for (std::size_t k = 0; k < R_.size(); ++k) now_[k] = {share_ * R_[k].normal, share_ * R_[k].tangent};
}

/// The next minimisation: around γ, with the shift of the present velocities.
void Sap::move_centre() {
  ++counters_.relinearisations;
  adapt_regularisation();
  std::copy(gamma_.begin(), gamma_.end(), centre_.begin());
  find_velocities();
  find_shift();
  find_impulses();
}

}  // namespace signorini
