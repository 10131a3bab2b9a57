#include "experiment_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "base/check.h"
#include "base/digest.h"
#include "base/text.h"
#include "commands.h"
#include "configs.h"
#include "harness/environment.h"
#include "harness/protocols.h"
#include "harness/run_table.h"
#include "interrupt.h"
#include "record/fclib_file.h"
#include "record/problem_file.h"
#include "recorder.h"
#include "recording_tables.h"
#include "regions/region_extractor.h"
#include "solvers/registry.h"
#include "terminal.h"

namespace signorini {
namespace {

namespace fs = std::filesystem;

/// A problem file of the experiment and the snapshots chosen from it.
struct Source {
  std::string label;  ///< the `file` column
  fs::path path;
  std::vector<std::string> steps;
  bool made = false;  ///< brought along by the experiment: used whatever its size
};

std::string trace_key(const ConvergenceTrace& t) {
  return fmt::format("{}\x1f{}\x1f{}\x1f{}\x1f{}\x1f{}", t.file, t.step, t.solver, t.options, t.region_mode,
                     exact_text(t.tolerance));
}

/// Curves on disk: one part per group of runs while running, one file at the end.
class TraceStore {
 public:
  TraceStore(fs::path file, bool resume) : file_(std::move(file)), parts_(file_.string() + ".parts") {
    std::error_code error;
    if (!resume) {
      fs::remove(file_, error);
      fs::remove_all(parts_, error);
    }
    if (fs::exists(file_, error)) load(file_);
    for (const auto& entry : fs::directory_iterator(parts_, error)) {
      if (entry.path().extension() == ".h5") load(entry.path());
    }
  }

  bool contains(const ConvergenceTrace& trace) const { return keys_.contains(trace_key(trace)); }
  /// The curves that are not there yet, as a part of their own. On return they are on disk.
  void append(std::vector<ConvergenceTrace> traces) {
    std::erase_if(traces, [this](const ConvergenceTrace& trace) { return contains(trace); });
    if (traces.empty()) return;
    fs::create_directories(parts_);
    write_traces(parts_ / fmt::format("{:06}.h5", traces_.size()), traces);
    for (ConvergenceTrace& trace : traces) {
      keys_.insert(trace_key(trace));
      traces_.push_back(std::move(trace));
    }
    changed_ = true;
  }
  void finish() {
    std::error_code error;
    if (changed_ || fs::exists(parts_, error)) {
      // parts of a resumed run come in the order of their names: sort, so that the file does not depend on
      // interruptions
      std::stable_sort(traces_.begin(), traces_.end(),
                       [](const auto& a, const auto& b) { return trace_key(a) < trace_key(b); });
      write_traces(file_, traces_);
      fs::remove_all(parts_, error);
    }
  }

 private:
  void load(const fs::path& path) {
    for (ConvergenceTrace& trace : read_traces(path)) {
      if (keys_.insert(trace_key(trace)).second) traces_.push_back(std::move(trace));
    }
  }

