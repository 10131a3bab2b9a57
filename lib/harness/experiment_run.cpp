#include "harness/experiment_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "harness/accuracy_table.h"
#include "harness/environment.h"
#include "harness/held_groups.h"
#include "harness/outdated_rows.h"
#include "harness/problem_sources.h"
#include "harness/protocols.h"
#include "harness/recording_tables.h"
#include "harness/region_sizes.h"
#include "harness/run_group.h"
#include "harness/run_table.h"
#include "harness/text_file.h"
#include "harness/trace_store.h"
#include "record/problem_file.h"
#include "solvers/registry.h"

namespace signorini {
namespace {

namespace fs = std::filesystem;

/// Of a problem file or snapshot, not of anything that is written.
class Unreadable : public InputError {
 public:
  using InputError::InputError;
};

/// What `reader` returns; its `InputError` becomes `Unreadable`.
template <class Reader>
auto read_problem(Reader&& reader) {
  try {
    return reader();
  } catch (const InputError& error) {
    throw Unreadable(error.what());
  }
}

/// The snapshots of a problem file, opened and decoded when they are first asked for.
class Snapshots {
 public:
  Snapshots(const ProblemSource& source, const std::string& experiment)
      : source_(source), experiment_(experiment) {}

  /// The one that `problem` and `target` are about from now on.
  void go_to(const std::string& step) {
    referee_.reset();
    problem_.reset();
    step_ = step;
  }
  const ContactProblem& problem() {
    if (!problem_) {
      problem_.emplace(read_problem([this] {
        if (!file_) file_.emplace(source_.path);
        ContactProblem problem = file_->read(step_);
        check_problem(problem, fmt::format("{}: step {}", source_.path.string(), step_));
        return problem;
      }));
    }
    return *problem_;
  }
  const RunTarget& target() {
    if (!referee_) {
      const ContactProblem& read = problem();
      referee_ = read_problem(
          [&] { return make_referee(read, fmt::format("{}: step {}", source_.path.string(), step_)); });
      target_ = make_target(*problem_, *referee_, experiment_, source_.label, step_);
    }
    return target_;
  }

 private:
  const ProblemSource& source_;
  const std::string& experiment_;
  std::string step_;
  std::optional<ProblemFile> file_;
  std::optional<ContactProblem> problem_;
  std::optional<Referee> referee_;
  RunTarget target_;
};

class ExperimentRun {
 public:
  ExperimentRun(const ExperimentRequest& request, ResultFolder results, RecordingProvider& provider,
                RunMonitor& monitor, RunGroups* groups)
      : request_(request),
        experiment_(request.experiment),
        provider_(provider),
        monitor_(monitor),
        groups_(groups),
        results_(std::move(results)),
        folder_(results_.path()),
        provenance_(request.command_line) {}

  ExperimentResult run() {
    const Stopwatch watch;
    results_.begin(monitor_);
    collect_inputs();
    const bool resume = results_.open(input_digests(), monitor_);
    if (groups_ != nullptr)
      groups_->begin(ResultHead::of(text_or_nothing(folder_ / "run.toml")), provenance_.json());
    const std::string earlier = resume ? text_or_nothing(folder_ / "env.json") : std::string();
    provenance_.set_earlier(earlier);
    if (request_.sessions) {
      provenance_.set("merged_parts", fmt::format("{}", request_.sessions->size()));
      for (const std::string& session : *request_.sessions) provenance_.take_over(session);
    }
    write("env.json", provenance_.json());  // before the rows: it says whether a merge made them
    if (resume) {
      set_bad_rows_aside();
      remove_outdated_rows(experiment_, request_.again, folder_, monitor_);
    }
    RunTable table(folder_ / "runs.csv", resume ? OpenTable::resume : OpenTable::fresh);
    TraceStore traces(folder_ / "trace.h5", resume);
    table_ = &table;
    traces_ = &traces;
    write_tables(resume);
    run_sources(resume);
    traces.finish();
    // a session that made no row leaves the provenance of those that did
    const bool idle = names_definition(earlier) && table.rows() == table.resumed();
    write("env.json", idle ? earlier : provenance_.json());
    results_.finish();
    return {folder_, table.rows(), table.resumed(), failed_, unreadable_, watch.seconds()};
  }

 private:
  void set_bad_rows_aside() {
    const RunTable table(folder_ / "runs.csv", OpenTable::resume);
    for (const std::string& bad : table.bad())
      monitor_.message(fmt::format("  runs.csv: {}; the run is made again ({} keeps the table as it was)",
                                   bad, damaged_of("runs.csv").string()));
  }

  void write(const char* name, const std::string& text) const { write_text_file(folder_ / name, text); }

