#include "scene_recordings.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "base/check.h"
#include "base/output_file.h"
#include "commands.h"
#include "configs.h"
#include "harness/environment.h"
#include "recording_context.h"
#include "scene/facts.h"
#include "scene/scene_config.h"
#include "scene/step_statistics.h"
#include "terminal.h"

namespace signorini {
namespace {

namespace fs = std::filesystem;

void tell_other_revision(const fs::path& file, RunMonitor& monitor) {
  const std::string git = RecordingReader(file).header().git;
  if (git == build_facts().git) return;
  monitor.message(fmt::format("  {}: recorded by revision {}, this is {}; delete it to record again",
                              file.filename().string(), git, build_facts().git));
}

void tell_summary(const RecordingSummary& summary, RunMonitor& monitor) {
  monitor.message(fmt::format("  {} snapshots of {} steps, up to {} contacts, {}", summary.frames,
                              summary.steps, summary.most_contacts(), seconds_text(summary.seconds)));
  if (!summary.why_empty.empty()) monitor.message("  no snapshots: " + summary.why_empty);
  if (!summary.failure.empty()) monitor.message(fmt::format("  ended early: {}", summary.failure));
}

}  // namespace

SceneRecordings::SceneRecordings(const Program& program, RunMonitor& monitor, const fs::path& out,
                                 SceneSize size, bool force)
    : program_(program), monitor_(monitor), folder_(out / "recordings"), size_(size), force_(force) {}

void SceneRecordings::make(const RecordRequest& record, const fs::path& file, bool keep_failed) {
  if (is_recording_of(file, record)) return tell_other_revision(file, monitor_);
  { const LockFile free = lock_recording(file); }  // busy: not yet the time to say so
  monitor_.message(fmt::format("recording {}", file.filename().string()));
  RecordingPolicy policy;
  std::error_code error;
  const bool there = fs::exists(file, error) || fs::exists(file.string() + ".parts", error);
  policy.existing = there ? ExistingRecording::resume : ExistingRecording::replace;
  policy.keep_failed = keep_failed;
  const auto attempt = [&] {
    tell_summary(record_scene(record, file, policy, recording_context(program_, monitor_)), monitor_);
  };
  try {
    attempt();
  } catch (const OtherRecording& other) {
    if (!force_) {
      throw_usage("{} (--force records it again)", other.what());
    }
    policy.existing = ExistingRecording::replace;
    attempt();
  }
}

fs::path SceneRecordings::path_of(const SceneVariant& wanted) const {
  return folder_ / fmt::format("{}-{}.h5", wanted.name, enum_name(size_));
}

RecordRequest SceneRecordings::request_of(const SceneVariant& wanted) const {
  RecordRequest record;
  record.scene_path = find_config(program_, ConfigKind::scenes, wanted.scene).string();
  record.size = size_;
  record.overrides = wanted.set;
  return record;
}

std::string SceneRecordings::scene_of(const SceneVariant& wanted) const {
  return scene_text(read_scene(request_of(wanted)), size_);
}

fs::path SceneRecordings::provide(const SceneVariant& wanted, bool keep_failed) {
  const RecordRequest record = request_of(wanted);
  make_output_folder(folder_);
  const fs::path file = path_of(wanted);
  for (bool told = false;; told = true) {
    try {
      make(record, file, keep_failed);
      return file;
    } catch (const BusyError& busy) {
      if (!told) {
        monitor_.message(
            fmt::format("  {}: {} is recording it; waiting for its end (Ctrl-C ends the waiting)",
                        file.filename().string(), busy.holder()));
      }
    }
    monitor_.stop_when_cancelled();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
}

std::vector<std::pair<std::string, double>> SceneRecordings::facts(const RecordingHeader& header,
                                                                   const StepTable& statistics,
                                                                   const fs::path& file) const {
  std::vector<std::pair<std::string, double>> values;
  const Facts facts = read_facts(header.config, file.string());
  if (facts.empty() || statistics.rows.empty()) return values;
  for (const FactVerdict& verdict : judge_facts(facts, statistics))
    values.emplace_back(verdict.name, verdict.value);
  return values;
}

std::vector<std::string> SceneRecordings::statistics_columns() const { return statistics_table().columns; }
std::vector<std::string> SceneRecordings::clock_columns() const { return clocks_table().columns; }

}  // namespace signorini
