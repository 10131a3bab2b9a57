#pragma once

#include <chrono>

namespace signorini {

/// Wall-clock stopwatch on a monotonic clock; starts when constructed.
class Stopwatch {
 public:
  /// Seconds since construction or the last `restart`.
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  void restart() { start_ = std::chrono::steady_clock::now(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace signorini
