#include "scene_recordings.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "base/check.h"
#include "base/output_file.h"
#include "commands.h"
#include "configs.h"
#include "harness/environment.h"
#include "interrupt.h"
#include "recorder.h"
#include "scene/facts.h"
#include "scene/step_statistics.h"
#include "terminal.h"

namespace signorini {
namespace {

namespace fs = std::filesystem;

void say_other_revision(const fs::path& file) {
  const std::string git = RecordingReader(file).header().git;
  if (git == build_facts().git) return;
  say(fmt::format("  {}: recorded by revision {}, this is {}; delete it to record again",
                  file.filename().string(), git, build_facts().git));
}

void say_summary(const RecordingSummary& summary) {
  say(fmt::format("  {} snapshots of {} steps, up to {} contacts, {}", summary.frames, summary.steps,
                  summary.most_contacts(), seconds_text(summary.seconds)));
  if (!summary.why_empty.empty()) say("  no snapshots: " + summary.why_empty);
  if (!summary.failure.empty()) say(fmt::format("  ended early: {}", summary.failure));
}

/// Records what is missing. Throws `BusyError` while another process records it.
void make_recording(const Program& program, const RecordRequest& record, const fs::path& file, bool force,
                    bool keep_failed) {
  if (is_recording_of(file, record)) return say_other_revision(file);
  { const LockFile free = lock_recording(file); }  // busy: not yet the time to say so
  say(fmt::format("recording {}", file.filename().string()));
  RecordingPolicy policy;
  std::error_code error;
  const bool there = fs::exists(file, error) || fs::exists(file.string() + ".parts", error);
  policy.existing = there ? ExistingRecording::resume : ExistingRecording::replace;
  policy.keep_failed = keep_failed;
  try {
    say_summary(record_scene(program, record, file, policy));
  } catch (const OtherRecording& other) {
    if (!force) {
      throw_usage(
          "{} holds another version of the scene ({}); --force records it again, another --out leaves it",
          file.string(), other.what());
    }
    policy.existing = ExistingRecording::replace;
    say_summary(record_scene(program, record, file, policy));
  }
}

}  // namespace

SceneRecordings::SceneRecordings(const Program& program, fs::path out, SceneSize size, bool force)
    : program_(program), folder_(std::move(out) / "recordings"), size_(size), force_(force) {}

fs::path SceneRecordings::provide(const SceneVariant& wanted, bool keep_failed) {
  RecordRequest record;
  record.scene_path = find_config(program_, ConfigKind::scenes, wanted.scene).string();
  record.size = size_;
  record.overrides = wanted.set;
  make_output_folder(folder_);
  const fs::path file = folder_ / fmt::format("{}-{}.h5", wanted.name, enum_name(size_));
  for (bool told = false;; told = true) {
    try {
      make_recording(program_, record, file, force_, keep_failed);
      return file;
    } catch (const BusyError& busy) {
      if (!told) {
        say(fmt::format("  {}: {} is recording it; waiting for its end (Ctrl-C ends the waiting)",
                        file.filename().string(), busy.holder()));
      }
    }
    stop_when_interrupted();
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
