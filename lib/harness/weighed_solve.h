#pragma once

#include <span>

#include "base/clock.h"
#include "harness/cpu_use.h"
#include "harness/protocols.h"

namespace signorini {

struct WeighedSolve {
  SolveReport report;
  double seconds = 0.0;  ///< of the solve alone: to count the heap may take longer than a small solve
  CpuUse use;
};

/// A solve, with what the solver has kept of it added to the memory that it holds: factors of matrices that the
/// iteration makes, W formed on the way. What the observer adds to `trace` is not the solver's; its watch `stamps` begins with
/// the solve.
WeighedSolve solve_weighed(PreparedRun& run, std::span<double> r, const StopRule& stop,
                           IterationObserver* observer = nullptr, const ConvergenceTrace* trace = nullptr,
                           Stopwatch* stamps = nullptr);

}  // namespace signorini
