#include "scene/recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>
#include <span>

#include "base/check.h"
#include "base/clock.h"
#include "base/durable_file.h"
#include "base/output_file.h"
#include "base/reason.h"
#include "linalg/factor_library.h"
#include "record/recording_checkpoint.h"
#include "record/recording_failure.h"
#include "record/recording_format.h"
#include "record/recording_parts.h"
#include "scene/steps_file.h"

namespace signorini {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSteps = "steps.csv";
constexpr const char* kDescription = "env.json";

void write_text(const fs::path& path, const std::string& text) {
  write_durable(path, std::as_bytes(std::span(text)));
}

/// Says when the next checkpoint is due: not before `least` seconds have passed, nor while checkpoints would
/// take more than a twentieth of the time. With `least` = 0, after every step.
class CheckpointClock {
 public:
  explicit CheckpointClock(double least) : least_(least) {}
  bool due() const { return least_ == 0.0 || since_.seconds() >= std::max(least_, 20.0 * cost_); }
  void written(double seconds) {
    cost_ = seconds;
    since_.restart();
  }

 private:
  double least_, cost_ = 0.0;
  Stopwatch since_;
};

SceneRun built(const RecordRequest& request, RunMonitor& monitor, const std::string& scene) {
  const MonitoredSetUp set_up(monitor, "setting up the scene " + scene);
  return SceneRun(request);
}

/// A scene on its way into a recording.
class Recording {
 public:
  Recording(const RecordRequest& request, LockFile lock, const fs::path& output, RecordingHeader header,
            const RecordingPolicy& policy, const RecordingContext& context)
      : header_(header),
        context_(context),
        run_(built(request, context.monitor, header_.scene)),
        writer_(std::move(lock), output, std::move(header), policy.existing),
        paths_(output),
        keep_failed_(policy.keep_failed),
        clock_(policy.checkpoint_seconds) {
    done_.statistics = run_.statistics_table();
    done_.clocks = clocks_table();
    kept_ = static_cast<int>(writer_.frames().size());
    if (policy.existing == ExistingRecording::resume) go_back_to_checkpoint(request);
    tell_other_kernels();
    first_ = done_.steps;
    steps_.emplace(paths_.unfinished(kSteps), done_.statistics, done_.clocks);
  }

  /// Takes steps until the end or a signal; then everything on disk is as new as it can be.
  void run() {
    const bool done = take_prelude() && take_steps();
    if (!done && failure_.empty()) {
      if (taken() > saved_) keep_checkpoint();
      throw Cancelled();
    }
    steps_->close();
    write_text(paths_.unfinished(kFailureSidecar), failure_.empty() ? "" : failure_ + "\n");
    if (done_.frames.empty()) why_empty_ = no_snapshots();
    writer_.finish(&done_.statistics, [&](const fs::path& packed) {
      write_text(paths_.unfinished(kDescription), context_.describe(header_, packed, paths_.file));
    });
  }

  RecordingSummary summary() const {
    RecordingSummary summary;
    summary.frames = static_cast<int>(done_.frames.size());
    summary.kept = kept_;
    summary.steps = done_.steps;
    summary.first_step = first_;
    summary.prelude_steps = prelude_steps_;
    summary.prelude_seconds = prelude_seconds_;
    summary.statistics = done_.statistics;
    summary.clocks = done_.clocks;
    summary.seconds = watch_.seconds();
    summary.failure = failure_;
    summary.why_empty = why_empty_;
    return summary;
  }

 private:
  /// Steps, those of the prelude included.
  long long taken() const { return run_.prelude_steps() - run_.prelude_left() + done_.steps; }

  /// Whether the prelude came to its end.
  bool take_prelude() {
    if (run_.prelude_left() == 0) return true;
    const long long first = run_.prelude_left();
    const Stopwatch watch;
    MonitoredProgress progress(context_.monitor, "prelude of " + header_.scene, first);
    while (run_.prelude_left() > 0 && !is_cancelled(context_.monitor.cancelled())) {
      const std::optional<StepReport> step = attempt([&] { return run_.advance_prelude(); });
      if (!step) return false;
      const long long left = run_.prelude_left();
      progress.update(first - left,
                      fmt::format("step {}/{}  {} contacts  {} iterations", run_.prelude_steps() - left,
                                  run_.prelude_steps(), step->contacts, step->iterations));
      prelude_steps_ = first - left;
      prelude_seconds_ = watch.seconds();
      if (clock_.due()) keep_checkpoint();
    }
    return run_.prelude_left() == 0;
  }

  /// Whether the run came to its end.
  bool take_steps() {
    MonitoredProgress progress(context_.monitor, "recording " + header_.scene, run_.steps() - first_);
    bool done = run_.ends(done_.statistics);
    while (!done && !is_cancelled(context_.monitor.cancelled())) {
      const std::optional<StepStatistics> step = attempt([&] { return take_step(); });
      if (!step) break;
      progress.update(step->step - first_, progress_text(*step));
      done = run_.ends(done_.statistics);
      if (clock_.due() && !done) keep_checkpoint();
    }
    return done;
  }

