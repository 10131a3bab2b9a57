#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "contact/contact_problem.h"
#include "record/fclib_file.h"

/// One view of everything that `solve`, `run`, `info` and `export` accept: recordings, FCLib files and npz archives alike.
namespace signorini {

enum class ProblemFileKind { recording, fclib_local, fclib_global, npz };
/// "a recording", "an FCLib file", "an npz problem"
const char* kind_words(ProblemFileKind kind);

class ProblemFile {
 public:
  /// Throws `InputError` for missing, damaged or foreign files. `reading` matters where M is stored entry by entry.
  explicit ProblemFile(std::filesystem::path path, MatrixReading reading = MatrixReading::symmetric);
  ~ProblemFile();
  ProblemFile(ProblemFile&&) noexcept;

  const std::filesystem::path& path() const;
  ProblemFileKind kind() const;
  /// Frame ids of a recording; the single step "0" of the others.
  const std::vector<std::string>& steps() const;
  /// `step` may be written without leading zeros ("120", "120.2").
  ContactProblem read(const std::string& step) const;
  /// The solution that stands beside a single problem.
  const std::optional<FclibSolution>& solution() const;
  /// Scene name, or the title in the file.
  std::string title() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct SnapshotSize {
  std::string step;
  int contacts = 0;
};
/// The steps of a file as `ProblemFile` has them, from what stands beside their numbers: no problem is decoded. Throws
/// `InputError` for missing and foreign files and for those that the check in a child process refuses.
std::vector<SnapshotSize> snapshot_sizes(const std::filesystem::path& path);

/// By `ProblemFile` in this process so far: reading is most of the time that a run takes besides its solves.
std::uint64_t problems_decoded();

}  // namespace signorini
