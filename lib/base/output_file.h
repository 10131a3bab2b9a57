#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/durable_file.h"

/// The policy of outputs: what every command checks before it reads, computes or writes anything.
///
///   1. An output is a regular file, or there is nothing of its name yet. Folders, devices, pipes and
///      symbolic links are refused, for root too.
///   2. No output is an input of the command, or another of its outputs, under any name: neither the same
///      file (device and inode) nor the same path. This holds for the files that come beside an output too
///      (FILE.env.json), and for its lock and its temporary file.
///   3. A file that exists is refused, unless it is to be replaced.
///   4. A lock file (FILE.lock) keeps other processes away until the command ends.
///   5. Content is complete before it gets its name: temporary file in the same folder, fsync, rename
///      (base/durable_file.h). A write that fails leaves the old file as it was.
///
/// Errors: `UsageError` for names that make no sense and for files that exist; `InputError` for a folder that
/// is missing or cannot be written; `BusyError` where another process writes. docs/outputs.md is for users.
namespace signorini {

enum class ExistingOutput { refuse, replace };

struct PlannedOutput {
  std::string option;                              ///< for messages: "--csv", "-o"
  std::filesystem::path path;                      ///< the file asked for
  std::vector<std::filesystem::path> beside = {};  ///< files that are written with it
};

struct OutputPlan {
  std::vector<std::filesystem::path> inputs = {};
  std::vector<PlannedOutput> outputs = {};
  ExistingOutput existing = ExistingOutput::refuse;
};

/// Rules 1 to 3; touches nothing.
void check_outputs(const OutputPlan& plan);

/// Rules 1 to 4: checks the names, takes the lock of every `path`, and checks all.
std::vector<LockFile> claim_outputs(const OutputPlan& plan);

/// FILE.lock
std::filesystem::path lock_of(const std::filesystem::path& output);

/// Makes the folder with its parents. `InputError` that names it and the reason.
void make_output_folder(const std::filesystem::path& folder);

}  // namespace signorini
