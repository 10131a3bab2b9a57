#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/options.h"
#include "harness/run_groups.h"

/// A campaign: experiments whose runs are shared out among many processes and machines. Everything stands in one folder,
/// which all of them see; plain files, no server.
///
///     DIR/plan.toml                    size, program, unit of a shard, most threads of a run, experiments
///     DIR/recordings.csv               the recordings that they need, with estimated costs
///     DIR/cells.csv                    every group of runs, with estimated costs
///     DIR/plan/<id>/run.toml           what the rows of an experiment depend on (harness/result_head.h)
///     DIR/recordings/                  the recordings
///     DIR/parts/<part>/<id>/           rows and curves that one process made
///     DIR/parts/<part>/cells.csv       the groups that it finished, with their times
///     DIR/<id>/                        merged results: a folder of results as `signorini run --out DIR` makes it
///     DIR/nodes/<host>.lock            held by the process that measures on a machine
///
/// A part has one writer. Parts are read by everybody, at any time; which groups are done follows from them alone.
namespace signorini {

/// What stays together on one machine.
enum class ShardUnit {
  snapshot,  ///< all solvers on a snapshot: their times can be compared on a cluster of unlike machines too
  cell       ///< a solver on a snapshot
};
template <>
struct EnumNames<ShardUnit> {
  static constexpr std::array<std::pair<ShardUnit, std::string_view>, 2> value{
      {{ShardUnit::snapshot, "snapshot"}, {ShardUnit::cell, "cell"}}};
};

/// Where an estimated cost comes from.
enum class CostBasis {
  measured,  ///< the same runs, done before
  solver,    ///< other runs of the solver: seconds per contact
  counts     ///< contacts and number of runs alone
};
template <>
struct EnumNames<CostBasis> {
  static constexpr std::array<std::pair<CostBasis, std::string_view>, 3> value{
      {{CostBasis::measured, "measured"}, {CostBasis::solver, "solver"}, {CostBasis::counts, "counts"}}};
};

struct PlannedExperiment {
  std::string id;
  std::string config;  ///< a name, or the absolute path of a file
};

struct Campaign {
  std::filesystem::path folder;
  std::string size = "quick";
  std::string program;  ///< git revision
  ShardUnit unit = ShardUnit::snapshot;
  int threads = 1;  ///< the most of any run
  std::vector<PlannedExperiment> experiments;
};

struct PlannedRecording {
  std::string name;  ///< <name>-<size>.h5
  std::string scene;
  double seconds = 0.0;  ///< estimated
  CostBasis basis = CostBasis::counts;
};

/// A group of runs of an experiment.
struct PlannedCell {
  std::string experiment;
  RunCell cell;
  std::string regions, threads;  ///< lists, for people
  double seconds = 0.0;          ///< estimated, on one machine
  CostBasis basis = CostBasis::counts;
};

/// The first eight columns of cells.csv, of the plan and of parts: experiment,file,step,contacts,solver,label,options,tolerance.
inline constexpr std::string_view kCellColumns =
    "experiment,file,step,contacts,solver,label,options,tolerance";
std::string cell_fields(const std::string& experiment, const RunCell& cell);
/// Throws `UsageError`.
RunCell parse_cell_fields(std::span<const std::string> fields);

/// Names a group among all of a campaign.
std::string cell_key(const std::string& experiment, const RunCell& cell);

/// Files of a campaign's folder. They appear whole or not at all; readers throw `InputError` with file and line.
bool is_campaign(const std::filesystem::path& folder);
void write_campaign(const Campaign& campaign);
Campaign read_campaign(const std::filesystem::path& folder);
void write_recordings(const Campaign& campaign, std::span<const PlannedRecording> recordings);
std::vector<PlannedRecording> read_recordings(const Campaign& campaign);
void write_cells(const Campaign& campaign, std::span<const PlannedCell> cells);
std::vector<PlannedCell> read_cells(const Campaign& campaign);

}  // namespace signorini
