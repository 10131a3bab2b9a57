#pragma once

#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "contact/residuals.h"
#include "solvers/solver.h"

/// One row of runs.csv: a solver variant on a snapshot. Failures and timeouts are rows too.
namespace signorini {

struct RunRecord {
  std::string experiment, file, step;
  int contacts = 0, dofs = 0, regions = 0, largest_region = 0;
  std::string solver, options, law, region_mode;
  int threads = 1, repetition = 0;
  SolveStatus status = SolveStatus::failed;
  int iterations = 0;
  Residuals errors;
  double setup_seconds = 0.0, solve_seconds = 0.0;
  double tolerance = 0.0;
  // beyond the contract, appended at the end of the row
  std::string protocol;  ///< time (k* iterations), self-stopped, converge
  std::string phases;    ///< iterations by kind
  long long products = 0;
  std::string message;
  std::string label;       ///< the experiment's own name for the solver variant
  SolveCounters counters;  ///< of the solve; of a traced run: up to k*; without one, and by regions, of all
                           ///< its iterations
  // how busy the machine was while the solve was timed; NaN and -1 where it was not
  double cpu_share = std::numeric_limits<double>::quiet_NaN();     ///< `CpuUse::cpu_share`
  double waited_share = std::numeric_limits<double>::quiet_NaN();  ///< `CpuUse::waited_share`
  long long involuntary_switches = -1;
  long long solver_bytes = -1;  ///< that the solver holds after its set-up and solve; -1: unknown
  /// `WorkAndSpan::speedup` on 8, 64 and 256 cores; NaN: not counted
  double speedup_8 = std::numeric_limits<double>::quiet_NaN();
  double speedup_64 = std::numeric_limits<double>::quiet_NaN();
  double speedup_256 = std::numeric_limits<double>::quiet_NaN();
  int threads_used = -1;  ///< `RegionSolver::threads_used`; -1: unknown
};

/// What a column of runs.csv is.
struct Column {
  std::string_view name;
  std::string_view type;  ///< text, integer, real
  std::string_view unit;  ///< SI; "1" of numbers without a unit; "" of text
  std::string_view meaning;
  bool key = false;  ///< one of `run_key`
};

/// In the order of the header.
std::vector<Column> run_columns();
/// The same as runs.schema.json, which stands beside runs.csv: { "runs.csv": [{ name, type, unit, meaning, key }] }.
std::string run_schema_json();

/// Header line and row of the contract's columns, in its order, then ours. Text with commas or quotes is
/// quoted (RFC 4180).
std::string run_record_header();
std::string run_record_row(const RunRecord& record);
/// The same columns as a JSON object: numbers as numbers, NaN and infinity as null.
std::string run_record_json(const RunRecord& record);
/// Reads a table back; tolerates a torn last line (a kill) and drops it. A table that ends with an earlier
/// version's last column is read as well: counters that it lacks are 0, measures NaN.
std::vector<RunRecord> read_run_table(const std::filesystem::path& path);
/// The same where rows are to be appended: bad rows are left out instead of refused.
struct RunTableContent {
  std::vector<RunRecord> records;
  std::size_t whole_bytes = 0;   ///< of the file without the torn line
  bool old_columns = false;      ///< of an earlier version: rows of this one cannot be appended
  std::vector<std::string> bad;  ///< what is wrong with rows: "line 7: residual: 'x' is not a number"
};
RunTableContent read_run_table_content(const std::filesystem::path& path);

/// The values of the key columns: they tell whether a run is already in a table.
std::string run_key(const RunRecord& record);

}  // namespace signorini
