#include "harness/bench_timer.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <map>

#include "base/check.h"
#include "base/clock.h"

namespace signorini {
namespace {

void initialise_once() {
  static const bool done = [] {
    std::array<char, 16> program{"signorini"};
    std::array<char, 64> interleave{"--benchmark_enable_random_interleaving=true"};
    std::array<char*, 3> arguments{program.data(), interleave.data(), nullptr};
    int count = 2;
    benchmark::Initialize(&count, arguments.data());
    return true;
  }();
  static_cast<void>(done);
}

/// A run that has no time. Google Benchmark has `skipped` in the place of `error_occurred` from 1.8 on.
template <class Run>
bool without_time(const Run& run) {
  if constexpr (requires { run.error_occurred; }) {
    return run.error_occurred || run.iterations == 0;
  } else {
    return static_cast<bool>(run.skipped) || run.iterations == 0;
  }
}

/// Keeps the time of every repetition; prints nothing.
class Collector : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration || without_time(run)) continue;
      seconds[run.run_name.function_name].push_back(run.real_accumulated_time /
                                                    static_cast<double>(run.iterations));
    }
  }
  std::map<std::string, std::vector<double>> seconds;
};

}  // namespace

std::vector<std::vector<TimedRepetition>> time_interleaved(std::span<const TimedTask> tasks,
                                                           const TimerOptions& options) {
  initialise_once();
  std::exception_ptr failure;
  std::vector<std::vector<CpuUse>> uses(tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const TimedTask& task = tasks[i];
    const double calls = std::ceil(options.minimum_time / std::max(task.estimate, 1e-9));
    benchmark::RegisterBenchmark(std::to_string(i).c_str(),
                                 [&task, &failure, &use = uses[i]](benchmark::State& state) {
                                   const CpuUse before = cpu_use();
                                   try {
                                     for ([[maybe_unused]] auto _ : state) {
                                       task.reset();
                                       const Stopwatch watch;
                                       task.work();
                                       state.SetIterationTime(watch.seconds());
                                     }
                                   } catch (...) {
                                     failure = std::current_exception();
                                     state.SkipWithError("failed");
                                   }
                                   use.push_back(cpu_use() - before);
                                 })
        ->UseManualTime()
        ->Iterations(static_cast<benchmark::IterationCount>(std::clamp(calls, 1.0, 1000.0)))
        ->Repetitions(options.repetitions);
  }
  Collector collector;
  if (!tasks.empty()) benchmark::RunSpecifiedBenchmarks(&collector, std::string("."));
  benchmark::ClearRegisteredBenchmarks();
  if (failure) std::rethrow_exception(failure);

  const std::size_t repetitions = options.repetitions;
  std::vector<std::vector<TimedRepetition>> times(tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const std::vector<double>& seconds = collector.seconds[std::to_string(i)];
    // the number of calls is fixed, so every repetition called the function once, in the order of the reports
    SIGNORINI_CHECK(seconds.size() == repetitions && uses[i].size() == repetitions);
    for (std::size_t k = 0; k < repetitions; ++k) times[i].push_back({seconds[k], uses[i][k]});
  }
  return times;
}

}  // namespace signorini