  /// Recordings and problem files, what is kept of them, and the snapshots that are solved.
  void collect_inputs() {
    ExperimentSources sources = collect_sources(request_, results_, provider_, monitor_);
    recorded_ = std::move(sources.recorded);
    sources_ = std::move(sources.problems);
    if (!request_.rows_only) make_tables();
    std::erase_if(sources_, [this](ProblemSource& source) {
      monitor_.stop_when_cancelled();
      return left_out([&] {
        if (!experiment_.solvers.empty()) read_problem([&] { choose_steps(experiment_, source, monitor_); });
        provenance_.add_input(source.path);
      });
    });
    if (sources_.empty() && unreadable_ > 0)
      throw_input("none of the problem files can be read, see the lines above");
    add_thinned_sources(experiment_, results_, sources_, monitor_);
    if (experiment_.cut) cut_sources(experiment_, results_, sources_, monitor_);
    provenance_.set("experiment", experiment_.id);
    provenance_.set("definition", definition());
    provenance_.set("size", request_.size);
    if (!sources.left_out.empty()) provenance_.set("inputs_left_out", sources.left_out);
    provenance_.set("config_digest", experiment_digest(experiment_));
  }

  void make_tables() {
    recordings_ = recordings_table(recorded_, provider_, experiment_.matrices, monitor_);
    if (!experiment_.series.empty()) series_ = series_table(experiment_, recorded_);
    if (experiment_.steps) steps_ = steps_table(recorded_, provider_);
    if (experiment_.accuracy) accuracy_ = accuracy_table(experiment_, recorded_, provider_, monitor_);
  }

  /// Folder of the experiment's file.
  std::string definition() const {
    return fs::absolute(request_.config).lexically_normal().parent_path().string();
  }
  /// Whether an env.json is about the experiment in the place where it is now.
  bool names_definition(const std::string& json) const {
    const std::size_t at = json.find("\"definition\": ");  // the first: those of earlier sessions follow
    return at != std::string::npos &&
           json.substr(at).starts_with(fmt::format("\"definition\": \"{}\"", definition()));
  }

  std::vector<std::string> input_digests() const {
    std::vector<std::string> inputs;
    for (const ProblemSource& source : sources_)
      inputs.push_back(fmt::format("{} {}", source.label, digest_file(source.path).digest));
    return inputs;
  }

  void write_tables(bool resume) const {
    if (request_.rows_only) return;
    write("recordings.csv", recordings_);
    if (!series_.empty()) write("series.csv", series_);
    if (!steps_.empty()) write("steps.csv", steps_);
    if (!accuracy_.empty()) write("accuracy.csv", accuracy_);
    if (!experiment_.follow.empty() && !(resume && fs::exists(folder_ / "follow.csv")))
      write("follow.csv", follow_table(experiment_, recorded_, monitor_));
  }

  /// Region sizes are counted on the way, while a snapshot is there anyway. A regions.csv that is there was written at
  /// the end of a run with the same inputs.
  void run_sources(bool resume) {
    counts_regions_ = !request_.rows_only && !(resume && fs::exists(folder_ / "regions.csv"));
    MonitoredProgress progress(monitor_, experiment_.id, count_wanted());
    std::string sizes = region_sizes_header();
    for (const ProblemSource& source : sources_) {
      Snapshots snapshots(source, experiment_.id);
      for (std::size_t i = 0; i < source.steps.size(); ++i) {
        snapshots.go_to(source.steps[i]);
        left_out([&] {
          run_snapshot(source, i, snapshots, progress);
          if (counts_regions_ && has_region_modes())
            sizes += region_sizes(source.label, source.steps[i], snapshots.problem(), experiment_.regions);
        });
      }
    }
    if (counts_regions_) write("regions.csv", sizes);
  }

  /// Whether `work` met something unreadable that the request leaves out; told then.
  template <class Work>
  bool left_out(Work&& work) {
    try {
      work();
      return false;
    } catch (const Unreadable& error) {
      if (!request_.skip_unreadable) throw;
      ++unreadable_;
      monitor_.message(fmt::format("  left out: {}", error.what()));
      return true;
    }
  }

  bool has_region_modes() const {
    return std::any_of(experiment_.regions.begin(), experiment_.regions.end(),
                       [](RegionMode mode) { return mode != RegionMode::none; });
  }

  /// Every tolerance and solver on snapshot `i` of a source.
  template <class Visitor>
  void visit_cells(const ProblemSource& source, std::size_t i, Visitor&& visit) const {
    for (const double tolerance : experiment_.tolerances) {
      for (const SolverVariant& variant : experiment_.solvers) {
        const RunCell cell{source.label,
                           source.steps[i],
                           source.contacts[i],
                           variant.name,
                           make_solver(variant.name, variant.options)->options(),
                           variant.label,
                           tolerance};
        if (groups_ == nullptr || groups_->wants(cell)) visit(cell, variant);
      }
    }
  }

