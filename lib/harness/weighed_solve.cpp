#include "harness/weighed_solve.h"

#include "base/heap_bytes.h"

namespace signorini {
namespace {

/// Memory of the curves that a traced run fills.
long long bytes_of(const ConvergenceTrace& trace) {
  const auto held = [](const auto&... columns) {
    return (static_cast<long long>(columns.capacity() * sizeof(columns[0])) + ...);
  };
  return held(trace.iteration, trace.seconds, trace.residual, trace.natural_map, trace.active, trace.sliding,
              trace.plain, trace.preconditioned, trace.constraint, trace.state_changes, trace.restarts,
              trace.relinearisations, trace.guards, trace.contact_sweeps);
}

}  // namespace

WeighedSolve solve_weighed(PreparedRun& run, std::span<double> r, const StopRule& stop,
                           IterationObserver* observer, const ConvergenceTrace* trace, Stopwatch* stamps) {
  const long long before = heap_bytes(), curves = trace != nullptr ? bytes_of(*trace) : 0;
  WeighedSolve solve;
  const CpuUse used = cpu_use();
  const Stopwatch watch;
  if (stamps != nullptr) stamps->restart();
  solve.report = run.solver->solve(r, stop, observer);
  solve.seconds = watch.seconds();
  solve.use = cpu_use() - used;
  if (run.record.solver_bytes < 0) return solve;
  const long long more = trace != nullptr ? bytes_of(*trace) - curves : 0;
  run.record.solver_bytes += heap_bytes() - before - more;
  return solve;
}

}  // namespace signorini
