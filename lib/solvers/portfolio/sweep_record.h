#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

/// The best error of every sweep of a leg, unit-free, and the rate at which it falls.
namespace signorini {

class SweepRecord {
 public:
  static constexpr int kLongest = 256;

  void begin(double error) {
    count_ = 0;
    best_ = error;
  }
  void add(double error) {
    if (error < best_) best_ = error;
    if (count_ < kLongest) log_[static_cast<std::size_t>(count_)] = std::log(best_);
    ++count_;
  }
  int sweeps() const { return count_; }
  double best() const { return best_; }
  /// Fall of the natural logarithm per sweep over the last half of the leg; 0 where it does not fall.
  double rate() const {
    const int kept = std::min(count_, kLongest);
    if (kept < 2) return 0.0;
    const int from = kept / 2 - 1;
    const double fall =
        log_[static_cast<std::size_t>(std::max(0, from))] - log_[static_cast<std::size_t>(kept - 1)];
    return std::max(0.0, fall / static_cast<double>(kept - 1 - std::max(0, from)));
  }
  /// Sweeps until the best is `target`; infinite where it does not fall.
  double left(double target) const {
    if (best_ <= target) return 0.0;
    const double per_sweep = rate();
    if (!(per_sweep > 0.0)) return std::numeric_limits<double>::infinity();
    return std::log(best_ / target) / per_sweep;
  }

 private:
  std::array<double, kLongest> log_{};
  int count_ = 0;
  double best_ = std::numeric_limits<double>::infinity();
};

}  // namespace signorini
