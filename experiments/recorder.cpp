#include "recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <set>

#include "base/check.h"
#include "base/clock.h"
#include "base/text.h"
#include "commands.h"
#include "harness/environment.h"
#include "harness/run_table.h"
#include "interrupt.h"
#include "terminal.h"

namespace signorini {
namespace {

namespace fs = std::filesystem;

/// FILE.h5 → FILE.steps.csv
fs::path beside(const fs::path& output, const char* ending) {
  fs::path path = output;
  return path.replace_extension(ending);
}

class StepsFile {
 public:
  explicit StepsFile(fs::path path) : path_(std::move(path)), file_(std::fopen(path_.c_str(), "w")) {
    if (file_ == nullptr)
      throw_input("{}: cannot open for writing: {}", path_.string(), std::strerror(errno));
    put("step,time,contacts,iterations,residual,kinetic_energy,elastic_energy,potential_energy,penetration,"
        "detection_seconds,assembly_seconds,solve_seconds,other_seconds\n");
  }
  ~StepsFile() {
    if (file_ != nullptr) std::fclose(file_);
  }
  StepsFile(const StepsFile&) = delete;
  StepsFile& operator=(const StepsFile&) = delete;

  void add(const StepStatistics& s) {
    put(fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{}\n", s.step, s.time, s.contacts, s.iterations,
                    s.residual, s.kinetic_energy, s.elastic_energy, s.potential_energy, s.penetration,
                    s.detection_seconds, s.assembly_seconds, s.solve_seconds, s.other_seconds));
  }
  void close() {
    std::FILE* file = file_;
    file_ = nullptr;
    if (std::fclose(file) != 0) throw_input("{}: cannot write: {}", path_.string(), std::strerror(errno));
  }

 private:
  void put(const std::string& text) {
    if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) {
      throw_input("{}: cannot write: {}", path_.string(), std::strerror(errno));
    }
  }

  fs::path path_;
  std::FILE* file_;
};

void make_way(const fs::path& output, ExistingRecording existing) {
  const fs::path parts = output.string() + ".parts";
  std::error_code error;
  if (fs::is_directory(output, error)) throw_usage("{}: is a folder; -o names a file", output.string());
  if (output.has_parent_path() && !fs::is_directory(output.parent_path(), error)) {
    throw_input("{}: no such folder; make it first", output.parent_path().string());
  }
  if (existing == ExistingRecording::replace) {
    fs::remove(output, error);
    fs::remove_all(parts, error);
  } else if (existing == ExistingRecording::refuse && fs::exists(output, error)) {
    throw_usage("{}: exists already; --force replaces it", output.string());
  } else if (existing == ExistingRecording::refuse && fs::exists(parts, error)) {
    throw_usage("{}: parts of an unfinished recording are there; --resume goes on, --force starts again",
                output.string());
  }
}

}  // namespace

bool is_recording_of(const fs::path& file, const RecordRequest& request) {
  std::error_code error;
  if (!fs::exists(file, error) || fs::exists(file.string() + ".parts", error)) return false;
  return RecordingReader(file).header().config == recording_header(request).config;
}

RecordingSummary record_scene(const Program& program, const RecordRequest& request, const fs::path& output,
                              ExistingRecording existing) {
  RecordingHeader header = recording_header(request);
  header.git = build_facts().git;
  make_way(output, existing);
  Provenance provenance(program.command_line);
  provenance.set("scene", header.scene);
  provenance.set("config", header.config);

  RecordingSummary summary;
  const std::string scene = header.scene;
  if (existing == ExistingRecording::resume && is_recording_of(output, request)) {
    RecordingReader reader(output);
    summary.frames = summary.kept = static_cast<int>(reader.frames().size());
    const fs::path description = beside(output, ".env.json");
    if (!fs::exists(description)) {  // a kill after the last frame
      provenance.add_input(output);
      write_text_file(description, provenance.json());
    }
    return summary;
  }
  RecordingWriter writer(output, std::move(header), existing == ExistingRecording::resume);
  const std::set<std::string> finished(writer.frames().begin(), writer.frames().end());
  summary.kept = static_cast<int>(finished.size());
  StepsFile steps(beside(output, ".steps.csv"));
  std::unique_ptr<Progress> progress;
  const Stopwatch watch;
  int fresh = 0;
  run_scene(
      request, [&finished](const std::string& id) { return !finished.contains(id); },
      [&writer, &fresh](const Frame& frame) {
        writer.append(frame);
        ++fresh;
      },
      [&](const StepStatistics& s) {
        steps.add(s);
        if (!progress) progress = std::make_unique<Progress>("recording " + scene, s.steps);
        progress->update(s.step, fmt::format("step {}/{}  {} contacts", s.step, s.steps, s.contacts));
        summary.steps = std::max(summary.steps, s.step);
        summary.most_contacts = std::max(summary.most_contacts, s.contacts);
        return !interrupted();
      });
  progress.reset();
  stop_when_interrupted();
  steps.close();
  writer.finish();
  summary.frames = summary.kept + fresh;
  summary.seconds = watch.seconds();
  provenance.add_input(output);
  write_text_file(beside(output, ".env.json"), provenance.json());
  return summary;
}

}  // namespace signorini
