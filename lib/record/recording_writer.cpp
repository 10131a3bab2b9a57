#include <algorithm>
#include <optional>
#include <stdexcept>
#include <system_error>

#include "base/check.h"
#include "base/durable_file.h"
#include "base/input_file.h"
#include "record/guarded.h"
#include "record/raw_problem.h"
#include "record/recording_checkpoint.h"
#include "record/recording_parts.h"
#include "record/recording_statistics.h"

namespace signorini {

namespace fs = std::filesystem;

LockFile lock_recording(const fs::path& path) {
  return LockFile(RecordingPaths(path).lock, path.string() + ": is being recorded");
}

struct RecordingWriter::Impl {
  Impl(LockFile held, const fs::path& path, RecordingHeader given)
      : paths(path), header(std::move(given)), own(header.kernels), lock(std::move(held)) {}

  RecordingPaths paths;
  RecordingHeader header;
  std::string own, before;  ///< kernels: of this process, and what it found
  std::optional<LockFile> lock;
  std::vector<std::string> frames;

  /// Goes on with what other kernels may have begun. Of two that were found the longer one is the newer.
  void go_on_after(const std::string& found) {
    if (found.size() > before.size()) before = found;
    header.kernels = kernels_after(before, own);
  }

  void refuse_what_is_there() const {
    if (fs::exists(paths.file))
      throw_usage("{}: exists already; remove it, resume it, or choose another name", paths.file.string());
    if (!list_parts(paths).empty())
      throw_usage("{}: holds frames of an unfinished recording; remove it or resume", paths.parts.string());
  }

  void keep_finished_frames() {
    if (fs::exists(paths.file) && !paths.is_replacement()) {
      const RecordingReader packed(paths.file, RecordingReader::Parts::leave);
      check_same_header(packed.header(), header, paths.file.string());
      go_on_after(packed.header().kernels);
      frames = packed.frames();
    }
    const std::vector<std::string> parts = list_parts(paths);
    if (parts.empty()) return;
    const RecordingHeader newest = verify_parts(paths, parts);
    check_same_header(newest, header, paths.parts.string());
    go_on_after(newest.kernels);
    frames.insert(frames.end(), parts.begin(), parts.end());
    std::sort(frames.begin(), frames.end(), frame_before);
    frames.erase(std::unique(frames.begin(), frames.end()), frames.end());
  }

  /// What a kill left half written.
  void discard_temporaries() const {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(paths.parts, ignored)) {
      if (entry.path().extension() == ".tmp") fs::remove(entry.path(), ignored);
    }
    fs::remove(paths.packed, ignored);
  }

  void make_parts_folder() const {
    std::error_code error;
    fs::create_directories(paths.parts, error);
    if (error) throw_input("{}: the folder cannot be made ({})", paths.parts.string(), error.message());
    sync_folder(paths.file.has_parent_path() ? paths.file.parent_path() : fs::path("."));
  }

  /// The mark comes first: from then on nobody packs what is in the folder into the file that is there.
  void start_again() const {
    if (fs::exists(paths.file)) write_durable(paths.replaces, {});
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(paths.parts, error)) {
      if (entry.path() != paths.replaces) fs::remove_all(entry.path(), error);
    }
    if (error) throw_input("{}: cannot be emptied ({})", paths.parts.string(), error.message());
  }

  void check_all_frames_are_packed() const {
    const h5::ReadFile packed(paths.packed);
    std::size_t declared = 0;
    read_header(packed, declared);
    const std::vector<std::string> ids = read_frame_ids(packed, declared);
    std::vector<std::string> missing;
    std::set_difference(frames.begin(), frames.end(), ids.begin(), ids.end(), std::back_inserter(missing),
                        frame_before);
    if (missing.empty()) return;
    std::error_code ignored;
    fs::remove(paths.packed, ignored);
    throw std::runtime_error(fmt::format(
        "{}: {} of {} recorded frames are gone from {} (the first is {}): another program removed them; "
        "nothing was written, record again with --force",
        paths.file.string(), missing.size(), frames.size(), paths.parts.string(), missing.front()));
  }
};

