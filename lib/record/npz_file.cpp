#include "record/npz_file.h"

#include <algorithm>
#include <system_error>

#include "base/check.h"
#include "base/durable_file.h"
#include "base/input_file.h"
#include "record/checked_files.h"
#include "record/guarded.h"
#include "record/raw_npz.h"
#include "record/zip_archive.h"

namespace signorini {

namespace {

std::vector<std::byte> bytes_of(const std::filesystem::path& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) throw_input("{}: {}", path.string(), error.message());
  std::vector<std::byte> bytes(size);
  if (ByteReader(path).read(bytes.data(), size) != size) throw_input("{}: cannot be read", path.string());
  return bytes;
}

ZipArchive open_archive(const std::filesystem::path& path) { return {bytes_of(path), path.string()}; }

}  // namespace

bool is_npz(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  std::array<char, 2> start{};
  return ByteReader(path).read(start.data(), start.size()) == start.size() && start[0] == 'P' &&
         start[1] == 'K';
}

void check_npz_in_child(const std::filesystem::path& path) {
  static CheckedFiles checked;
  checked.check_once(path, [&] {
    const std::string where = path.string();
    const ZipArchive archive = open_archive(path);
    const std::uint64_t bytes = std::max(archive.archive_size(), npz_unpacked_bytes(archive, where));
    run_in_child(where, bytes, [&] { decode_npz(npz_tree(archive, where), where); });
  });
}

FclibFile read_npz(const std::filesystem::path& path, MatrixReading reading) {
  check_npz_in_child(path);
  return read_checked_npz(path, reading);
}

FclibFile read_checked_npz(const std::filesystem::path& path, MatrixReading reading) {
  const std::string where = path.string();
  return decode_npz(npz_tree(open_archive(path), where), where, reading);
}

int checked_npz_contacts(const std::filesystem::path& path) {
  return npz_contacts(open_archive(path), path.string());
}

std::vector<std::byte> npz_image(const FclibFile& file, const std::string& name) {
  check_problem(file.problem, name);
  return npz_bytes(encode_npz(file), name);
}

void write_npz(const std::filesystem::path& path, const FclibFile& file) {
  write_durable(path, npz_image(file, path.string()));
}

ProblemFormat format_of(const std::filesystem::path& path, ProblemFormat asked) {
  if (asked != ProblemFormat::by_name) return asked;
  return path.extension() == ".npz" ? ProblemFormat::npz : ProblemFormat::fclib;
}

void write_problem(const std::filesystem::path& path, const FclibFile& file, ProblemFormat format) {
  format_of(path, format) == ProblemFormat::npz ? write_npz(path, file) : write_fclib(path, file);
}

}  // namespace signorini
