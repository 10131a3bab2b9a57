#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

/// The best error of every sweep of a leg, unit-free, and the rate at which it falls.
namespace signorini {

class SweepRecord {
 public:
  static constexpr int kLongest = 256;  ///< even

  void begin(double error) {
    count_ = kept_ = 0;
    every_ = 1;
    best_ = first_ = error;
  }
  void add(double error) {
    if (error < best_) best_ = error;
    ++count_;
    if (kept_ == kLongest) thin_out();
    if (count_ % every_ != 0) return;
    log_[static_cast<std::size_t>(kept_++)] = std::log(best_);
  }
  int sweeps() const { return count_; }
  double best() const { return best_; }
  /// Fall of the natural logarithm per sweep over the last half of the leg; 0 where it does not fall.
  double rate() const {
    if (kept_ < 2) return 0.0;
    const int from = std::max(0, kept_ / 2 - 1);
    const double fall = log_[static_cast<std::size_t>(from)] - log_[static_cast<std::size_t>(kept_ - 1)];
    return std::max(0.0, fall / static_cast<double>((kept_ - 1 - from) * every_));
  }
  /// The same, or that over all of a long leg where it is more.
  double best_rate() const {
    return std::max(rate(), count_ >= kLongest ? std::log(first_ / best_) / count_ : 0.0);
  }
  /// Sweeps until the best is `target`; infinite where it does not fall.
  double left(double target) const {
    if (best_ <= target) return 0.0;
    const double per_sweep = rate();
    if (!(per_sweep > 0.0)) return std::numeric_limits<double>::infinity();
    return std::log(best_ / target) / per_sweep;
  }

 private:
  /// A full record keeps every other sweep, from then on too.
  void thin_out() {
    for (int k = 0; k < kLongest / 2; ++k)
      log_[static_cast<std::size_t>(k)] = log_[static_cast<std::size_t>(2 * k + 1)];
    kept_ = kLongest / 2;
    every_ *= 2;
  }

  std::array<double, kLongest> log_{};  ///< of sweeps every_, 2 every_, …
  int count_ = 0, kept_ = 0, every_ = 1;
  double best_ = std::numeric_limits<double>::infinity(), first_ = best_;
};

}  // namespace signorini
