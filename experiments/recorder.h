#pragma once

#include <filesystem>

#include "scene/scene.h"

/// Simulates a scene and keeps its contact problems: behind `record`, and behind `run` and `reproduce` when a
/// recording is missing. Beside FILE.h5 lie FILE.steps.csv (statistics of every step) and FILE.env.json.
namespace signorini {

struct Program;

enum class ExistingRecording { refuse, resume, replace };

struct RecordingSummary {
  int frames = 0;  ///< in the file
  int kept = 0;    ///< of them, found finished by a resume
  long long steps = 0;
  int most_contacts = 0;
  double seconds = 0.0;
};

/// Throws `Interrupted` after a signal; the frames on disk stay for a resume.
RecordingSummary record_scene(const Program& program, const RecordRequest& request,
                              const std::filesystem::path& output, ExistingRecording existing);

/// True when `file` holds a finished recording of exactly this request.
bool is_recording_of(const std::filesystem::path& file, const RecordRequest& request);

}  // namespace signorini