  fs::path file_, parts_;
  std::set<std::string> keys_;
  std::vector<ConvergenceTrace> traces_;
  bool changed_ = false;
};

/// With `keep_failed` a scene whose driver fails is a shorter recording, else an error.
Source record_source(const Program& program, const ExperimentRequest& request, const SceneVariant& wanted,
                     bool keep_failed) {
  RecordRequest record;
  record.scene_path = find_config(program, ConfigKind::scenes, wanted.scene).string();
  record.size = request.size;
  record.overrides = wanted.set;
  record.threads = request.threads;
  const fs::path folder = request.output / "recordings";
  fs::create_directories(folder);
  Source source;
  source.label = fmt::format("{}-{}.h5", wanted.name, enum_name(request.size));
  source.path = folder / source.label;
  if (is_recording_of(source.path, record)) {
    const std::string git = RecordingReader(source.path).header().git;
    if (git != build_facts().git) {
      say(fmt::format("  {}: recorded by revision {}, this is {}; delete it to record again", source.label,
                      git, build_facts().git));
    }
    return source;
  }
  std::error_code error;
  const bool unfinished =
      fs::exists(source.path.string() + ".parts", error) || fs::exists(source.path, error);
  say(fmt::format("recording {} ({})", wanted.name, enum_name(request.size)));
  RecordingSummary summary;
  try {
    summary = record_scene(program, record, source.path,
                           {.existing = unfinished ? ExistingRecording::resume : ExistingRecording::replace,
                            .keep_failed = keep_failed});
  } catch (const InputError&) {
    if (!unfinished) throw;  // of another version of the scene: start again
    summary = record_scene(program, record, source.path,
                           {.existing = ExistingRecording::replace, .keep_failed = keep_failed});
  }
  say(fmt::format("  {} snapshots of {} steps, up to {} contacts, {}", summary.frames, summary.steps,
                  summary.most_contacts(), seconds_text(summary.seconds)));
  if (!summary.failure.empty()) say(fmt::format("  ended early: {}", summary.failure));
  return source;
}

/// Content of a file, "" when there is none.
std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Problems that the experiment brings along, as FCLib files: every run of theirs can be made again with
/// `signorini solve`.
Source write_problem(const fs::path& folder, const ConfigProblem& made, const std::string& experiment) {
  fs::create_directories(folder);
  Source source{made.name, folder / (made.name + ".hdf5"), {}, true};
  FclibFile file;
  file.problem = made.problem;
  file.info.title = made.name;
  file.info.description = "made for experiment " + experiment;
  file.info.math_info = "normal component first; impulses in N s, velocities in m/s";
  write_fclib(source.path, file);
  return source;
}

/// Regions of the chosen snapshots as problems of their own, <scene>_<step>_<region>, ascending.
std::vector<ConfigProblem> cut_regions(const std::vector<Source>& sources, const Experiment& experiment) {
  std::vector<ConfigProblem> regions;
  for (const Source& source : sources) {
    if (source.made || source.steps.empty()) continue;
    const ProblemFile file(source.path);
    const std::string stem = source.path.stem().string();
    for (const std::string& step : source.steps) {
      stop_when_interrupted();
      const ContactProblem problem = file.read(step);
      if (!is_exact(problem, RegionMode::points))
        throw_usage(
            "{}: key 'cut': step {} of {} couples mass points, its regions are no problems of their own",
            experiment.id, step, source.label);
      const RegionPartition partition = partition_regions(problem, RegionMode::points);
      const RegionExtractor extractor(problem, partition);
      for (Index region = 0; region < partition.regions(); ++region) {
        const auto contacts = static_cast<int>(partition.region(region).size());
        if (contacts < experiment.cut->min_contacts || contacts > experiment.cut->max_contacts) continue;
        regions.push_back({fmt::format("{}_{}_{}", stem, step, region), extractor.extract(region)});
      }
    }
  }
  std::vector<ConfigProblem> kept;
  for (const std::size_t i : spread(regions.size(), static_cast<std::size_t>(experiment.max_problems)))
    kept.push_back(std::move(regions[i]));
  return kept;
}

/// Where `optional_files` are looked for.
fs::path data_folder(const Program& program) {
  const char* variable = std::getenv("SIGNORINI_DATA");
  if (variable != nullptr && *variable != '\0') return variable;
  return source_folder(program) / ".." / "shared" / "data";
}

void choose_steps(const Experiment& experiment, Source& source) {
  const ProblemFile file(source.path);
  std::vector<int> contacts;
  Progress progress("reading " + source.label, static_cast<long long>(file.steps().size()));
  for (const std::string& step : file.steps()) {
    stop_when_interrupted();
    contacts.push_back(file.read(step).contacts());
    progress.update(static_cast<long long>(contacts.size()), "step " + step);
  }
  if (source.made) {
    source.steps = file.steps();
    return;
  }
  for (const std::size_t i : select_steps(contacts, experiment)) source.steps.push_back(file.steps()[i]);
  if (source.steps.empty()) {
    say(fmt::format("  {}: none of {} snapshots has {} contacts or more; nothing to solve", source.label,
                    contacts.size(), experiment.min_contacts));
  }
}

class ExperimentRun {
 public:
  ExperimentRun(const Program& program, const ExperimentRequest& request)
      : program_(program),
        request_(request),
        experiment_(read_experiment(request.config, enum_name(request.size))),
        folder_(request.output / experiment_.id),
        provenance_(program.command_line) {}

