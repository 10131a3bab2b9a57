#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

/// Convergence curves of traced runs: /runs/<number>/{iteration,seconds,residual,natural_map,…} with
/// attributes that name file, step, solver, options, region mode and threads. Python reads it with h5py.
namespace signorini {

struct ConvergenceTrace {
  std::string file, step, solver, options, law, region_mode;
  int threads = 1;
  double tolerance = 0.0;
  std::vector<int> iteration;
  std::vector<double> seconds;   ///< time stamps of the solver's own work (the referee's time is taken out)
  std::vector<double> residual;  ///< the referee's
  std::vector<double> natural_map;  ///< NaN for the pyramid
  std::vector<int> active;          ///< contacts with r_N > 0
  std::vector<int> sliding;         ///< contacts on the friction bound
  // what the solver says of itself (IterationProgress); empty where it says nothing, and in older files
  std::vector<double> plain, preconditioned, constraint;  ///< m/s; NaN where a solver has no such norm
  std::vector<int> state_changes, restarts, relinearisations, guards;  ///< so far
  std::vector<int> contact_sweeps;  ///< so far, inner ones included; empty in older files
};

/// Leaves the iterations that all columns have, after a run that ended in the midst of one; columns of the solver's own that lack
/// some become empty.
void cut_to_whole_iterations(ConvergenceTrace& trace);

/// Writes all traces (temporary name, fsync, rename).
void write_traces(const std::filesystem::path& path, const std::vector<ConvergenceTrace>& traces);
std::vector<ConvergenceTrace> read_traces(const std::filesystem::path& path);

}  // namespace signorini
