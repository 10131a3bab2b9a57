#pragma once

#include <cstdint>

namespace signorini {

/// Counter-based random numbers: the k-th number of a stream is a pure function of (seed, stream, k), so a value depends
/// neither on the order in which tasks run nor on the standard library. SplitMix64 finaliser (Steele et al. 2014).
class Rng {
 public:
  explicit Rng(std::uint64_t seed, std::uint64_t stream = 0)
      : key_(mix(seed) ^ mix(stream + 0x632be59bd9b4e019ULL)) {}

  std::uint64_t next() { return mix(key_ + 0x9e3779b97f4a7c15ULL * ++counter_); }
  /// Uniform in [0, 1), 53 bits.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// Uniform in {0, …, n − 1}; n > 0. The bias is below n / 2⁶⁴.
  std::uint64_t below(std::uint64_t n) { return static_cast<std::uint64_t>(next() % n); }
  /// Standard normal (Box–Muller).
  double normal();

 private:
  static std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31U);
  }
  std::uint64_t key_;
  std::uint64_t counter_ = 0;
};

}  // namespace signorini
