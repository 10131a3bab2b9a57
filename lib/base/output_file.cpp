#include "base/output_file.h"

#include <system_error>

#include "base/check.h"
#include "base/input_file.h"

namespace signorini {

namespace fs = std::filesystem;

namespace {

/// What a path stands for, whether or not it exists: an absolute path without symbolic links and "..".
fs::path place_of(const fs::path& path) {
  std::error_code error;
  const fs::path place = fs::weakly_canonical(fs::absolute(path), error);
  return error ? fs::absolute(path).lexically_normal() : place;
}

bool same_file(const fs::path& a, const fs::path& b) {
  std::error_code error;
  if (fs::equivalent(a, b, error) && !error) return true;
  return place_of(a) == place_of(b);
}

/// Rule 1. True when the file exists.
bool is_regular_or_absent(const std::string& name, const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(path, error);
  if (status.type() == fs::file_type::not_found) return false;
  if (error) throw_input("{}: cannot be looked at: {}", name, error.message());
  if (status.type() == fs::file_type::regular) return true;
  throw_usage("{}: is {}; name a regular file, or one that does not exist yet", name,
              kind_name(status.type()));
}

void check_folder(const fs::path& path) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::error_code error;
  if (!fs::is_directory(folder, error))
    throw_input("{}: there is no folder {}; make it first", path.string(), folder.string());
}

/// A name that a command writes to.
struct Written {
  const PlannedOutput* output;
  fs::path path;
  bool asked = false;  ///< the output itself, not what comes with it

  std::string text() const {
    return asked
               ? fmt::format("{} {}", output->option, path.string())
               : fmt::format("{} (written with {} {})", path.string(), output->option, output->path.string());
  }
};

std::vector<Written> written_names(const OutputPlan& plan) {
  std::vector<Written> names;
  for (const PlannedOutput& output : plan.outputs) {
    names.push_back({&output, output.path, true});
    for (const fs::path& path : output.beside) names.push_back({&output, path});
    names.push_back({&output, lock_of(output.path)});
    names.push_back({&output, output.path.string() + ".tmp"});
  }
  return names;
}

}  // namespace

fs::path lock_of(const fs::path& output) { return output.string() + ".lock"; }

void check_outputs(const OutputPlan& plan) {
  for (const PlannedOutput& output : plan.outputs) {
    if (!output.path.has_filename()) {
      throw_usage("{} '{}': names a folder or nothing; name a file", output.option, output.path.string());
    }
    check_folder(output.path);
  }
  const std::vector<Written> names = written_names(plan);
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (const fs::path& input : plan.inputs) {
      if (same_file(names[i].path, input))
        throw_usage("{}: is an input of this command ({}); choose another name", names[i].text(),
                    input.string());
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (same_file(names[i].path, names[j].path))
        throw_usage("{} and {} are the same file; choose different names", names[j].text(), names[i].text());
    }
  }
  for (const PlannedOutput& output : plan.outputs) {
    if (is_regular_or_absent(fmt::format("{} {}", output.option, output.path.string()), output.path) &&
        plan.existing == ExistingOutput::refuse)
      throw_usage("{}: exists already; --force replaces it", output.path.string());
    for (const fs::path& path : output.beside) {
      if (is_regular_or_absent(path.string(), path) && plan.existing == ExistingOutput::refuse)
        throw_usage("{}: exists already and is written with {} {}; --force replaces it", path.string(),
                    output.option, output.path.string());
    }
  }
}

std::vector<LockFile> claim_outputs(const OutputPlan& plan) {
  OutputPlan names = plan;
  names.existing = ExistingOutput::replace;
  check_outputs(names);
  std::vector<LockFile> locks;
  for (const PlannedOutput& output : plan.outputs)
    locks.emplace_back(lock_of(output.path), output.path.string() + ": is being written");
  check_outputs(plan);  // under the lock: a file of a process that still writes is busy, not in the way
  return locks;
}

void make_output_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error && !fs::is_directory(folder, error) && !error)
    error = std::make_error_code(std::errc::not_a_directory);
  if (error) throw_input("{}: the folder cannot be made ({})", folder.string(), error.message());
}

}  // namespace signorini
