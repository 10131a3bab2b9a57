#include "experiment_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <thread>

#include "base/check.h"
#include "base/digest.h"
#include "base/output_file.h"
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
    make_output_folder(parts_);
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

/// Records what is missing. With `keep_failed` a scene whose driver fails is a shorter recording, else an
/// error. Throws `BusyError` while another process records it.
void make_recording(const Program& program, const ExperimentRequest& request, const RecordRequest& record,
                    const Source& source, bool keep_failed) {
  if (is_recording_of(source.path, record)) {
    const std::string git = RecordingReader(source.path).header().git;
    if (git != build_facts().git) {
      say(fmt::format("  {}: recorded by revision {}, this is {}; delete it to record again", source.label,
                      git, build_facts().git));
    }
    return;
  }
  { const LockFile free = lock_recording(source.path); }  // busy: not yet the time to say so
  say(fmt::format("recording {}", source.label));
  RecordingPolicy policy;
  std::error_code error;
  const bool there = fs::exists(source.path, error) || fs::exists(source.path.string() + ".parts", error);
  policy.existing = there ? ExistingRecording::resume : ExistingRecording::replace;
  policy.keep_failed = keep_failed;
  RecordingSummary summary;
  try {
    summary = record_scene(program, record, source.path, policy);
  } catch (const OtherRecording& other) {
    if (!request.force) {
      throw_usage(
          "{} holds another version of the scene ({}); --force records it again, another --out leaves it",
          source.path.string(), other.what());
    }
    policy.existing = ExistingRecording::replace;
    summary = record_scene(program, record, source.path, policy);
  }
  say(fmt::format("  {} snapshots of {} steps, up to {} contacts, {}", summary.frames, summary.steps,
                  summary.most_contacts(), seconds_text(summary.seconds)));
  if (!summary.why_empty.empty()) say("  no snapshots: " + summary.why_empty);
  if (!summary.failure.empty()) say(fmt::format("  ended early: {}", summary.failure));
}