  ExperimentResult run() {
    const Stopwatch watch;
    fs::create_directories(folder_);
    collect_sources();
    const bool resume = open_folder();
    RunTable table(folder_ / "runs.csv", resume ? OpenTable::resume : OpenTable::fresh);
    TraceStore traces(folder_ / "trace.h5", resume);
    table_ = &table;
    traces_ = &traces;
    const std::string earlier = resume ? text_of(folder_ / "env.json") : std::string();
    provenance_.set_earlier(earlier);
    write_text_file(folder_ / "env.json", provenance_.json());
    write_text_file(folder_ / "regions.csv", region_sizes());
    write_text_file(folder_ / "recordings.csv", recordings_);
    if (!series_.empty()) write_text_file(folder_ / "series.csv", series_);
    if (!steps_.empty()) write_text_file(folder_ / "steps.csv", steps_);
    if (!experiment_.follow.empty() && !(resume && fs::exists(folder_ / "follow.csv")))
      write_text_file(folder_ / "follow.csv", follow_table(experiment_, recorded_));

    long long total = 0;
    for (const Source& source : sources_)
      total += static_cast<long long>(source.steps.size() * groups_per_step());
    Progress progress(experiment_.id, total);
    progress_ = &progress;
    for (const Source& source : sources_) run_source(source);
    progress.clear();
    traces.finish();
    // a session that made no row leaves the provenance of those that did
    const bool idle = !earlier.empty() && table.rows() == table.resumed();
    write_text_file(folder_ / "env.json", idle ? earlier : provenance_.json());

    ExperimentResult result{folder_, table.rows(), table.resumed(), failed_, watch.seconds()};
    return result;
  }

 private:
  std::size_t groups_per_step() const { return experiment_.solvers.size() * experiment_.tolerances.size(); }

  void collect_sources() {
    for (const std::string& scene : experiment_.scenes)
      sources_.push_back(
          record_source(program_, request_, {fs::path(scene).stem().string(), scene, {}}, false));
    for (const SceneVariant& variant : experiment_.recordings)
      sources_.push_back(record_source(program_, request_, variant, true));
    for (const fs::path& file : experiment_.files)
      sources_.push_back({file.filename().string(), file, {}, false});
    for (const ConfigProblem& made : experiment_.problems)
      sources_.push_back(write_problem(folder_ / "problems", made, experiment_.id));
    for (const std::string& file : experiment_.optional_files) {
      const fs::path path = (data_folder(program_) / file).lexically_normal();
      std::error_code error;
      if (fs::exists(path, error)) {
        sources_.push_back({path.stem().string(), path, {}, false});
      } else {
        say(fmt::format("  {}: left out, {} is not there (SIGNORINI_DATA names the folder of test data)",
                        file, path.string()));
      }
    }
    recorded_ = recorded_scenes();
    recordings_ = recordings_table(recorded_, experiment_.matrices);
    if (!experiment_.series.empty()) series_ = series_table(experiment_, recorded_);
    if (experiment_.steps) steps_ = steps_table(recorded_);
    for (Source& source : sources_) {
      if (!experiment_.solvers.empty()) choose_steps(experiment_, source);
      provenance_.add_input(source.path);
    }
    if (experiment_.cut) use_regions();
    provenance_.set("experiment", experiment_.id);
    provenance_.set("size", std::string(enum_name(request_.size)));
    provenance_.set("config_digest", digest_text(digest_of(experiment_.text)));
  }

  /// Scenes and [[recordings]] stand first among the sources.
  std::vector<RecordedScene> recorded_scenes() const {
    std::vector<RecordedScene> recorded;
    const std::size_t scenes = experiment_.scenes.size();
    for (std::size_t i = 0; i < scenes + experiment_.recordings.size(); ++i)
      recorded.push_back({sources_[i].label, sources_[i].path,
                          i < scenes ? OptionMap{} : experiment_.recordings[i - scenes].set});
    return recorded;
  }

  /// The regions in the place of the snapshots that they are cut from.
  void use_regions() {
    const std::vector<ConfigProblem> regions = cut_regions(sources_, experiment_);
    std::erase_if(sources_, [](const Source& source) { return !source.made; });
    for (const ConfigProblem& region : regions) {
      sources_.push_back(write_problem(folder_ / "problems", region, experiment_.id));
      choose_steps(experiment_, sources_.back());
    }
    say(fmt::format("  {} regions cut out of the snapshots", regions.size()));
  }

