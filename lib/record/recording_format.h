#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "record/h5.h"
#include "record/recording_file.h"

/// What stands where in a recording, shared by writer and reader. One frame's own file ("part") has the same
/// layout with a single frame.
namespace signorini {

/// Raised whenever an older program could misread a newer file. Additions that it may pass over in silence
/// (geometry/rest, impulse, /statistics, kernels) keep the number: they are covered by checksums that it verifies or
/// never looks at, and it takes nothing else for them.
///
///     1    the first
///     2    v_minus, start_states, start_bounds: who passes over them starts solvers elsewhere
inline constexpr std::uint64_t kRecordingSchema = 2;

/// What comes beside FILE.h5 and is put there together with it; an empty one removes what an earlier recording
/// left.
inline constexpr std::array<const char*, 3> kRecordingSidecars{"steps.csv", "failure.txt", "env.json"};

struct RecordingPaths {
  explicit RecordingPaths(const std::filesystem::path& path);
  std::filesystem::path file;        ///< FILE.h5
  std::filesystem::path parts;       ///< FILE.h5.parts
  std::filesystem::path lock;        ///< FILE.h5.lock
  std::filesystem::path packed;      ///< FILE.h5.tmp: a pack under way
  std::filesystem::path checkpoint;  ///< FILE.h5.parts/checkpoint
  /// FILE.h5.parts/replaces: the parts belong to a recording that is to replace FILE.h5 once it is complete.
  /// Until then FILE.h5 is another recording: nothing is packed into it.
  std::filesystem::path replaces;

  bool is_replacement() const;  ///< `replaces` and FILE.h5 are both there
  /// FILE.<name>, "steps.csv" say: what comes beside a finished recording …
  std::filesystem::path beside(const std::string& name) const;
  /// … and where it lies until then.
  std::filesystem::path unfinished(const std::string& name) const { return parts / name; }
  std::filesystem::path part(const std::string& id) const { return parts / (id + ".h5"); }
};

/// "000120" or "000120.2": digits, and optionally a point and the number of the solve within the step.
bool is_frame_id(const std::string& id);
/// By step, then by solve (000120 < 000120.2 < 000120.10 < 000121).
bool frame_before(const std::string& a, const std::string& b);
/// Same step and solve, with or without leading zeros.
bool same_frame(const std::string& a, const std::string& b);

/// The root attributes of a file with `frames` frames, with their checksum.
RawTree header_tree(const RecordingHeader& header, std::size_t frames);
/// Throws `InputError` for foreign files, newer schemas and damaged headers. `frames`: the number the header
/// declares.
RecordingHeader read_header(const h5::ReadFile& file, std::size_t& frames);
/// Throws `InputError` that names the first difference. The kernels may differ.
void check_same_header(const RecordingHeader& found, const RecordingHeader& wanted, const std::string& where);

/// What computed a recording that one set of kernels went on with after others.
std::string kernels_after(const std::string& before, const std::string& own);

/// Ids in ascending order; their number must be the one of the header.
std::vector<std::string> read_frame_ids(const h5::ReadFile& file, std::size_t declared);
/// The frame as a tree with its id and checksum …
RawTree frame_tree(const Frame& frame);
/// … and back, verified.
RawTree read_frame_tree(const h5::ReadFile& file, const std::string& id);
std::string frame_place(const std::string& file, const std::string& id);

/// Of the group /statistics, verified; nothing without the group.
std::optional<RawTree> read_statistics_tree(const h5::ReadFile& file);

}  // namespace signorini
