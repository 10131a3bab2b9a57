#include "scene/recording_facts.h"

#include "base/check.h"
#include "record/problem_file.h"

namespace signorini {

std::vector<FactVerdict> judge_recording(const std::string& path) {
  if (const ProblemFileKind kind = ProblemFile(path).kind(); kind != ProblemFileKind::recording)
    throw_usage("{}: is {}; only recordings have facts", path, kind_words(kind));
  const RecordingReader reader(path, RecordingReader::Parts::checked);
  const auto statistics = reader.statistics();
  if (!statistics)
    throw_input(
        "{}: the recording is unfinished, so its facts cannot be checked; continue it with 'signorini "
        "record ... --resume'",
        path);
  const std::string& scene = reader.header().config;
  const Facts facts = read_facts(scene, path + ": scene");
  const bool whole = runs_to_its_end(scene, statistics->rows.size(), path + ": scene");
  return judge_facts(facts, *statistics, whole);
}

}  // namespace signorini