  /// Writes config.toml, headed by what rows depend on. True when the rows that are there may be kept.
  bool open_folder() {
    std::string head =
        fmt::format("# size: {}\n# program: {}\n", enum_name(request_.size), build_facts().git);
    for (const Source& source : sources_)
      head += fmt::format("# input: {} {}\n", source.label, digest_file(source.path).digest);
    const std::string text = head + experiment_.text;
    const fs::path copy = folder_ / "config.toml";
    std::error_code error;
    bool same = false;
    if (request_.resume && fs::exists(copy, error)) {
      same = digest_file(copy).digest == digest_text(digest_of(text));
      if (!same)
        say(fmt::format("{}: made by another program, config or recording; starting again",
                        folder_.string()));
    }
    if (!same) {
      // rows go first: a kill between the two must not leave old rows under a new head
      fs::remove(folder_ / "runs.csv", error);
      fs::remove(folder_ / "follow.csv", error);
      fs::remove(folder_ / "trace.h5", error);
      fs::remove_all(folder_ / "trace.h5.parts", error);
      write_text_file(copy, text);
    }
    return same;
  }

  /// How many regions of which size the chosen snapshots have: the histogram's data.
  std::string region_sizes() const {
    std::string text = "file,step,region_mode,size,count\n";
    for (const Source& source : sources_) {
      if (source.steps.empty()) continue;
      const ProblemFile file(source.path);
      for (const std::string& step : source.steps) {
        stop_when_interrupted();
        const ContactProblem problem = file.read(step);
        for (const RegionMode mode : experiment_.regions) {
          if (mode == RegionMode::none || !is_exact(problem, mode)) continue;
          const RegionPartition partition = partition_regions(problem, mode);
          std::map<std::size_t, int> sizes;
          for (Index region = 0; region < partition.regions(); ++region)
            ++sizes[partition.region(region).size()];
          for (const auto& [size, count] : sizes) {
            text += fmt::format("{},{},{},{},{}\n", source.label, step, enum_name(mode), size, count);
          }
        }
      }
    }
    return text;
  }

  void run_source(const Source& source) {
    if (source.steps.empty()) return;
    const ProblemFile file(source.path);
    for (const std::string& step : source.steps) {
      std::optional<ContactProblem> problem;
      std::optional<Referee> referee;
      RunTarget target;
      for (const double tolerance : experiment_.tolerances) {
        for (const SolverVariant& variant : experiment_.solvers) {
          stop_when_interrupted();
          progress_->update(done_++, fmt::format("{} step {}  {}", source.label, step, variant.label));
          if (group_is_done(source.label, step, variant, tolerance)) continue;
          if (!problem) {
            problem.emplace(file.read(step));
            check_problem(*problem, fmt::format("{}: step {}", source.path.string(), step));
            referee.emplace(*problem);
            target = make_target(*problem, *referee, experiment_.id, source.label, step);
          }
          run_group(target, variant, tolerance);
        }
      }
    }
  }

  bool stops_itself() const { return experiment_.time || experiment_.self_stopped; }

  RunLimits limits(double tolerance) const {
    return {tolerance, experiment_.max_iterations, experiment_.time_limit, interrupt_flag()};
  }

  /// The last row of a group is written last, and a table is only ever torn at its end.
  bool group_is_done(const std::string& file, const std::string& step, const SolverVariant& variant,
                     double tolerance) const {
    RunRecord last;
    last.experiment = experiment_.id;
    last.file = file;
    last.step = step;
    last.solver = variant.name;
    last.options = make_solver(variant.name, variant.options)->options();
    last.region_mode = enum_name(experiment_.regions.back());
    last.threads = stops_itself() ? experiment_.threads.back() : experiment_.threads.front();
    last.tolerance = tolerance;
    last.protocol = stops_itself() ? "self-stopped" : "converge";
    if (!table_->contains(last)) return false;
    if (!experiment_.converge || variant.self_stopped) return true;
    ConvergenceTrace trace;
    trace.file = file;
    trace.step = step;
    trace.solver = last.solver;
    trace.options = last.options;
    trace.tolerance = tolerance;
    return std::all_of(experiment_.regions.begin(), experiment_.regions.end(), [&](RegionMode mode) {
      trace.region_mode = enum_name(mode);
      return traces_->contains(trace);
    });
  }

