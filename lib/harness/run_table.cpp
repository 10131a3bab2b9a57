#include "harness/run_table.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/durable_file.h"
#include "base/input_file.h"

namespace signorini {
namespace {

[[noreturn]] void throw_errno(const std::filesystem::path& path, const char* what) {
  throw_input("{}: {}: {}", path.string(), what, std::strerror(errno));
}

}  // namespace

void append_to_disk(int descriptor, std::string_view text, const std::filesystem::path& path) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = ::write(descriptor, text.data() + done, text.size() - done);
    if (n < 0) {
      if (errno == EINTR) continue;
      throw_errno(path, "cannot write");
    }
    done += n;
  }
  if (::fsync(descriptor) != 0) throw_errno(path, "cannot write to disk");
}

RunTable::RunTable(std::filesystem::path path, OpenTable mode) : path_(std::move(path)) {
  std::error_code error;
  std::size_t keep = 0;
  if (mode == OpenTable::resume && std::filesystem::exists(path_, error)) {
    RunTableContent content = read_run_table_content(path_);
    keep = content.whole_bytes;
    if (!content.bad.empty()) write_text_file(damaged_of(path_), read_input_file(path_, "table"));
    if (content.old_columns || !content.bad.empty()) {
      std::string text = run_record_header() + "\n";
      for (const RunRecord& record : content.records) text += run_record_row(record) + "\n";
      write_text_file(path_, text);
      keep = text.size();
    }
    for (const RunRecord& record : content.records) keys_.emplace(run_key(record), record.status);
    bad_ = std::move(content.bad);
  }
  resumed_ = keys_.size();
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor_ < 0) throw_errno(path_, "cannot open for writing");
  if (::ftruncate(descriptor_, static_cast<off_t>(keep)) != 0 || ::lseek(descriptor_, 0, SEEK_END) < 0) {
    throw_errno(path_, "cannot open for writing");
  }
  if (keep == 0) write_text(run_record_header() + "\n");
  if (path_.filename() == "runs.csv") write_text_file(schema_of(path_), run_schema_json());
}

RunTable::~RunTable() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void RunTable::write_text(const std::string& text) { append_to_disk(descriptor_, text, path_); }

std::optional<SolveStatus> RunTable::status_of(const RunRecord& record) const {
  const auto found = keys_.find(run_key(record));
  if (found == keys_.end()) return {};
  return found->second;
}

void RunTable::append(std::span<const RunRecord> records) {
  std::string text;
  for (const RunRecord& record : records) {
    if (keys_.emplace(run_key(record), record.status).second) text += run_record_row(record) + "\n";
  }
  if (!text.empty()) write_text(text);
}

std::filesystem::path damaged_of(const std::filesystem::path& table) {
  return std::filesystem::path(table).replace_extension(".damaged.csv");
}

std::filesystem::path schema_of(const std::filesystem::path& table) {
  return std::filesystem::path(table).replace_extension(".schema.json");
}

void write_text_file(const std::filesystem::path& path, const std::string& text) {
  write_durable(path, std::as_bytes(std::span(text)));
}

}  // namespace signorini
