#pragma once

/// What the processors gave to this process, and what others took from it: the evidence that times were measured on a
/// quiet machine.
namespace signorini {

/// Differences between two calls of `cpu_use()`; all times in s. What this system does not tell is NaN, or 0 for counts.
struct CpuUse {
  double wall = 0.0;
  double cpu = 0.0;           ///< user and system time of all threads of this process
  double children = 0.0;      ///< of child processes that have ended
  double waited = 0.0;        ///< sum over the threads: able to run, but the processor ran another task
  double others = 0.0;        ///< busy time of all processors that neither this process nor its children used
  long long voluntary = 0;    ///< context switches: a thread waited for something
  long long involuntary = 0;  ///< context switches: the processor was taken from a thread

  /// CPU time over wall-clock time: 1 for one thread on a quiet machine.
  double cpu_share() const { return cpu / wall; }
  /// Waiting for a processor over wall-clock time: 0 on a quiet machine, whatever the number of threads.
  double waited_share() const { return waited / wall; }
};

/// Totals since the process started; `wall` since an arbitrary moment. Takes some 20 µs.
CpuUse cpu_use();
CpuUse operator-(const CpuUse& end, const CpuUse& begin);

}  // namespace signorini