RecordingWriter::RecordingWriter(fs::path path, RecordingHeader header, bool resume)
    : RecordingWriter(lock_recording(path), path, std::move(header),
                      resume ? ExistingRecording::resume : ExistingRecording::refuse) {}

RecordingWriter::RecordingWriter(LockFile lock, fs::path path, RecordingHeader header,
                                 ExistingRecording existing)
    : impl_(std::make_unique<Impl>(std::move(lock), path, std::move(header))) {
  if (existing == ExistingRecording::refuse) impl_->refuse_what_is_there();
  impl_->discard_temporaries();
  if (existing == ExistingRecording::resume) impl_->keep_finished_frames();
  impl_->make_parts_folder();
  if (existing != ExistingRecording::resume) impl_->start_again();
}

RecordingWriter::~RecordingWriter() {
  if (!impl_ || !impl_->lock) return;
  const RecordingPaths& paths = impl_->paths;
  std::error_code ignored;
  const auto entries = fs::directory_iterator(paths.parts, ignored);
  if (std::all_of(begin(entries), end(entries),
                  [&](const auto& entry) { return entry.path() == paths.replaces; }))
    fs::remove_all(paths.parts, ignored);  // nothing was recorded
}

const RecordingHeader& RecordingWriter::header() const { return impl_->header; }

const std::vector<std::string>& RecordingWriter::frames() const { return impl_->frames; }

void RecordingWriter::append(const Frame& frame) {
  std::vector<std::string>& frames = impl_->frames;
  if (!impl_->lock) throw_usage("{}: the recording is finished", impl_->paths.file.string());
  if (!is_frame_id(frame.id)) throw_usage("frame '{}': not a step number", frame.id);
  const auto place = std::lower_bound(frames.begin(), frames.end(), frame.id, frame_before);
  if (place != frames.end() && same_frame(*place, frame.id)) {
    throw_usage("{}: frame {} is recorded already", impl_->paths.file.string(), frame.id);
  }
  const fs::path part = impl_->paths.part(frame.id);
  check_problem(frame.problem, frame_place(impl_->paths.file.string(), frame.id));

  h5::WriteFile out(h5::Format::v18);
  out.put("/", header_tree(impl_->header, 1));
  out.put("/steps/" + frame.id, frame_tree(frame));
  std::vector<std::byte> image = out.image();
  {
    const h5::ReadFile check(image, part.string());
    read_frame_tree(check, frame.id);
  }
  write_durable(part, image);
  frames.insert(place, frame.id);
}

void RecordingWriter::keep(const RecordingCheckpoint& checkpoint) {
  if (!impl_->lock) throw_usage("{}: the recording is finished", impl_->paths.file.string());
  const std::string bytes = encode_checkpoint(checkpoint, impl_->header);
  write_durable(impl_->paths.checkpoint, std::as_bytes(std::span(bytes)));
}

std::optional<RecordingCheckpoint> RecordingWriter::checkpoint() {
  const fs::path& path = impl_->paths.checkpoint;
  std::error_code error;
  if (!fs::exists(path, error)) return std::nullopt;
  const std::string bytes = read_input_file(path, "checkpoint");
  RecordingCheckpoint checkpoint = decode_checkpoint(bytes, impl_->header, path.string());
  for (const std::string& id : checkpoint.frames) {
    if (!std::binary_search(impl_->frames.begin(), impl_->frames.end(), id, frame_before)) {
      throw_input("{}: counts frame {}, which is not on disk", path.string(), id);
    }
  }
  impl_->go_on_after(checkpoint.kernels);
  return checkpoint;
}

void RecordingWriter::finish(const StepTable* statistics, const Describe& describe) {
  if (!impl_->lock) return;
  const RecordingPaths& paths = impl_->paths;
  if (statistics != nullptr) check_table(*statistics, paths.file.string());
  if (list_parts(paths).empty() && statistics == nullptr && fs::exists(paths.file)) {
    remove_parts(paths);
  } else {
    pack(paths, impl_->header, statistics);
    impl_->check_all_frames_are_packed();
    if (describe) describe(paths.packed);
    publish_packed(paths);
  }
  impl_->lock.reset();
}

}  // namespace signorini
