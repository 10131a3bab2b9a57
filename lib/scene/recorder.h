#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "base/run_monitor.h"
#include "scene/scene.h"

/// Simulates a scene and keeps its contact problems: behind `record`, and behind `run` and `reproduce` when a
/// recording is missing. Beside FILE.h5 lie FILE.steps.csv (statistics of every step), FILE.env.json and, where
/// a step failed, FILE.failure.txt; until the recording is complete they lie in FILE.h5.parts.
namespace signorini {

struct RecordingPolicy {
  ExistingRecording existing = ExistingRecording::refuse;
  /// Least time between two checkpoints, s. Small scenes end before the first one and are not slowed by it.
  double checkpoint_seconds = 0.5;
  /// A step that cannot be solved ends the recording there, with all that came before it, instead of the
  /// command: FILE.failure.txt beside it says why.
  bool keep_failed = false;
};

/// What a recording needs to know of the program that makes it.
struct RecordingContext {
  RunMonitor& monitor;
  std::string revision;  ///< of the program
  /// FILE.env.json of a recording whose bytes are those of `content` and that is called `file`.
  std::function<std::string(const RecordingHeader& header, const std::filesystem::path& content,
                            const std::filesystem::path& file)>
      describe;
};

struct RecordingSummary {
  int frames = 0;               ///< in the file
  int kept = 0;                 ///< of them, found finished by a resume
  long long steps = 0;          ///< 0: the recording was complete already
  long long first_step = 0;     ///< steps that a checkpoint spared
  long long prelude_steps = 0;  ///< taken by this process, and their seconds
  double prelude_seconds = 0.0;
  StepTable statistics;  ///< scene/step_statistics.h
  StepTable clocks;
  double seconds = 0.0;
  std::string failure;    ///< of the step that ended the recording too early; empty: it ran to its end
  std::string why_empty;  ///< of a recording without snapshots: what kept them away

  /// Smallest, largest and sum of a column of the tables; zeros without rows.
  struct Column {
    double least = 0.0, most = 0.0, sum = 0.0, first = 0.0, last = 0.0;
  };
  Column column(const std::string& name) const;
  int most_contacts() const { return static_cast<int>(column("contacts").most); }
};

/// Throws `Cancelled` when the monitor asks to end; the frames on disk and a checkpoint of the last finished step stay
/// for a resume, which goes on from there and ends with the bytes of an uninterrupted run. A damaged
/// checkpoint costs one warning line and the time to simulate from the start.
///
/// The policy of outputs (base/output_file.h) holds: the lock is taken before anything is touched, and a
/// recording that is replaced stays, with what lies beside it, until the new one is complete.
RecordingSummary record_scene(const RecordRequest& request, const std::filesystem::path& output,
                              const RecordingPolicy& policy, const RecordingContext& context);

/// True when `file` holds a recording of exactly this request that ran to its end, or to its failure. Throws
/// `BusyError` while another process records into it.
bool is_recording_of(const std::filesystem::path& file, const RecordRequest& request);

}  // namespace signorini
