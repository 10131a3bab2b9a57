#pragma once

#include <limits>

/// Whether an iteration has come to rest: its corrections were within a few roundings of U for kStill iterations in a
/// row. One alone may be an accident of a method with momentum.
namespace signorini {

class Standstill {
 public:
  /// U in m/s.
  void start(double scale) {
    rounding_ = 8.0 * std::numeric_limits<double>::epsilon() * scale;
    still_ = 0;
  }
  /// Takes the correction of one more iteration, m/s.
  bool reached(double correction) {
    still_ = correction <= rounding_ ? still_ + 1 : 0;
    return still_ >= kStill;
  }

 private:
  static constexpr int kStill = 30;
  double rounding_ = 0.0;
  int still_ = 0;
};

}  // namespace signorini
