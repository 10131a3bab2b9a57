#include "solvers/global_newton/body_newton.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace signorini {

namespace {

/// Regularisation over residual, and its largest value.
constexpr double kAlphaShare = 0.01;
constexpr double kAlphaMost = 1e-2;
/// Below this residual the proximal phase goes on from the best full step.
constexpr double kNear = 1e-3;
constexpr int kIdle = 300;
constexpr double kFirstShift = 0.1;
constexpr double kLargestShift = 100.0;
/// Of the problem around a centre: residual that is enough, over the true one at the centre; Newton steps; failed
/// searches; halvings of one search; share of the start below which a remainder still counts.
constexpr double kForcing = 0.2;
constexpr int kMostSteps = 20;
constexpr int kMostFailures = 3;
constexpr int kHalvings = 3;
constexpr double kUseful = 0.3;
constexpr double kArmijo = 1e-4;

}  // namespace

void BodyNewtonOptions::validate() const {
  if (patience < 1) throw_usage("solver 'body-newton': patience = {} must be at least 1", patience);
  if (!(alpha_min > 0.0 && alpha_min <= kAlphaMost))
    throw_usage("solver 'body-newton': alpha_min = {} is not in (0, 0.01]", alpha_min);
}

void BodyNewton::prepare(const ContactProblem& problem) {
  set_problem(problem, options_.common.law, options_.judge);
  step_.prepare(system_);
  for (auto* x : {&trial_r_, &trial_u_}) x->assign(u_.size(), 0.0);
  for (Point* point : {&best_point_, &centre_, &nearest_}) {
    point->r.assign(u_.size(), 0.0);
    point->y.assign(y_.size(), 0.0);
  }
}

Iteration BodyNewton::start(std::span<double> r, const StopTest& /*stop*/) {
  counters_ = {};
  stage_ = Stage::newton;
  last_was_proximal_ = inner_ = false;
  forget_gains();
  best_point_.residual = std::numeric_limits<double>::infinity();
  std::fill(y_.begin(), y_.end(), 0.0);
  if (std::any_of(r.begin(), r.end(), [](double x) { return x != 0.0; })) {
    if (system_.exact()) {
      system_.exact_response(r, y_);
      ++counters_.triangular_solves;
    } else if (!step_.respond(r, y_, counters_)) {
      std::fill(y_.begin(), y_.end(), 0.0);
    }
  }
  evaluate(r);
  note_gain(r);
  return told();
}

/// u, and the errors of (r, y).
void BodyNewton::evaluate(std::span<const double> r) {
  find_velocities();
  contact_error_ = step_.distance(r, u_, {}).largest;
  momentum_ = step_.momentum(r, y_, counters_);
}

void BodyNewton::take(const Point& point, std::span<double> r) {
  std::copy(point.r.begin(), point.r.end(), r.begin());
  std::copy(point.y.begin(), point.y.end(), y_.begin());
  evaluate(r);
}

void BodyNewton::keep(Point& point, std::span<const double> r) const {
  std::copy(r.begin(), r.end(), point.r.begin());
  std::copy(y_.begin(), y_.end(), point.y.begin());
  point.residual = residual();
}

void BodyNewton::note_gain(std::span<const double> r) {
  if (residual() < best_point_.residual) keep(best_point_, r);
  count_idle();
}

Iteration BodyNewton::iterate(std::span<double> r) {
  constexpr double kRounding = 4.0 * std::numeric_limits<double>::epsilon();
  if (best_point_.residual <= kRounding * system_.scale && best_point_.residual == residual())
    stage_ = Stage::ended;
  if (stage_ == Stage::ended) {
    Iteration end = told();
    end.moved = false;
    return end;
  }
  last_was_proximal_ = stage_ != Stage::newton;
  if (stage_ == Stage::last) {
    take(best_point_, r);
    stage_ = Stage::ended;
    return told();
  }
  if (stage_ == Stage::newton) {
    const bool stepped = step_fully(r);
    note_gain(r);
    if (!stepped || idle_ >= options_.patience) {
      if (options_.globalise == Globalise::proximal) {
        begin_proximal(r);
      } else {
        stage_ = Stage::last;
      }
    }
  } else {
    step_proximally(r);
    note_gain(r);
    if (idle_ >= kIdle) stage_ = Stage::last;
  }
  return told();
}

/// False when there is no step, or it leads out of the finite numbers.
bool BodyNewton::step_fully(std::span<double> r) {
  NewtonStep::Shift shift;
  shift.regularisation = std::clamp(kAlphaShare * residual() / system_.scale, options_.alpha_min, kAlphaMost);
  if (!std::isfinite(residual()) || !step_.find(r, u_, y_, shift, counters_)) return false;
  for (std::size_t i = 0; i < r.size(); ++i) r[i] += step_.impulse_change()[i];
  for (std::size_t i = 0; i < y_.size(); ++i) y_[i] += step_.velocity_change()[i];
  evaluate(r);
  return std::isfinite(residual());
}

