#pragma once

#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/options.h"
#include "harness/config_problem.h"
#include "regions/region_partition.h"

/// An experiment as configs/experiments/<id>.toml describes it: one figure or table, its claim, what to run,
/// and what is expected of the numbers. Unknown keys are errors that name file, line and key.
///
///     artefact = "Lazarevych 2010, Fig. 1"          # what it reproduces
///     claim = "…"                                   # what that artefact says, one sentence
///     scenes = ["bucket"]                           # recorded when they are not yet there; and/or
///     [[recordings]]                                # a scene at other settings: name, scene, set, vary
///     files = ["problem.hdf5"]                      # recordings or FCLib files, relative to this file
///     optional_files = ["reference/net0.hdf5"]      # in a folder of test data; left out when absent
///     [[problems]]                                  # made by the program: harness/config_problem.h
///     matrices = true                               # size of M of every recording
///     [series]                                      # statistics of the recordings over time: columns
///     [follow]                                      # regions over the steps of the recordings: regions
///     [cut]                                         # regions of the snapshots as problems of their own
///     protocols = ["converge", "time"]
///     regions = ["none", "points", "islands"]
///     threads = [1, 2]
///     tolerances = [1e-6]
///     [[solvers]]                                   # name, label, and options of the solver
///     name = "pgs"
///     label = "PGS, cone"
///     law = "cone"
///     [sizes.quick]                                 # changes for one size
///     max_steps = 20
///     figures, [[expect]], [table], [histories], [growth], [ratios], [ladder], [incline], [sheet],
///     [[rules]], and of steps [histogram], [over_time], [against], [shares]     # read by the report
namespace signorini {

struct SolverVariant {
  std::string name;
  std::string label;  ///< unique; the name and options when none is given
  OptionMap options;
  bool self_stopped = false;  ///< by protocol self-stopped alone, whatever the others are run by
};

/// Where a value stands, "FILE:LINE: key 'recordings.scene'": opens the error when it proves to be wrong later.
using Place = std::string;

/// A scene recorded at other settings than its file has, as `signorini record SCENE --set key=value` does.
struct SceneVariant {
  std::string name;   ///< of the recording: <name>-<size>.h5; with `vary`, <name>_<value>_<value>…
  std::string scene;  ///< a scene of configs/scenes
  OptionMap set;      ///< dotted keys of the scene file
  Place scene_place, set_place;
};

/// Every mass-point region of the chosen snapshots becomes a problem of its own: [cut].
struct RegionCut {
  int min_contacts = 1;  ///< of a region; others are left out
  int max_contacts = std::numeric_limits<int>::max();
};

struct Experiment {
  std::string id;  ///< stem of the file
  std::string artefact;
  std::string claim;
  std::string source;
  std::vector<std::string> scenes;
  std::vector<Place> scene_places;  ///< of each scene
  std::vector<SceneVariant> recordings;
  std::vector<std::filesystem::path> files;
  std::vector<Place> file_places;           ///< of each file
  std::vector<std::string> optional_files;  ///< below the folder of test data; nobody need have them
  std::vector<ConfigProblem> problems;
  std::optional<RegionCut> cut;
  /// A claim (`rows = "steps"`) or a figure is about steps of the recordings.
  bool steps = false;
  std::vector<std::string> series;  ///< columns of the recordings' statistics that are kept, step by step
  Place series_place;
  bool matrices = false;               ///< sizes of the M of every recording are kept
  std::vector<RegionMode> follow;      ///< regions followed over the steps of the recordings: points, islands
  std::vector<SolverVariant> solvers;  ///< none without a protocol: the recordings are the experiment
  std::vector<RegionMode> regions{RegionMode::none};
  std::vector<int> threads{1};
  std::vector<double> tolerances{1e-6};
  bool converge = false;      ///< protocol "converge": convergence curves
  bool time = true;           ///< protocol "time": k* iterations timed, and the self-stopped row
  bool self_stopped = false;  ///< protocol "self-stopped" without "time": that row alone
  int repetitions = 5;
  int max_iterations = 1000;
  double time_limit = 60.0;    ///< s per solve; a run that meets it is a row with status time_limit
  double minimum_time = 2e-3;  ///< s of timed work per repetition; short solves are repeated and averaged
  int stride = 1;              ///< every stride-th snapshot
  int max_steps = std::numeric_limits<int>::max();  ///< at most this many, evenly spread
  int min_contacts = 1;                             ///< snapshots with fewer contacts are left out
  /// At most so many of `problems`, and of the regions cut out, evenly spread.
  int max_problems = std::numeric_limits<int>::max();
  std::string text;  ///< the file as read
};

/// `size` picks the [sizes.<size>] table. A file that cannot be read or parsed is an `InputError`, an unknown
/// key, solver or value a `UsageError`; both name file and line.
Experiment read_experiment(const std::filesystem::path& path, std::string_view size);

/// Artefact and claim only, for listings.
struct ExperimentSummary {
  std::string id, artefact, claim;
};
ExperimentSummary read_experiment_summary(const std::filesystem::path& path);
/// One line about any TOML file: its key `summary`, `description` or `title`, else its first comment.
std::string read_toml_summary(const std::filesystem::path& path);

/// `wanted` positions out of 0 … n − 1, evenly spread with both ends (the last for one), ascending; all for
/// n ≤ wanted.
std::vector<std::size_t> spread(std::size_t n, std::size_t wanted);

/// Positions of the snapshots to use out of `contacts.size()`, ascending.
std::vector<std::size_t> select_steps(const std::vector<int>& contacts, const Experiment& experiment);

}  // namespace signorini