  /// What kept snapshots away.
  std::string no_snapshots() const {
    const auto& columns = done_.statistics.columns;
    const std::size_t column = std::find(columns.begin(), columns.end(), "contacts") - columns.begin();
    const auto touching = std::count_if(done_.statistics.rows.begin(), done_.statistics.rows.end(),
                                        [&](const std::vector<double>& row) { return row[column] > 0.0; });
    if (touching > 0) {
      return fmt::format(
          "{} of {} steps had contacts, but none of them is recorded: see time.record_every, record_from and "
          "record_min_contacts",
          touching, done_.steps);
    }
    std::string text = fmt::format("no contact within the {} steps", done_.steps);
    if (const std::optional<NearestApproach> nearest = run_.nearest_approach()) {
      text += fmt::format("; nearest at the end are '{}' and '{}', {:.3g} m apart", nearest->a, nearest->b,
                          nearest->distance);
    }
    return text + "; record more steps, or let the bodies start closer";
  }

  void go_back_to_checkpoint(const RecordRequest& request) {
    try {
      const std::optional<RecordingCheckpoint> checkpoint = writer_.checkpoint();
      if (!checkpoint) return;
      if (checkpoint->statistics.columns != done_.statistics.columns ||
          checkpoint->clocks.columns != done_.clocks.columns)
        throw InputError("its statistics have other columns");
      run_.restore(checkpoint->state);
      if (run_.steps_taken() != checkpoint->steps) throw InputError("it counts other steps than its state");
      done_ = *checkpoint;
      saved_ = taken();
      context_.monitor.message(
          run_.prelude_left() > 0
              ? fmt::format("{}: going on after step {} of {} of the prelude", header_.scene, saved_,
                            run_.prelude_steps())
              : fmt::format("{}: going on after step {} of {}", header_.scene, done_.steps, run_.steps()));
    } catch (const InputError& e) {
      context_.monitor.message(
          fmt::format("warning: {}; simulating again from step 1, the frames on disk are kept", e.what()));
      run_ = built(request, context_.monitor, header_.scene);
    }
  }

  /// The bytes are then those of no machine.
  void tell_other_kernels() {
    const std::string own = header_.kernels;
    header_ = writer_.header();
    const std::size_t comma = header_.kernels.rfind(", ");
    if (comma == std::string::npos) return;
    const std::string before = header_.kernels.substr(0, comma);
    context_.monitor.message(fmt::format(
        "warning: {}: begun with {} kernels, goes on with {}: its last bits will be those of neither; "
        "{} goes on as it began, where processor and program have both",
        paths_.file.string(), before, own, rounding_environment(before.substr(0, before.find(',')))));
  }

  /// Nothing when a signal ends the step in its midst, and then the scene is back where the step began; nor when it
  /// cannot be solved and failed recordings are kept.
  template <class Step>
  auto attempt(Step&& step) -> std::optional<decltype(step())> {
    const std::string before = run_.checkpoint();
    try {
      return step();
    } catch (const Cancelled&) {
      run_.restore(before);
    } catch (const InputError&) {
      throw;
    } catch (const UsageError&) {
      throw;
    } catch (const std::runtime_error& error) {
      if (!keep_failed_) throw;
      failure_ = reason_of(error);
    }
    return std::nullopt;
  }

  StepStatistics take_step() {
    const std::size_t frames = done_.frames.size();
    StepStatistics step;
    try {
      step = run_.advance(
          [this](const std::string& id) {
            done_.frames.push_back(id);
            return !std::binary_search(writer_.frames().begin(), writer_.frames().end(), id, frame_before);
          },
          [this](const Frame& frame) { writer_.append(frame); });
    } catch (const Cancelled&) {
      done_.frames.resize(frames);
      throw;
    }
    done_.steps = step.step;
    done_.statistics.rows.push_back(statistics_row(step));
    done_.clocks.rows.push_back(clocks_row(step));
    steps_->add(done_.statistics.rows.back(), done_.clocks.rows.back());
    return step;
  }

  void keep_checkpoint() {
    const Stopwatch cost;
    done_.state = run_.checkpoint();
    writer_.keep(done_);
    saved_ = taken();
    clock_.written(cost.seconds());
  }

  static std::string progress_text(const StepStatistics& s) {
    const StepReport& r = s.report;
    return fmt::format("step {}/{}  {} contacts  {} regions  {} iterations  {:.4g} J", s.step, s.steps,
                       r.contacts, s.regions, r.iterations,
                       r.kinetic_energy + r.elastic_energy + r.potential_energy);
  }