void BodyNewton::begin_proximal(std::span<double> r) {
  ++counters_.guards;
  stage_ = Stage::proximal;
  idle_ = 0;
  inner_ = false;
  least_shift_ = refused_residual_ = 0.0;
  const double best = best_point_.residual / system_.scale;
  if (best <= kNear) {
    shift_.proximal = std::clamp(best, options_.alpha_min, kFirstShift);
    take(best_point_, r);
    return;
  }
  shift_.proximal = kFirstShift;
  std::fill(r.begin(), r.end(), 0.0);
  std::fill(y_.begin(), y_.end(), 0.0);
  evaluate(r);
}

void BodyNewton::open_inner(std::span<const double> r) {
  inner_ = true;
  keep(centre_, r);
  keep(nearest_, r);
  shift_.centre = centre_.r;
  const NewtonStep::Distance distance = step_.distance(r, u_, shift_);
  shifted_first_ = shifted_least_ = distance.largest;
  merits_.fill(distance.merit);
  steps_ = failures_ = 0;
}

/// One Newton step for the problem around the centre; at its end the next centre.
void BodyNewton::step_proximally(std::span<double> r) {
  if (!inner_) open_inner(r);
  if (!step_.find(r, u_, y_, shift_, counters_)) return reject(r);
  const bool found = search(r);
  evaluate(r);
  const NewtonStep::Distance distance = step_.distance(r, u_, shift_);
  if (!std::isfinite(distance.merit)) return reject(r);
  merits_[static_cast<std::size_t>(steps_) % merits_.size()] = distance.merit;
  ++steps_;
  if (distance.largest < shifted_least_) {
    shifted_least_ = distance.largest;
    keep(nearest_, r);
  }
  if (distance.largest <= kForcing * centre_.residual) return accept();
  if (!found) ++failures_;
  if (failures_ >= kMostFailures || steps_ >= kMostSteps) close_inner(r);
}

double BodyNewton::merit_at(double t, std::span<const double> r) {
  for (std::size_t i = 0; i < r.size(); ++i) {
    trial_r_[i] = r[i] + t * step_.impulse_change()[i];
    trial_u_[i] = u_[i] + t * step_.relative_change()[i];
  }
  return step_.distance(trial_r_, trial_u_, shift_).merit;
}

/// r + t dr, y + t dv with the first t of 1, ½, … that lowers the merit. Where none does, with t = 1, which leaves the
/// place where searches fail, and false.
bool BodyNewton::search(std::span<double> r) {
  const double most = *std::max_element(merits_.begin(), merits_.end());
  bool found = false;
  double t = 1.0, length = 1.0;
  for (int halving = 0; halving <= kHalvings && !found; ++halving, t *= 0.5) {
    found = merit_at(t, r) <= (1.0 - kArmijo * t) * most;
    if (found) length = t;
  }
  for (std::size_t i = 0; i < r.size(); ++i) r[i] += length * step_.impulse_change()[i];
  for (std::size_t i = 0; i < y_.size(); ++i) y_[i] += length * step_.velocity_change()[i];
  return found;
}

/// The best iterate for the problem around the centre, where that helps.
void BodyNewton::close_inner(std::span<double> r) {
  take(nearest_, r);
  if (shifted_least_ < kUseful * shifted_first_ && residual() < centre_.residual) {
    accept();
  } else {
    reject(r);
  }
}

/// The iterate is the next centre; a by the steps that it took and by what it gained. The least a, where it failed,
/// falls as well, by every quick centre and with the residual.
void BodyNewton::accept() {
  inner_ = false;
  double factor = steps_ <= 3 ? 0.1 : steps_ <= 6 ? 0.3 : steps_ > 15 ? 2.0 : 1.0;
  if (residual() > 0.7 * centre_.residual) factor *= 0.4;
  if (residual() < 0.5 * refused_residual_) {
    refused_residual_ = residual();
    least_shift_ *= 0.3;
  }
  if (steps_ <= 3) least_shift_ *= 0.5;
  const double least = std::max(options_.alpha_min, least_shift_);
  shift_.proximal = std::clamp(factor * shift_.proximal, least, std::max(least, kLargestShift));
}

void BodyNewton::reject(std::span<double> r) {
  ++counters_.guards;
  inner_ = false;
  take(centre_, r);
  least_shift_ = 1.5 * shift_.proximal;
  refused_residual_ = residual();
  shift_.proximal *= 4.0;
  if (shift_.proximal <= kLargestShift) return;
  shift_.proximal = 1.0;  // around again
  least_shift_ = 0.0;
}

}  // namespace signorini
