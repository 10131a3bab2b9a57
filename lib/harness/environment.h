#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/cpu_use.h"

/// Where a number comes from: program, machine and inputs. Written as env.json beside every output.
namespace signorini {

/// Facts fixed when the program was built: version, git revision, compiler, flags, libraries.
struct BuildFacts {
  std::string version, git, compiler, flags, build_type, sanitizers;
  std::vector<std::pair<std::string, std::string>> libraries;
};
const BuildFacts& build_facts();
/// For people (several lines) and as JSON.
std::string build_text();
std::string build_json();

struct InputDigest {
  std::string path;    ///< relative to the working directory, or folder and file name: env.json is published
  std::string digest;  ///< XXH3 of the bytes, 16 hexadecimal digits
  std::uintmax_t bytes = 0;
};
InputDigest digest_file(const std::filesystem::path& path);

/// Before a process narrows its affinity: env.json names the threads that it could use until then.
void remember_usable_threads();

/// What times depend on, of the machine that an env.json names: processor, instruction sets, cores, usable threads,
/// caches. Neither its name nor its load. For people; "unknown" where the text says nothing.
std::string machine_kind(std::string_view env_json);
/// What the last bits of numbers depend on, of the machine that an env.json names: kernels (linalg/simd.h) and BLAS.
std::string rounding_kind(std::string_view env_json);
/// Wall-clock seconds of the sessions that an env.json tells of; 0 where it says nothing.
double wall_seconds(std::string_view env_json);
/// Whether the last session that an env.json tells of was a merge (campaign/campaign.h), which can be made again.
bool is_merged(std::string_view env_json);
/// A digest of compiler, flags and libraries that an env.json names.
std::string build_digest(std::string_view env_json);

/// Notes from its construction to `json` how busy the machine was: load averages, and `CpuUse` as "use".
class Provenance {
 public:
  explicit Provenance(std::vector<std::string> command_line);

  void add_input(const std::filesystem::path& path) { inputs_.push_back(digest_file(path)); }
  /// The bytes of `path` under the name that the file is about to get.
  void add_input(const std::filesystem::path& path, const std::filesystem::path& name);
  void set(std::string key, std::string value) { extra_.emplace_back(std::move(key), std::move(value)); }
  /// The env.json of earlier sessions whose rows are kept: they follow as "earlier", oldest first. Text that is not JSON
  /// is passed over.
  void set_earlier(std::string_view json);
  /// The env.json of one more, unless it is among them.
  void add_earlier(std::string_view json);
  /// The env.json of a session whose rows are taken over from elsewhere: it follows as one of "earlier", with those that it
  /// has itself. "machine" is that of the first. Text that is not JSON is passed over.
  void take_over(std::string_view json);
  /// Build, machine, command line, inputs, dates and load; pretty-printed.
  std::string json() const;

 private:
  std::vector<std::string> command_line_;
  std::vector<InputDigest> inputs_;
  std::vector<std::pair<std::string, std::string>> extra_;
  std::string started_, load_at_start_;
  CpuUse at_start_;
  std::vector<std::string> earlier_;  ///< one JSON object each
  std::string machine_;               ///< JSON; empty: this one
};

/// Tells whatever BLAS and OpenMP came in with the sparse factorisation to use one thread: times stay
/// comparable and sums keep their order. Returns what was found, e.g. "openblas".
std::string limit_blas_threads();

}  // namespace signorini