  void run_group(const RunTarget& target, const SolverVariant& variant, double tolerance) {
    std::vector<RunRecord> rows, self_stopped;
    std::vector<PreparedRun> prepared;
    std::vector<TracedRun> traced;
    prepared.reserve(experiment_.regions.size() * experiment_.threads.size());
    traced.reserve(experiment_.regions.size());
    std::vector<TimedRun> timed;
    RunLimits tracing = limits(tolerance);
    tracing.time_limit *= 10.0;  // a traced run also waits for the referee
    for (const RegionMode mode : experiment_.regions) {
      prepare_run(target, variant, mode,
                  experiment_.threads.front());  // warms caches: set-up times start equal
      for (const int threads : experiment_.threads) {
        prepared.push_back(prepare_run(target, variant, mode, threads));
        if (stops_itself())
          self_stopped.push_back(solve_self_stopped(target, prepared.back(), limits(tolerance)).record);
        // the iterates do not depend on the number of threads: one trace serves all
        if (variant.self_stopped || (!experiment_.converge && !experiment_.time)) continue;
        if (threads == experiment_.threads.front()) {
          traced.push_back(trace_run(target, prepared.back(), tracing));
          if (experiment_.converge) rows.push_back(traced.back().record);
        }
        timed.push_back({&prepared.back(), &traced.back()});
      }
    }
    if (experiment_.time && !variant.self_stopped) {
      const std::vector<RunRecord> times =
          time_runs(target, timed, limits(tolerance), {experiment_.repetitions, experiment_.minimum_time});
      rows.insert(rows.end(), times.begin(), times.end());
    }
    rows.insert(rows.end(), self_stopped.begin(), self_stopped.end());
    for (const RunRecord& row : rows) failed_ += row.status == SolveStatus::failed ? 1U : 0U;
    if (experiment_.converge && !variant.self_stopped) {
      std::vector<ConvergenceTrace> curves;
      for (TracedRun& one : traced) curves.push_back(std::move(one.trace));
      traces_->append(std::move(curves));
    }
    table_->append(rows);  // last: a group whose rows are there is finished
  }

  const Program& program_;
  const ExperimentRequest& request_;
  Experiment experiment_;
  fs::path folder_;
  Provenance provenance_;
  std::vector<Source> sources_;
  std::vector<RecordedScene> recorded_;
  std::string recordings_, series_, steps_;  ///< of the files of these names
  RunTable* table_ = nullptr;
  TraceStore* traces_ = nullptr;
  Progress* progress_ = nullptr;
  long long done_ = 0;
  std::size_t failed_ = 0;
};

double median(std::vector<double> values) {
  if (values.empty()) return std::nan("");
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : 0.5 * (values[n / 2 - 1] + values[n / 2]);
}

}  // namespace

ExperimentResult run_experiment(const Program& program, const ExperimentRequest& request) {
  return ExperimentRun(program, request).run();
}

void print_run_summary(const fs::path& runs_csv) {
  struct Line {
    std::size_t runs = 0, reached = 0, unsupported = 0;
    std::vector<double> iterations, setup, solve;
  };
  struct Key {
    std::string label, mode;
    int threads;
    auto operator<=>(const Key&) const = default;
  };
  std::vector<Key> order;
  std::map<Key, Line> lines;
  const std::vector<RunRecord> records = read_run_table(runs_csv);
  std::set<std::string> protocols;
  for (const RunRecord& r : records) protocols.insert(r.protocol);
  std::string protocol = "self-stopped";
  for (const char* better : {"converge", "time"}) {
    if (protocols.contains(better)) protocol = better;
  }
  for (const RunRecord& r : records) {
    if (r.protocol != protocol) continue;
    const Key key{r.label, r.region_mode, r.threads};
    if (!lines.contains(key)) order.push_back(key);
    Line& line = lines[key];
    if (r.repetition == 0) {
      ++line.runs;
      line.reached += r.status == SolveStatus::converged ? 1U : 0U;
      line.unsupported += r.status == SolveStatus::unsupported ? 1U : 0U;
      if (r.status == SolveStatus::converged) line.iterations.push_back(r.iterations);
    }
    if (r.status != SolveStatus::converged) continue;
    line.setup.push_back(r.setup_seconds);
    line.solve.push_back(r.solve_seconds);
  }
  TextTable table({{"solver"},
                   {"regions"},
                   {"threads", Align::right},
                   {"reached", Align::right},
                   {"iterations", Align::right},
                   {"setup", Align::right},
                   {"solve", Align::right}});
  for (const Key& key : order) {
    const Line& line = lines[key];
    const double iterations = median(line.iterations);
    TextTable::Cell reached{fmt::format("{}/{}", line.reached, line.runs),
                            line.reached == line.runs ? Colour::green : Colour::red};
    if (line.unsupported == line.runs) reached = {"unsupported"};  // by design, not a failure
    table.add({key.label, key.mode, fmt::format("{}", key.threads), reached,
               std::isnan(iterations) ? "–" : fmt::format("{:g}", iterations),
               seconds_text(median(line.setup)), seconds_text(median(line.solve))});
  }
  print(table.text());
}

}  // namespace signorini
