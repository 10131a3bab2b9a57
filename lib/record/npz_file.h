#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/options.h"
#include "record/fclib_file.h"

/// Contact problems as numpy's .npz archives on disk (record/raw_npz.h, docs/npz.md); what holds a problem with its
/// solution has the form of FCLib's files.
namespace signorini {

/// A regular file that begins as zip archives do.
bool is_npz(const std::filesystem::path& path);

/// Unpacks and decodes the file in a child process with limits on memory and time, once as long as it stays the same.
void check_npz_in_child(const std::filesystem::path& path);
/// Checks in a child process first. Throws `InputError`.
FclibFile read_npz(const std::filesystem::path& path, MatrixReading reading = MatrixReading::symmetric);
/// For callers that have just called check_npz_in_child.
FclibFile read_checked_npz(const std::filesystem::path& path,
                           MatrixReading reading = MatrixReading::symmetric);
int checked_npz_contacts(const std::filesystem::path& path);

/// The bytes of an archive; `name` opens error lines.
std::vector<std::byte> npz_image(const FclibFile& file, const std::string& name);
/// Temporary name, fsync, rename.
void write_npz(const std::filesystem::path& path, const FclibFile& file);

/// What a problem with its solution is written as. `by_name`: npz where the name ends so, otherwise FCLib.
enum class ProblemFormat { by_name, fclib, npz };
template <>
struct EnumNames<ProblemFormat> {
  static constexpr std::array<std::pair<ProblemFormat, std::string_view>, 3> value{
      {{ProblemFormat::by_name, "by-name"}, {ProblemFormat::fclib, "fclib"}, {ProblemFormat::npz, "npz"}}};
};
/// `fclib` or `npz`.
ProblemFormat format_of(const std::filesystem::path& path, ProblemFormat asked);
void write_problem(const std::filesystem::path& path, const FclibFile& file,
                   ProblemFormat format = ProblemFormat::by_name);

}  // namespace signorini