  long long count_wanted() const {
    long long total = 0;
    for (const ProblemSource& source : sources_) {
      for (std::size_t i = 0; i < source.steps.size(); ++i)
        visit_cells(source, i, [&total](const RunCell&, const SolverVariant&) { ++total; });
    }
    return total;
  }

  void run_snapshot(const ProblemSource& source, std::size_t i, Snapshots& snapshots,
                    MonitoredProgress& progress) {
    HeldGroups held(experiment_, monitor_.cancelled());
    try {
      visit_cells(source, i, [&](const RunCell& cell, const SolverVariant& variant) {
        monitor_.stop_when_cancelled();
        progress.update(done_++, fmt::format("{} step {}  {}", cell.file, cell.step, cell.label));
        if (group_is_done(experiment_, *table_, *traces_, cell.file, cell.step, variant, cell.tolerance))
          return;
        if (groups_ != nullptr) {
          take_begun(cell);
          RunGroup group =
              groups_->group(cell, [&] { return lone_group(snapshots.target(), cell, variant); });
          keep(cell, group);
          return;
        }
        held.make(snapshots.target(), cell, variant, keeper([&] { release(held); }));
        if (held.are_due()) release(held);
      });
      release(held);
    } catch (...) {
      keep(held);  // as they are, their runs not repeated
      throw;
    }
  }

  void take_begun(const RunCell& cell) {
    RunGroup begun = groups_->begun(cell);
    if (begun.rows.empty()) return;
    provenance_.add_earlier(begun.session);
    write("env.json", provenance_.json());  // before the rows
    traces_->append(std::move(begun.curves));
    table_->append(begun.rows);
  }

  RunGroup lone_group(const RunTarget& target, const RunCell& cell, const SolverVariant& variant) {
    HeldGroups one(experiment_, monitor_.cancelled());
    one.make(target, cell, variant, keeper([] {}));
    one.repeat();
    return one.take().group;
  }

  /// Keeps runs while their group is made; `before` keeps what comes before the group.
  RunKeeper keeper(std::function<void()> before) {
    RunKeeper out;
    out.has = [this](const RunRecord& row) {
      return table_->contains(row) && (row.protocol != "converge" || traces_->contains(curve_key(row)));
    };
    out.keep = [this, before = std::move(before)](const RunRecord& row, const ConvergenceTrace* curve) {
      before();
      if (curve != nullptr) traces_->append({*curve});
      table_->append(row);
      keep_provenance();
    };
    return out;
  }

  void release(HeldGroups& held) {
    held.repeat();
    keep(held);
  }

  void keep(HeldGroups& held) {
    while (!held.empty()) {
      auto [cell, group] = held.take();
      keep(cell, group);
    }
  }

  void keep(const RunCell& cell, RunGroup& group) {
    for (const RunRecord& row : group.rows) failed_ += row.status == SolveStatus::failed ? 1U : 0U;
    traces_->append(std::move(group.curves));
    table_->append(group.rows);  // last: a group whose rows are there is finished
    if (groups_ != nullptr) groups_->kept(cell, group);
    keep_provenance();
  }

  /// Now and then, so that a killed session leaves how busy the machine was; at most its last seconds are missing.
  void keep_provenance() {
    constexpr double kSeconds = 10.0;
    if (since_kept_.seconds() < kSeconds) return;
    write("env.json", provenance_.json());
    since_kept_.restart();
  }

  const ExperimentRequest& request_;
  const Experiment& experiment_;
  RecordingProvider& provider_;
  RunMonitor& monitor_;
  RunGroups* groups_;
  ResultFolder results_;
  fs::path folder_;
  Provenance provenance_;
  Stopwatch since_kept_;
  std::vector<ProblemSource> sources_;
  std::vector<RecordedScene> recorded_;
  std::string recordings_, series_, steps_, accuracy_;  ///< of the files of these names
  RunTable* table_ = nullptr;
  TraceStore* traces_ = nullptr;
  bool counts_regions_ = true;
  long long done_ = 0;
  std::size_t failed_ = 0, unreadable_ = 0;
};

}  // namespace

ExperimentResult run_experiment(const ExperimentRequest& request, ResultFolder folder,
                                RecordingProvider& provider, RunMonitor& monitor, RunGroups* groups) {
  return ExperimentRun(request, std::move(folder), provider, monitor, groups).run();
}

}  // namespace signorini
