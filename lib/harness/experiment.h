#pragma once

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/options.h"
#include "harness/config_problem.h"
#include "harness/scene_variants.h"
#include "regions/region_partition.h"

/// An experiment as its run.toml describes it: what is run for one figure or table. What is claimed, judged and
/// drawn stands in files beside it that only the report reads. Unknown keys are errors that name file, line and
/// key.
///
///     artefact = "Lazarevych 2010, Fig. 1"          # what it reproduces
///     scenes = ["bucket"]                           # recorded when they are not yet there; and/or
///     recordings = [{ name = …, scene = … }]        # scenes at other settings: harness/scene_variants.h
///     files = ["problem.hdf5"]                      # recordings, FCLib files, .npz archives; relative to this file
///     optional_files = ["reference/net0.hdf5"]      # in a folder of test data; left out when absent
///     problems = [{ name = …, planted = … }]        # made by the program: harness/config_problem.h
///     matrices = true                               # kept of every recording: the size of its M,
///     steps = true                                  # all statistics of every step,
///     series = ["kinetic_energy"]                   # these columns of the statistics over time,
///     follow = ["points", "islands"]                # regions over the steps
///     [accuracy]                                    # how far each is from the finest: harness/accuracy_table.h
///     [cut]                                         # regions of the snapshots as problems of their own
///     [[thinned]]                                   # snapshots again, without redundant contacts
///     protocols = ["converge", "time"]
///     regions = ["none", "points", "islands"]
///     threads = [1, 2]
///     tolerances = [1e-6]
///     solvers = [                                   # name, label, and options of the solver
///       { name = "pgs", label = "PGS, cone", law = "cone" },
///     ]
///     [sizes.quick]                                 # changes for one size
///     max_steps = 20
///
/// A list of tables may also be written [[solvers]].
namespace signorini {

struct SolverVariant {
  std::string name;
  std::string label;  ///< unique; the name and options when none is given
  OptionMap options;
  bool self_stopped = false;   ///< by protocol self-stopped alone, whatever the others are run by
  std::vector<int> threads{};  ///< on so many; empty: on those of the experiment
};

/// Every mass-point region of the chosen snapshots becomes a problem of its own: [cut].
struct RegionCut {
  int min_contacts = 1;  ///< of a region; others are left out
  int max_contacts = std::numeric_limits<int>::max();
};

/// The chosen snapshots of a recording again with fewer contacts (regions/redundant_contacts.h): [[thinned]].
struct ThinnedSnapshots {
  std::string name;        ///< of the problems: name_000, name_001, …
  std::string recording;   ///< a scene, or a name of `recordings`
  double cosine = 0.9;     ///< contacts with a higher one are left out,
  bool at_random = false;  ///< or as many at random
};

/// Recordings beside the finest of their kind (harness/accuracy_table.h): [accuracy].
struct Accuracy {
  std::string over;  ///< the setting whose least value is the finest, such as solver.tolerance
  Place over_place;
  double rest = 0.5;         ///< share of the time, its last part, in which bodies are expected to rest
  double rest_speed = 1e-5;  ///< m/s: slower than this in the finest recording they do
};

/// What `max_steps` snapshots are spread over.
enum class SpreadOver { steps, contacts };
template <>
struct EnumNames<SpreadOver> {
  static constexpr std::array<std::pair<SpreadOver, std::string_view>, 2> value{
      {{SpreadOver::steps, "steps"}, {SpreadOver::contacts, "contacts"}}};
};

struct Experiment {
  std::string id;        ///< `experiment_id` of the file
  std::string artefact;  ///< what it reproduces: a title, no part of `content`
  std::vector<std::string> scenes;
  std::vector<Place> scene_places;  ///< of each scene
  std::vector<SceneVariant> recordings;
  std::vector<std::filesystem::path> files;
  std::vector<Place> file_places;           ///< of each file
  std::vector<std::string> optional_files;  ///< below the folder of test data; nobody need have them
  std::vector<ConfigProblem> problems;
  std::optional<RegionCut> cut;
  std::vector<ThinnedSnapshots> thinned;
  bool steps = false;               ///< all statistics of every step of the recordings are kept
  std::vector<std::string> series;  ///< columns of the recordings' statistics that are kept, step by step
  Place series_place;
  bool matrices = false;               ///< sizes of the M of every recording are kept
  std::vector<RegionMode> follow;      ///< regions followed over the steps of the recordings: points, islands
  std::optional<Accuracy> accuracy;    ///< recordings are compared with the finest of their kind
  std::vector<SolverVariant> solvers;  ///< none without a protocol: the recordings are the experiment
  std::vector<RegionMode> regions{RegionMode::none};
  std::vector<int> threads{1};
  const std::vector<int>& threads_of(const SolverVariant& variant) const {
    return variant.threads.empty() ? threads : variant.threads;
  }
  /// Of the solver of this label; those of the experiment where it has none.
  const std::vector<int>& threads_of(const std::string& label) const {
    const auto variant = std::ranges::find(solvers, label, &SolverVariant::label);
    return variant == solvers.end() ? threads : threads_of(*variant);
  }
  std::vector<double> tolerances{1e-6};
  bool converge = false;      ///< protocol "converge": convergence curves
  bool time = true;           ///< protocol "time": k* iterations timed, and the self-stopped row
  bool self_stopped = false;  ///< protocol "self-stopped" without "time": that row alone
  int repetitions = 5;
  int max_iterations = 1000;
  double time_limit = 60.0;    ///< s per solve; a run that meets it is a row with status time_limit
  double minimum_time = 2e-3;  ///< s of timed work per repetition; short solves are repeated and averaged
  int stride = 1;              ///< every stride-th snapshot
  int max_steps = std::numeric_limits<int>::max();  ///< at most this many, evenly spread …
  SpreadOver spread_over = SpreadOver::steps;       ///< … over these
  int min_contacts = 1;                             ///< snapshots with fewer contacts are left out
  /// At most so many of `problems`, and of the regions cut out, evenly spread.
  int max_problems = std::numeric_limits<int>::max();
  std::string text;  ///< the file as read
  /// What the file says in one canonical text, without `artefact`: comments and the order of keys do not change
  /// it, everything else does.
  std::string content;
};

/// …/experiments/A/B/run.toml is A_B, any other …/B/run.toml is B, any other file its stem.
std::string experiment_id(const std::filesystem::path& path);

/// `size` picks the [sizes.<size>] table. A file that cannot be read or parsed is an `InputError`, an unknown
/// key, solver or value and a file of the earlier form a `UsageError`; both name file and line.
Experiment read_experiment(const std::filesystem::path& path, std::string_view size);
/// The same of a text that is to be the file `path`.
Experiment parse_experiment(std::string text, const std::filesystem::path& path, std::string_view size);

/// For listings.
struct ExperimentSummary {
  std::string id, artefact;
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
