#include "solvers/newton/proximal_newton.h"

#include <algorithm>
#include <limits>

namespace signorini {

namespace {

constexpr int kInnerSteps = 40, kFailures = 3, kHalvings = 7;
constexpr double kEnough = 0.2;  ///< of the law's residual at x₀
constexpr double kLeastShift = 1e-11, kMostShift = 100.0;

}  // namespace

void ProximalNewton::prepare(NewtonSystem& system) {
  system_ = &system;
  for (std::vector<double>* v : {&centre_.x, &centre_.y, &x_, &y_, &kept_, &kept_y_, &best_, &near_, &near_y_,
                                 &d_, &Wd_, &trial_, &trial_y_})
    v->assign(system.rows(), 0.0);
}

void ProximalNewton::start(std::span<const double> x, double shift) {
  std::copy(x.begin(), x.end(), centre_.x.begin());
  system_->velocity(centre_.x, centre_.y);
  products_ = 1;
  centre_.size = system_->residual(centre_.x, centre_.y, 0.0).largest;
  best_ = centre_.x;
  system_->make_admissible(best_);
  best_error_ = std::numeric_limits<double>::infinity();
  offer(centre_.x);
  shift_ = shift;
  opened_ = false;
  outer_steps_ = guards_ = 0;
}

void ProximalNewton::offer(std::span<const double> x) {
  std::copy(x.begin(), x.end(), near_.begin());
  system_->make_admissible(near_);
  system_->velocity(near_, near_y_);
  ++products_;
  const double error = system_->error(near_, near_y_);
  if (!(error < best_error_)) return;
  std::copy(near_.begin(), near_.end(), best_.begin());
  best_error_ = error;
}

void ProximalNewton::open() {
  x_ = centre_.x;
  y_ = centre_.y;
  const NewtonSystem::Size size = system_->residual(x_, y_, shift_);
  size_ = first_size_ = kept_size_ = size.largest;
  last_.fill(size.squares);
  kept_ = x_;
  kept_y_ = y_;
  inner_ = failed_ = 0;
  opened_ = true;
}

/// x ← x + t d with the first t that lowers |F|², or the one with the least where none does; false then.
bool ProximalNewton::search() {
  const double bound = *std::max_element(last_.begin(), last_.end());
  double least = std::numeric_limits<double>::infinity(), length = 1.0, t = 1.0;
  bool found = false;
  for (int halving = 0; halving <= kHalvings && !found; ++halving, t *= 0.5) {
    for (std::size_t i = 0; i < x_.size(); ++i) {
      trial_[i] = x_[i] + t * d_[i];
      trial_y_[i] = y_[i] + t * Wd_[i];
    }
    const double squares = system_->residual(trial_, trial_y_, shift_).squares;
    found = squares < bound;
    if (!(squares < least)) continue;
    least = squares;
    length = t;
  }
  for (std::size_t i = 0; i < x_.size(); ++i) {
    x_[i] += length * d_[i];
    y_[i] += length * Wd_[i];
  }
  return found;
}

void ProximalNewton::step() {
  if (!opened_) open();
  ++inner_;
  const bool regular = system_->direction(x_, y_, shift_, shift_, d_);
  if (regular) {
    system_->product(d_, Wd_);
    ++products_;
    for (std::size_t i = 0; i < d_.size(); ++i) Wd_[i] += shift_ * d_[i];
    if (!search()) ++failed_;
    const NewtonSystem::Size size = system_->residual(x_, y_, shift_);
    size_ = size.largest;
    std::rotate(last_.begin(), last_.begin() + 1, last_.end());
    last_.back() = size.squares;
    // the law's own velocities: those of the shifted problem without the shift
    for (std::size_t i = 0; i < x_.size(); ++i) trial_y_[i] = y_[i] - shift_ * (x_[i] - centre_.x[i]);
    offer(x_);
    if (size_ < kept_size_) {
      kept_size_ = size_;
      kept_ = x_;
      kept_y_ = trial_y_;
    }
  }
  const bool solved = kept_size_ <= kEnough * centre_.size;
  if (!regular || solved || inner_ >= kInnerSteps || failed_ >= kFailures) close();
}

void ProximalNewton::close() {
  opened_ = false;
  const double size = system_->residual(kept_, kept_y_, 0.0).largest;
  const bool solved = kept_size_ <= kEnough * centre_.size;
  if (!solved && !(kept_size_ < 0.3 * first_size_ && size < centre_.size)) {
    ++guards_;
    shift_ *= 4.0;
    if (shift_ > kMostShift) shift_ = 1.0;
    return;
  }
  ++outer_steps_;
  const double before = centre_.size;
  centre_.x = kept_;
  system_->velocity(centre_.x, centre_.y);
  ++products_;
  centre_.size = system_->residual(centre_.x, centre_.y, 0.0).largest;
  offer(centre_.x);
  adapt(before);
}

/// A small shift makes large outer steps; many inner steps say that it was too small.
void ProximalNewton::adapt(double size_before) {
  if (inner_ <= 3) {
    shift_ *= 0.1;
  } else if (inner_ <= 6) {
    shift_ *= 0.3;
  } else if (inner_ > 15) {
    shift_ *= 2.0;
  }
  if (centre_.size > 0.7 * size_before) shift_ *= 0.4;
  shift_ = std::clamp(shift_, kLeastShift, kMostShift);
}

}  // namespace signorini
