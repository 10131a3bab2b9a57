#include "scene/steps_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace signorini {
namespace {

/// Numbers of a line, in the shortest form that reads back to the same bits; NaN, no value, is an empty cell.
std::string cells(const std::vector<double>& row) {
  std::string text;
  for (std::size_t c = 0; c < row.size(); ++c) {
    if (c > 0) text += ',';
    if (!std::isnan(row[c])) text += fmt::format("{}", row[c]);
  }
  return text;
}

}  // namespace

StepsFile::StepsFile(std::filesystem::path path, const StepTable& statistics, const StepTable& clocks)
    : path_(std::move(path)), file_(std::fopen(path_.c_str(), "w")) {
  if (file_ == nullptr) throw_input("{}: cannot open for writing: {}", path_.string(), std::strerror(errno));
  put(fmt::format("{},{}\n", fmt::join(statistics.columns, ","), fmt::join(clocks.columns, ",")));
  for (std::size_t i = 0; i < statistics.rows.size(); ++i) add(statistics.rows[i], clocks.rows[i]);
}

StepsFile::~StepsFile() {
  if (file_ != nullptr) std::fclose(file_);
}

void StepsFile::add(const std::vector<double>& statistics, const std::vector<double>& clocks) {
  put(fmt::format("{},{}\n", cells(statistics), cells(clocks)));
}

void StepsFile::close() {
  std::FILE* file = file_;
  file_ = nullptr;
  if (std::fclose(file) != 0) throw_input("{}: cannot write: {}", path_.string(), std::strerror(errno));
}

void StepsFile::put(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size())
    throw_input("{}: cannot write: {}", path_.string(), std::strerror(errno));
}

}  // namespace signorini
