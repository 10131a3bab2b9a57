#include <limits>

#include "base/check.h"
#include "record/guarded.h"
#include "record/raw_problem.h"
#include "record/recording_parts.h"
#include "record/recording_statistics.h"

namespace signorini {

struct RecordingReader::Impl {
  explicit Impl(const std::filesystem::path& path) : file(path) {}

  h5::ReadFile file;
  RecordingHeader header;
  std::vector<std::string> frames;
};

RecordingReader::RecordingReader(std::filesystem::path path, Parts parts) {
  if (parts == Parts::pack) recover_parts(RecordingPaths(path));
  if (parts != Parts::checked) check_hdf5_in_child(path);
  impl_ = std::make_unique<Impl>(path);
  std::size_t declared = 0;
  impl_->header = read_header(impl_->file, declared);
  impl_->frames = read_frame_ids(impl_->file, declared);
}

RecordingReader::~RecordingReader() = default;
RecordingReader::RecordingReader(RecordingReader&&) noexcept = default;

const RecordingHeader& RecordingReader::header() const { return impl_->header; }
const std::vector<std::string>& RecordingReader::frames() const { return impl_->frames; }

bool RecordingReader::has_statistics() const { return impl_->file.has("/statistics"); }

std::optional<StepTable> RecordingReader::statistics() const {
  const std::optional<RawTree> tree = read_statistics_tree(impl_->file);
  if (!tree) return std::nullopt;
  return decode_statistics(*tree, impl_->file.name() + ": statistics");
}

const std::string& RecordingReader::frame_named(const std::string& id) const {
  for (const std::string& frame : impl_->frames) {
    if (is_frame_id(id) && same_frame(frame, id)) return frame;
  }
  throw_usage("{}: no frame '{}' (it has {} frames{})", impl_->file.name(), id, impl_->frames.size(),
              impl_->frames.empty() ? std::string()
                                    : fmt::format(", {} to {}", impl_->frames.front(), impl_->frames.back()));
}

Frame RecordingReader::read(const std::string& id) const {
  const std::string& frame = frame_named(id);
  return decode_frame(read_frame_tree(impl_->file, frame), frame, frame_place(impl_->file.name(), frame));
}

int RecordingReader::contacts(const std::string& id) const {
  const std::string& frame = frame_named(id);
  const std::string where = frame_place(impl_->file.name(), frame);
  const RawTree tree = impl_->file.read_attributes("/steps/" + frame, where);
  const RawReader raw(tree, where);
  const std::uint64_t contacts = raw.count_attribute("contacts");
  if (contacts > std::numeric_limits<Index>::max())
    raw.fail(fmt::format("{} contacts are too many", contacts));
  return static_cast<int>(contacts);
}

}  // namespace signorini
