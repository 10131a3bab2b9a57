#include "solvers/newton/full_newton.h"

#include <algorithm>

namespace signorini {

namespace {

constexpr double kLeast = 1e-11, kMost = 1e-2;

}  // namespace

void FullNewton::prepare(NewtonSystem& system) {
  system_ = &system;
  for (std::vector<double>* v : {&x_, &y_, &d_, &near_, &near_y_}) v->assign(system.rows(), 0.0);
}

void FullNewton::start(std::span<const double> x, double factor) {
  std::copy(x.begin(), x.end(), x_.begin());
  factor_ = factor;
  guards_ = 0;
  products_ = 0;
  evaluate();
}

void FullNewton::evaluate() {
  system_->velocity(x_, y_);
  size_ = system_->residual(x_, y_, 0.0).largest;
  ++products_;
  near_ = x_;
  system_->make_admissible(near_);
  if (near_ == x_) {
    error_ = system_->error(x_, y_);
    return;
  }
  system_->velocity(near_, near_y_);
  ++products_;
  error_ = system_->error(near_, near_y_) + 0.0 * size_;  // a projection may hide what is not finite
}

bool FullNewton::step() {
  double alpha = std::clamp(factor_ * size_, kLeast, kMost);
  while (!system_->direction(x_, y_, 0.0, alpha, d_)) {
    ++guards_;
    alpha *= 100.0;
    if (!(alpha <= 1.0)) return false;  // nor where the error is not finite
  }
  for (std::size_t i = 0; i < x_.size(); ++i) x_[i] += d_[i];
  evaluate();
  return true;
}

}  // namespace signorini
