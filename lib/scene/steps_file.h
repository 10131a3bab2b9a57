#pragma once

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "record/recording_file.h"

namespace signorini {

/// FILE.steps.csv: statistics and clocks side by side, one line per finished step.
class StepsFile {
 public:
  /// With the rows of both tables as its first lines. Throws `InputError` when it cannot be written, as all do.
  StepsFile(std::filesystem::path path, const StepTable& statistics, const StepTable& clocks);
  ~StepsFile();
  StepsFile(const StepsFile&) = delete;
  StepsFile& operator=(const StepsFile&) = delete;

  void add(const std::vector<double>& statistics, const std::vector<double>& clocks);
  void close();

 private:
  void put(const std::string& text);

  std::filesystem::path path_;
  std::FILE* file_;
};

}  // namespace signorini
