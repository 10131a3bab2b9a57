#include "harness/cpu_use.h"

#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <limits>
#include <string>

#include "base/system_file.h"

namespace signorini {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

double process_seconds() {
  timespec time{};
  if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) != 0) return kUnknown;
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// The second number of schedstat: ns that a thread waited on a run queue.
double waited_seconds() {
  std::error_code error;
  double sum = 0.0;
  bool known = false;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", error)) {
    double ran = 0.0, waited = 0.0;
    if (std::sscanf(system_file(task.path() / "schedstat").c_str(), "%lf %lf", &ran, &waited) != 2) continue;
    sum += 1e-9 * waited;
    known = true;
  }
  return known ? sum : kUnknown;
}

/// Of all processors: user, nice, system, irq, softirq and steal, in ticks of 10 ms on most systems.
double machine_seconds() {
  std::array<double, 8> ticks{};
  if (std::sscanf(system_file("/proc/stat").c_str(), "%*s %lf %lf %lf %lf %lf %lf %lf %lf", &ticks[0],
                  &ticks[1], &ticks[2], &ticks[3], &ticks[4], &ticks[5], &ticks[6], &ticks[7]) != 8)
    return kUnknown;
  const double busy = ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6] + ticks[7];
  return busy / static_cast<double>(sysconf(_SC_CLK_TCK));
}

/// Threads that ended meanwhile took their waiting with them, and ticks are coarse: neither makes a negative time. NaN
/// stays.
double grown(double end, double begin) { return end - begin < 0.0 ? 0.0 : end - begin; }

}  // namespace

CpuUse cpu_use() {
  CpuUse use;
  use.wall = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  use.cpu = process_seconds();
  rusage own{}, children{};
  getrusage(RUSAGE_SELF, &own);
  getrusage(RUSAGE_CHILDREN, &children);
  use.children = seconds_of(children.ru_utime) + seconds_of(children.ru_stime);
  use.voluntary = own.ru_nvcsw;
  use.involuntary = own.ru_nivcsw;
  use.waited = waited_seconds();
  use.others = machine_seconds() - use.cpu - use.children;
  return use;
}

CpuUse operator-(const CpuUse& end, const CpuUse& begin) {
  CpuUse use;
  use.wall = end.wall - begin.wall;
  use.cpu = end.cpu - begin.cpu;
  use.children = end.children - begin.children;
  use.waited = grown(end.waited, begin.waited);
  use.others = grown(end.others, begin.others);
  use.voluntary = end.voluntary - begin.voluntary;
  use.involuntary = end.involuntary - begin.involuntary;
  return use;
}

}  // namespace signorini