  RecordingHeader header_;
  const RecordingContext& context_;
  Stopwatch watch_;
  SceneRun run_;
  RecordingWriter writer_;
  RecordingPaths paths_;
  bool keep_failed_ = false;
  std::string failure_, why_empty_;
  CheckpointClock clock_;
  RecordingCheckpoint done_;  // all but its state is up to date
  int kept_ = 0;
  long long first_ = 0, saved_ = 0, prelude_steps_ = 0;
  double prelude_seconds_ = 0.0;
  std::optional<StepsFile> steps_;
};

OutputPlan plan_of(const RecordRequest& request, const fs::path& output) {
  const RecordingPaths paths(output);
  PlannedOutput file{"-o", output, {}};
  for (const char* name : kRecordingSidecars) file.beside.push_back(paths.beside(name));
  return {scene_files(request), {file}, ExistingOutput::replace};
}

void refuse_what_is_there(OutputPlan plan, const RecordingPaths& paths) {
  std::error_code error;
  if (paths.is_replacement()) {
    throw_usage(
        "{}: exists already, and {} holds frames of an unfinished recording that is to replace it; "
        "--resume goes on with them, --force starts again",
        paths.file.string(), paths.parts.string());
  }
  if (!fs::exists(paths.file, error) && fs::exists(paths.parts, error)) {
    throw_usage("{}: parts of an unfinished recording are there; --resume goes on, --force starts again",
                paths.file.string());
  }
  plan.existing = ExistingOutput::refuse;
  check_outputs(plan);
}

/// The recording that is there when it is complete and of this request.
std::optional<RecordingSummary> complete_already(const RecordingPaths& paths, const RecordingHeader& header) {
  std::error_code error;
  if (!fs::exists(paths.file, error) || paths.is_replacement()) return std::nullopt;
  {
    const RecordingReader reader(paths.file, RecordingReader::Parts::leave);
    if (!reader.has_statistics() || reader.header().config != header.config) return std::nullopt;
  }
  recover_locked_parts(paths);  // of a kill between the last frame and the end
  RecordingSummary summary;
  summary.frames = summary.kept =
      static_cast<int>(RecordingReader(paths.file, RecordingReader::Parts::leave).frames().size());
  summary.failure = recording_failure(paths.file);
  return summary;
}

}  // namespace

RecordingSummary::Column RecordingSummary::column(const std::string& name) const {
  Column column;
  for (const StepTable* table : {&statistics, &clocks}) {
    const auto found = std::find(table->columns.begin(), table->columns.end(), name);
    if (found == table->columns.end() || table->rows.empty()) continue;
    const std::size_t c = found - table->columns.begin();
    column.least = column.most = column.first = table->rows.front()[c];
    column.last = table->rows.back()[c];
    for (const std::vector<double>& row : table->rows) {
      column.least = std::fmin(column.least, row[c]);  // the number, beside a NaN
      column.most = std::fmax(column.most, row[c]);
      if (!std::isnan(row[c])) column.sum += row[c];
    }
  }
  return column;
}

bool is_recording_of(const fs::path& file, const RecordRequest& request) {
  std::error_code error;
  if (!fs::exists(file, error)) return false;
  const RecordingPaths paths(file);
  if (fs::exists(paths.parts, error) && !paths.is_replacement()) {
    try {
      const LockFile free = lock_recording(file);
    } catch (const BusyError&) {
      throw;  // its sidecars are not in place yet
    } catch (const InputError&) {
      // a folder that cannot be written: what is there can be read
    }
  }
  const RecordingReader reader(file);
  return reader.has_statistics() && reader.header().config == recording_header(request).config;
}

RecordingSummary record_scene(const RecordRequest& asked, const fs::path& output,
                              const RecordingPolicy& policy, const RecordingContext& context) {
  RecordRequest request = asked;
  request.cancelled = context.monitor.cancelled();
  RecordingHeader header = recording_header(request);
  header.git = context.revision;
  header.kernels = rounding_name();
  const RecordingPaths paths(output);
  const OutputPlan plan = plan_of(request, output);
  check_outputs(plan);
  LockFile lock = lock_recording(output);
  std::error_code error;
  const bool nothing_there = !fs::exists(paths.file, error) && !fs::exists(paths.parts, error);
  if (policy.existing == ExistingRecording::refuse ||
      (policy.existing == ExistingRecording::resume && nothing_there)) {
    refuse_what_is_there(plan, paths);
  }
  if (policy.existing == ExistingRecording::resume) {
    if (const std::optional<RecordingSummary> summary = complete_already(paths, header)) {
      if (!fs::exists(paths.beside(kDescription))) {
        write_text(paths.beside(kDescription), context.describe(header, output, output));
      }
      return *summary;
    }
  }
  Recording recording(request, std::move(lock), output, std::move(header), policy, context);
  recording.run();
  return recording.summary();
}

}  // namespace signorini
