#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "record/trace_file.h"

namespace signorini {

/// Curves on disk: one part per group of runs while running (FILE.parts), one file at the end.
class TraceStore {
 public:
  /// With `resume` the curves that are there are kept, else removed.
  TraceStore(std::filesystem::path file, bool resume);

  /// All curves of `file` and of its parts, where they are; of a run that was killed too.
  static std::vector<ConvergenceTrace> read(const std::filesystem::path& file);

  /// A curve of the same file, step, solver, options, region mode and tolerance.
  bool contains(const ConvergenceTrace& trace) const;
  /// The curves that are not there yet, as a part of their own. On return they are on disk.
  void append(std::vector<ConvergenceTrace> traces);
  /// Parts become the file.
  void finish();

 private:
  std::filesystem::path file_, parts_;
  std::set<std::string> keys_;
  std::vector<ConvergenceTrace> traces_;
  bool changed_ = false;
};

}  // namespace signorini
