#pragma once

#include <limits>

/// Global convergence of accelerated sweeps: where |d|², d the change that a sweep makes, has had no new minimum
/// for kPatience sweeps, plain sweeps follow, twice as many each time. A solve therefore ends as plain sweeps
/// do, whatever acceleration does. Runs that converge steadily are not affected.
namespace signorini {

class StallGuard {
 public:
  /// Takes |d|² of one more sweep. False: the next one starts where this one ended.
  bool allows(double square) {
    if (plain_ > 0) {
      if (--plain_ > 0) return false;
      least_ = square;
      waited_ = 0;
      return true;
    }
    if (square < least_) {
      least_ = square;
      waited_ = 0;
    } else if (++waited_ >= kPatience) {
      plain_ = length_;
      if (length_ < kLongest) length_ *= 2;
      ++spells_;
      return false;
    }
    return true;
  }
  /// How often plain sweeps had to follow.
  long long spells() const { return spells_; }

 private:
  static constexpr int kPatience = 50;
  static constexpr int kLongest = 1 << 20;

  double least_ = std::numeric_limits<double>::infinity();
  int waited_ = 0;
  int plain_ = 0;           ///< plain sweeps still to come
  int length_ = kPatience;  ///< of the next spell
  long long spells_ = 0;
};

}  // namespace signorini
