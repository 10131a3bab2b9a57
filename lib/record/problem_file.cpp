#include "record/problem_file.h"

#include <atomic>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "record/guarded.h"
#include "record/h5.h"
#include "record/npz_file.h"
#include "record/recording_file.h"
#include "record/recording_parts.h"

namespace signorini {

struct ProblemFile::Impl {
  std::filesystem::path path;
  ProblemFileKind kind = ProblemFileKind::recording;
  std::vector<std::string> steps;
  std::string title;
  std::unique_ptr<FclibFile> single;  ///< of a file with one problem
  std::unique_ptr<RecordingReader> recording;
};

namespace {

std::atomic<std::uint64_t> decoded{0};

/// Opened after the check in a child process.
bool is_recording(const std::filesystem::path& path) {
  return h5::ReadFile(path).has_root_attribute("signorini_schema");
}

/// First line, without control characters and broken UTF-8: the text of a foreign file goes to a terminal.
std::string printable(const std::string& text) {
  std::string shown;
  for (std::size_t i = 0; i < text.size() && shown.size() < 200;) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == '\n' || byte == '\r') break;
    const std::size_t length = byte < 0x80          ? 1
                               : (byte >> 5U) == 6  ? 2
                               : (byte >> 4U) == 14 ? 3
                               : (byte >> 3U) == 30 ? 4
                                                    : 0;
    bool valid = length > 0 && i + length <= text.size() && byte >= 32 && byte != 127;
    for (std::size_t k = 1; valid && k < length; ++k)
      valid = (static_cast<unsigned char>(text[i + k]) >> 6U) == 2;
    // U+0080…U+009F are control characters too.
    if (valid && length == 2 && byte == 0xC2 && static_cast<unsigned char>(text[i + 1]) < 0xA0) valid = false;
    shown += valid ? text.substr(i, length) : "?";
    i += valid ? length : 1;
  }
  return shown;
}

}  // namespace

ProblemFile::ProblemFile(std::filesystem::path path, MatrixReading reading)
    : impl_(std::make_unique<Impl>()) {
  impl_->path = std::move(path);
  recover_parts(RecordingPaths(impl_->path));
  const bool packed = is_npz(impl_->path);
  packed ? check_npz_in_child(impl_->path) : check_hdf5_in_child(impl_->path);
  if (!packed && is_recording(impl_->path)) {
    impl_->recording = std::make_unique<RecordingReader>(impl_->path, RecordingReader::Parts::checked);
    impl_->steps = impl_->recording->frames();
    impl_->title = printable(impl_->recording->header().scene);
    return;
  }
  ++decoded;
  impl_->single = std::make_unique<FclibFile>(packed ? read_checked_npz(impl_->path, reading)
                                                     : read_checked_fclib(impl_->path, reading));
  const ContactProblem& problem = impl_->single->problem;
  const bool is_local = problem.has_dual() && !problem.has_primal();
  impl_->kind = packed     ? ProblemFileKind::npz
                : is_local ? ProblemFileKind::fclib_local
                           : ProblemFileKind::fclib_global;
  impl_->steps = {"0"};
  impl_->title = printable(impl_->single->info.title);
}

ProblemFile::~ProblemFile() = default;
ProblemFile::ProblemFile(ProblemFile&&) noexcept = default;

const std::filesystem::path& ProblemFile::path() const { return impl_->path; }
ProblemFileKind ProblemFile::kind() const { return impl_->kind; }
const std::vector<std::string>& ProblemFile::steps() const { return impl_->steps; }
const std::optional<FclibSolution>& ProblemFile::solution() const {
  static const std::optional<FclibSolution> none;
  return impl_->single ? impl_->single->solution : none;
}
std::string ProblemFile::title() const { return impl_->title; }

ContactProblem ProblemFile::read(const std::string& step) const {
  if (impl_->recording) {
    ++decoded;
    return impl_->recording->read(step).problem;
  }
  if (step != "0")
    throw_usage("--step {}: {} is {} and has the single step 0", step, impl_->path.string(),
                kind_words(kind()));
  return impl_->single->problem;
}

std::vector<SnapshotSize> snapshot_sizes(const std::filesystem::path& path) {
  recover_parts(RecordingPaths(path));
  if (is_npz(path)) {
    check_npz_in_child(path);
    return {{"0", checked_npz_contacts(path)}};
  }
  check_hdf5_in_child(path);
  if (!is_recording(path)) return {{"0", checked_fclib_contacts(path)}};
  const RecordingReader reader(path, RecordingReader::Parts::checked);
  std::vector<SnapshotSize> sizes;
  for (const std::string& step : reader.frames()) sizes.push_back({step, reader.contacts(step)});
  return sizes;
}

const char* kind_words(ProblemFileKind kind) {
  if (kind == ProblemFileKind::recording) return "a recording";
  return kind == ProblemFileKind::npz ? "an npz problem" : "an FCLib file";
}

std::uint64_t problems_decoded() { return decoded; }

}  // namespace signorini