Source record_source(const Program& program, const ExperimentRequest& request, const SceneVariant& wanted,
                     bool keep_failed) {
  RecordRequest record;
  record.scene_path = find_config(program, ConfigKind::scenes, wanted.scene).string();
  record.size = request.size;
  record.overrides = wanted.set;
  record.threads = request.threads;
  const fs::path folder = request.output / "recordings";
  make_output_folder(folder);
  Source source;
  source.label = fmt::format("{}-{}.h5", wanted.name, enum_name(request.size));
  source.path = folder / source.label;
  for (bool told = false;; told = true) {
    try {
      make_recording(program, request, record, source, keep_failed);
      return source;
    } catch (const BusyError& busy) {
      if (!told) {
        say(fmt::format("  {}: {} is recording it; waiting for its end (Ctrl-C ends the waiting)",
                        source.label, busy.holder()));
      }
    }
    stop_when_interrupted();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
}

/// Content of a file, "" when there is none.
std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Problems that the experiment brings along, as FCLib files: every run of theirs can be made again with
/// `signorini solve`. Those that rows depend on are not replaced by others.
Source write_problem(const ResultFolder& results, const ConfigProblem& made, const std::string& experiment) {
  const fs::path folder = results.path() / "problems";
  make_output_folder(folder);
  Source source{made.name, folder / (made.name + ".hdf5"), {}, true};
  FclibFile file;
  file.problem = made.problem;
  file.info.title = made.name;
  file.info.description = "made for experiment " + experiment;
  file.info.math_info = "normal component first; impulses in N s, velocities in m/s";
  const std::vector<std::byte> image = fclib_image(file, source.path.string());
  const std::string there = text_of(source.path);
  const auto bytes = std::as_bytes(std::span(there));
  if (std::equal(bytes.begin(), bytes.end(), image.begin(), image.end())) return source;
  std::error_code error;
  if (fs::exists(source.path, error) && results.keeps_results() && !results.replaces())
    throw_usage("{}: is another problem than the rows beside it need; --force replaces both",
                source.path.string());
  write_durable(source.path, image);
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

/// A problem file is known by its stem, as a problem that the experiment brings along; a recording by its name.
std::string label_of(const fs::path& file) {
  return (file.extension() == ".hdf5" ? file.stem() : file.filename()).string();
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
  ExperimentRun(const Program& program, const ExperimentRequest& request, ResultFolder results)
      : program_(program),
        request_(request),
        experiment_(read_experiment(request.config, enum_name(request.size))),
        results_(std::move(results)),
        folder_(results_.path()),
        provenance_(program.command_line) {}

  ExperimentResult run() {
    const Stopwatch watch;
    results_.begin();
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
    results_.finish();

    ExperimentResult result{folder_, table.rows(), table.resumed(), failed_, watch.seconds()};
    return result;
  }

 private:
  std::size_t groups_per_step() const { return experiment_.solvers.size() * experiment_.tolerances.size(); }

  void collect_sources() {
    for (const std::string& scene : experiment_.scenes)
      sources_.push_back(
          record_source(program_, request_, {fs::path(scene).stem().string(), scene, {}, {}, {}}, false));
    for (const SceneVariant& variant : experiment_.recordings)
      sources_.push_back(record_source(program_, request_, variant, true));
    for (const fs::path& file : experiment_.files) sources_.push_back({label_of(file), file, {}, false});
    for (const ConfigProblem& made : experiment_.problems)
      sources_.push_back(write_problem(results_, made, experiment_.id));
    std::string left_out;
    for (const std::string& file : experiment_.optional_files) {
      const fs::path path = (data_folder(program_) / file).lexically_normal();
      std::error_code error;
      if (fs::exists(path, error)) {
        sources_.push_back({label_of(path), path, {}, false});
      } else {
        say(fmt::format("  {}: left out, {} is not there (SIGNORINI_DATA names the folder of test data)",
                        file, path.string()));
        left_out += (left_out.empty() ? "" : ", ") + file;
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
    if (!left_out.empty()) provenance_.set("inputs_left_out", left_out);
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
      sources_.push_back(write_problem(results_, region, experiment_.id));
      choose_steps(experiment_, sources_.back());
    }
    say(fmt::format("  {} regions cut out of the snapshots", regions.size()));
  }

  /// Writes config.toml, headed by what rows depend on. True when the rows that are there may be kept.
  bool open_folder() {
    std::string head = settings_head(request_);
    for (const Source& source : sources_)
      head += fmt::format("# input: {} {}\n", source.label, digest_file(source.path).digest);
    return results_.open(head);
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
          keep_provenance();
        }
      }
    }
  }

  /// Now and then, so that a killed session leaves how busy the machine was; at most its last seconds are missing.
  void keep_provenance() {
    constexpr double kSeconds = 10.0;
    if (since_kept_.seconds() < kSeconds) return;
    write_text_file(folder_ / "env.json", provenance_.json());
    since_kept_.restart();
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
      bool can_trace = false;
      for (const int threads : experiment_.threads) {
        prepared.push_back(prepare_run(target, variant, mode, threads));
        if (stops_itself())
          self_stopped.push_back(solve_self_stopped(target, prepared.back(), limits(tolerance)).record);
        // the iterates do not depend on the number of threads: one trace serves all, the first that can run
        if (variant.self_stopped || (!experiment_.converge && !experiment_.time)) continue;
        const bool first = threads == experiment_.threads.front();
        if (first || (!can_trace && prepared.back().solver)) {
          TracedRun run = trace_run(target, prepared.back(), tracing);
          if (experiment_.converge) rows.push_back(run.record);
          can_trace = prepared.back().solver != nullptr;
          if (first) traced.emplace_back();
          traced.back() = std::move(run);
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
  ResultFolder results_;
  fs::path folder_;
  Provenance provenance_;
  Stopwatch since_kept_;
  std::vector<Source> sources_;
  std::vector<RecordedScene> recorded_;
  std::string recordings_, series_, steps_;  ///< of the files of these names
  RunTable* table_ = nullptr;
  TraceStore* traces_ = nullptr;
  Progress* progress_ = nullptr;
  long long done_ = 0;
  std::size_t failed_ = 0;
};

}  // namespace

ExperimentResult run_experiment(const Program& program, const ExperimentRequest& request,
                                ResultFolder folder) {
  return ExperimentRun(program, request, std::move(folder)).run();
}

}  // namespace signorini
