#include "solvers/newton/ipm.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace signorini {

namespace {

constexpr double kRegularisation = 0.01, kShift = 0.1;
constexpr int kPatienceOfNewton = 25, kPatienceOfProximal = 200;

}  // namespace

void IpmOptions::validate() const {
  if (!(crossover >= 0.0)) throw_usage("solver 'ipm': crossover = {} is negative", crossover);
  if (patience < 1) throw_usage("solver 'ipm': patience = {} must be at least 1", patience);
}

void Ipm::prepare_island(ReducedProblem problem, Vector mu) {
  set_problem(std::move(problem), std::move(mu), options_.common.law);
  interior_.prepare(system_);
  newton_.prepare(system_);
  proximal_.prepare(system_);
  best_x_.assign(u_.size(), 0.0);
}

Iteration Ipm::start(std::span<double> r, const StopTest& stop) {
  const std::span<const double> x = begin(r, stop);
  std::copy(x.begin(), x.end(), best_x_.begin());
  Iteration first;
  first.error = measure(r, 0.0);
  best_error_ = std::numeric_limits<double>::infinity();
  gained_error_ = std::numeric_limits<double>::infinity();
  idle_ = 0;
  phase_ = 0;
  method_ = Method::interior;
  interior_.start();
  ++products_;
  return first;
}

/// Whether the best error has fallen by a tenth lately.
bool Ipm::gained(double error) {
  ++idle_;
  if (error < 0.9 * gained_error_) {
    gained_error_ = error;
    idle_ = 0;
  }
  const int patience = method_ == Method::interior ? options_.patience
                       : method_ == Method::full   ? kPatienceOfNewton
                                                   : kPatienceOfProximal;
  return idle_ < patience;
}

void Ipm::change(Method method) {
  if (method_ != Method::interior) ++counters_.guards;
  method_ = method;
  idle_ = 0;
  gained_error_ = best_error_;
  if (method == Method::full) newton_.start(best_x_, kRegularisation);
  if (method == Method::proximal) proximal_.start(best_x_, kShift);
  ++products_;
}

Iteration Ipm::step_inside(std::span<double> r) {
  Iteration iteration;
  phase_ = 0;
  iteration.moved = interior_.step();
  counters_.factorisations = system_.factorisations();
  ++products_;
  if (!iteration.moved) return iteration;
  system_.to_impulses(interior_.iterate(), r);
  iteration = tell(interior_.error());
  if (!(interior_.error() < best_error_)) return iteration;
  best_error_ = interior_.error();
  std::copy(interior_.iterate().begin(), interior_.iterate().end(), best_x_.begin());
  return iteration;
}

Iteration Ipm::iterate(std::span<double> r) {
  ++counters_.evaluations;
  if (method_ == Method::interior) {
    const Iteration iteration = step_inside(r);
    if (iteration.moved || options_.crossover == 0.0) return iteration;
    change(Method::full);
  }
  phase_ = 1;
  if (method_ == Method::full && !newton_.step()) change(Method::proximal);
  if (method_ == Method::proximal) {
    proximal_.step();
    products_ += 2;
  } else {
    ++products_;
  }
  const bool full = method_ == Method::full;
  const std::span<const double> x = full ? newton_.iterate() : proximal_.iterate();
  const double error = full ? newton_.error() : proximal_.error();
  system_.to_impulses(x, r);
  if (error < best_error_) {
    best_error_ = error;
    std::copy(x.begin(), x.end(), best_x_.begin());
  }
  counters_.state_changes += system_.state_changes();
  counters_.factorisations = system_.factorisations();
  return tell(error);
}

LoopEnd Ipm::settle(std::span<double> /*r*/) {
  const bool gains = gained(best_error_);
  if (method_ == Method::interior) {
    if (options_.crossover == 0.0) return gains || stop_->fixed() ? LoopEnd::none : LoopEnd::stuck;
    if (!gains || best_error_ <= options_.crossover * stop_->scale()) change(Method::full);
    return LoopEnd::none;
  }
  if (gains) return LoopEnd::none;
  if (method_ == Method::full) {
    change(Method::proximal);
    return LoopEnd::none;
  }
  return stop_->fixed() ? LoopEnd::none : LoopEnd::stuck;
}

}  // namespace signorini
