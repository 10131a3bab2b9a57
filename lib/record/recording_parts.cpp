#include "record/recording_parts.h"

#include <algorithm>
#include <optional>
#include <system_error>

#include "base/check.h"
#include "base/durable_file.h"
#include "record/guarded.h"
#include "record/recording_statistics.h"

namespace signorini {

namespace fs = std::filesystem;

namespace {

std::uintmax_t size_of(const fs::path& path) {
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(path, error);
  return error ? 0 : bytes;
}

std::uintmax_t total_size(const RecordingPaths& paths, const std::vector<std::string>& ids) {
  std::uintmax_t bytes = size_of(paths.file);
  for (const std::string& id : ids) bytes += size_of(paths.part(id));
  return bytes;
}

/// Opens a part and checks that it holds just that frame.
RawTree read_part(const RecordingPaths& paths, const std::string& id, RecordingHeader& header) {
  const h5::ReadFile part(paths.part(id));
  std::size_t declared = 0;
  header = read_header(part, declared);
  const std::vector<std::string> ids = read_frame_ids(part, declared);
  if (ids != std::vector<std::string>{id})
    throw_input("{}: damaged part (it does not hold frame {})", part.name(), id);
  return read_frame_tree(part, id);
}

/// Frame by frame in ascending order, so that the bytes depend on the content alone.
void write_packed(const RecordingPaths& paths, const RecordingHeader& header,
                  const std::vector<std::string>& parts, const StepTable* statistics) {
  std::optional<h5::ReadFile> old;
  std::vector<std::string> ids = parts;
  std::vector<std::string> old_ids;
  if (fs::exists(paths.file) && !paths.is_replacement()) {
    old.emplace(paths.file);
    std::size_t declared = 0;
    check_same_header(read_header(*old, declared), header, paths.file.string());
    old_ids = read_frame_ids(*old, declared);
    ids.insert(ids.end(), old_ids.begin(), old_ids.end());
    std::sort(ids.begin(), ids.end(), frame_before);
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  }
  h5::WriteFile out(paths.packed, h5::Format::v18);
  out.put("/", header_tree(header, ids.size()));
  out.put("/steps", RawTree{});
  for (const std::string& id : ids) {
    if (std::binary_search(parts.begin(), parts.end(), id, frame_before)) {
      RecordingHeader found;
      const RawTree tree = read_part(paths, id, found);
      check_same_header(found, header, paths.part(id).string());
      out.put_shared("/steps/" + id, tree);
    } else {
      out.put_shared("/steps/" + id, read_frame_tree(*old, id));
    }
  }
  std::optional<RawTree> table;
  if (statistics != nullptr) {
    table = statistics_tree(*statistics);
  } else if (old) {
    table = read_statistics_tree(*old);
  }
  if (table) out.put_shared("/statistics", *table);
  out.close();

  const h5::ReadFile written(paths.packed);
  std::size_t declared = 0;
  check_same_header(read_header(written, declared), header, paths.packed.string());
  for (const std::string& id : read_frame_ids(written, declared)) read_frame_tree(written, id);
  read_statistics_tree(written);
}

/// Whether the packed file has its statistics. It may be any file, so it is read in a child process.
bool is_complete(const RecordingPaths& paths) {
  try {
    run_in_child(paths.file.string(), size_of(paths.file), [&] {
      if (!h5::ReadFile(paths.file).has("/statistics")) throw InputError("no statistics");
    });
    return true;
  } catch (const InputError&) {
    return false;
  }
}

/// Puts what comes beside the finished recording there. An empty file means that there is none this time.
void move_sidecars(const RecordingPaths& paths) {
  for (const char* name : kRecordingSidecars) {
    std::error_code error;
    const fs::path from = paths.unfinished(name);
    if (!fs::exists(from, error)) continue;  // moved already
    if (size_of(from) > 0) {
      publish_durable(from, paths.beside(name));
    } else {
      fs::remove(paths.beside(name), error);
      fs::remove(from, error);
    }
  }
}

}  // namespace

std::vector<std::string> list_parts(const RecordingPaths& paths) {
  std::vector<std::string> ids;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(paths.parts, error)) {
    const std::string id = entry.path().stem().string();
    if (entry.path().extension() == ".h5" && is_frame_id(id)) ids.push_back(id);
  }
  std::sort(ids.begin(), ids.end(), frame_before);
  return ids;
}

RecordingHeader verify_parts(const RecordingPaths& paths, const std::vector<std::string>& ids) {
  const auto read_all = [&] {
    RecordingHeader header;
    for (const std::string& id : ids) {
      RecordingHeader found;
      read_part(paths, id, found);
      if (id == ids.front()) header = found;
      check_same_header(found, header, paths.part(id).string());
    }
    return header;
  };
  run_in_child(paths.parts.string(), total_size(paths, ids), [&] { read_all(); });
  RecordingHeader header;
  read_part(paths, ids.back(), header);
  return header;
}

void remove_parts(const RecordingPaths& paths) {
  std::error_code error;
  fs::remove(paths.replaces, error);
  if (is_complete(paths)) {
    move_sidecars(paths);
    fs::remove_all(paths.parts, error);
  } else {
    for (const std::string& id : list_parts(paths)) {
      if (!error) fs::remove(paths.part(id), error);
    }
    std::error_code not_empty;
    fs::remove(paths.parts, not_empty);
  }
  if (error)
    throw_input("{}: the packed parts cannot be removed ({})", paths.parts.string(), error.message());
  sync_folder(paths.file.has_parent_path() ? paths.file.parent_path() : fs::path("."));
}

void pack(const RecordingPaths& paths, const RecordingHeader& header, const StepTable* statistics) {
  const std::vector<std::string> parts = list_parts(paths);
  std::error_code ignored;
  fs::remove(paths.packed, ignored);
  try {
    run_in_child(paths.parts.string(), 2 * total_size(paths, parts),
                 [&] { write_packed(paths, header, parts, statistics); });
  } catch (const InputError&) {
    fs::remove(paths.packed, ignored);
    throw;
  }
}

void publish_packed(const RecordingPaths& paths) {
  try {
    publish_durable(paths.packed, paths.file);
  } catch (const InputError&) {
    std::error_code ignored;
    fs::remove(paths.packed, ignored);
    throw;
  }
  remove_parts(paths);
}

void recover_parts(const RecordingPaths& paths) {
  if (!fs::exists(paths.parts)) return;
  std::optional<LockFile> lock;
  try {
    lock.emplace(lock_recording(paths.file));
  } catch (const InputError&) {
    // What is packed already can be read meanwhile, from a folder that cannot be written too.
    if (fs::exists(paths.file)) return;
    throw;
  }
  recover_locked_parts(paths);
}

void recover_locked_parts(const RecordingPaths& paths) {
  if (!fs::exists(paths.parts) || paths.is_replacement()) return;
  const std::vector<std::string> ids = list_parts(paths);
  if (!ids.empty()) {
    pack(paths, verify_parts(paths, ids), nullptr);
    return publish_packed(paths);
  }
  if (fs::exists(paths.file)) return remove_parts(paths);
  throw_input("{}: its recording ended before the first frame was complete; record it again",
              paths.file.string());
}

}  // namespace signorini
