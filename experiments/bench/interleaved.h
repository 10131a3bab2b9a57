#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <span>
#include <vector>

namespace signorini::bench {

enum class Start {
  cold,  ///< right after the other candidates
  warm   ///< after one untimed run of the same candidate, so that it finds its own data in cache
};

/// Times all `candidates` in turn within every iteration, so that a ratio of two never comes from two states of the
/// machine. The first is what Google Benchmark reports; the least seconds of each are returned.
inline std::vector<double> least_seconds(benchmark::State& state, Start how,
                                         std::span<const std::function<void()>> candidates) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> least(candidates.size(), std::numeric_limits<double>::infinity());
  for (auto _ : state) {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (how == Start::warm) candidates[i]();
      const auto start = Clock::now();
      candidates[i]();
      const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
      if (i == 0) state.SetIterationTime(seconds);
      least[i] = std::min(least[i], seconds);
    }
  }
  return least;
}

}  // namespace signorini::bench
