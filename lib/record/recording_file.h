#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/durable_file.h"
#include "contact/contact_problem.h"

/// Recordings: the snapshots of one scene in one HDF5 file.
///
/// `/steps/000120` (and `/steps/000120.2` for a second solve in the step) holds one problem under FCLib's
/// names in compact form; the root attribute `fields` of every file lists all names, shapes and units. Arrays
/// that repeat from frame to frame are stored once (hard links). Contiguous datasets without filters, so h5py
/// and h5dump read them as they are; a checksum (XXH3) covers every bit of a frame, another one the header.
/// Equal content gives equal bytes.
///
/// While recording, each frame is its own file in `FILE.h5.parts/` (temporary name, every return checked,
/// fsync, rename), and so is the newest checkpoint; `finish` or the next command that finds the parts packs
/// the frames into `FILE.h5`. A recording that did not run to its end has no statistics and keeps its
/// checkpoint.
namespace signorini {

struct RecordingHeader {
  std::string scene;   ///< stem of the scene file
  std::string config;  ///< the whole effective TOML
  std::string git;     ///< revision of the program, "-dirty" where it applies
  std::uint64_t seed = 0;
  /// Kernels and factors (`rounding_name`, linalg/factor_library.h), on which the last bits depend: "avx2". Of a recording that a resume
  /// went on with elsewhere all of them in order, "avx2, portable". Not compared: a resume may go on.
  std::string kernels = {};
};

/// Triangles for pictures; optional.
struct FrameGeometry {
  Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor> vertices;  ///< m
  Eigen::Matrix<Index, Eigen::Dynamic, 3, Eigen::RowMajor> triangles;
  std::vector<Index> triangle_body;  ///< −1 = static obstacle or kinematic body
  /// Vertices with every body undeformed at its start, for displacements; as long as `vertices`, or empty.
  Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor> rest;  ///< m
};

/// Numbers per finished step, columns by name ("contacts", "kinetic_energy", …). Only what equal runs repeat
/// bit by bit: times measured by a clock stay out, so that equal scenes give equal files. NaN = no value.
struct StepTable {
  std::vector<std::string> columns;       ///< [a-z0-9_]+
  std::vector<std::string> units;         ///< one per column, "1" = a count
  std::vector<std::vector<double>> rows;  ///< one value per column each
};

struct RecordingCheckpoint;

struct Frame {
  std::string id;  ///< "000120" or "000120.2"
  ContactProblem problem;
  std::unique_ptr<FrameGeometry> geometry;  ///< null when not recorded
  Vector impulse = {};  ///< 3m, what the driving solver answered, for pictures; may be empty; N·s
};

/// What is there was recorded from another scene, configuration or seed, or by another revision.
class OtherRecording : public InputError {
 public:
  using InputError::InputError;
};

/// What to do with FILE.h5 or frames of an unfinished recording. `resume`: go on with frames of the same
/// header. `replace`: start again; FILE.h5 and what lies beside it stay until the new one is complete.
enum class ExistingRecording { refuse, resume, replace };

/// FILE.h5.lock, held by whoever records into FILE.h5. Throws `BusyError`.
LockFile lock_recording(const std::filesystem::path& path);

class RecordingWriter {
 public:
  /// Takes the lock; a second writer is refused. With `resume` finished parts with the same header are kept
  /// and listed by `frames`, otherwise an existing recording or parts folder is an error.
  RecordingWriter(std::filesystem::path path, RecordingHeader header, bool resume);
  /// The same with a lock that the caller took before it looked at anything.
  RecordingWriter(LockFile lock, std::filesystem::path path, RecordingHeader header,
                  ExistingRecording existing);
  ~RecordingWriter();
  RecordingWriter(const RecordingWriter&) = delete;
  RecordingWriter& operator=(const RecordingWriter&) = delete;

  /// As given, with the kernels that a resume found before its own.
  const RecordingHeader& header() const;
  /// Ids of the frames that are safe on disk, ascending.
  const std::vector<std::string>& frames() const;
  /// On return the frame is on disk. Throws `InputError` (disk full, no permission) and leaves the earlier
  /// frames intact.
  void append(const Frame& frame);
  /// Replaces the checkpoint; on return it is on disk. Throws as `append`.
  void keep(const RecordingCheckpoint& checkpoint);
  /// The checkpoint that a resume found; nothing when there is none. Throws `InputError` for a damaged one,
  /// and for one that counts frames that are not on disk.
  std::optional<RecordingCheckpoint> checkpoint();
  /// Packs the parts and the statistics of all steps (null: none) into FILE.h5.tmp, checks that every frame
  /// of `frames` is in it, hands it to `describe` (which may write more into the folder of parts, see
  /// kRecordingSidecars), renames it to `path` and removes the parts. Without it (a kill) the parts stay for
  /// the next command. Throws `std::runtime_error` when frames are missing: then nothing is replaced.
  using Describe = std::function<void(const std::filesystem::path& packed)>;
  void finish(const StepTable* statistics = nullptr, const Describe& describe = {});

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

class RecordingReader {
 public:
  /// What to do with parts of an ended recording beside the file; `checked`: they are packed and the file is
  /// checked.
  enum class Parts { pack, leave, checked };

  /// Packs left-over parts, checks the file in a child process, refuses newer schemas and foreign files.
  explicit RecordingReader(std::filesystem::path path, Parts parts = Parts::pack);
  ~RecordingReader();
  RecordingReader(RecordingReader&&) noexcept;

  const RecordingHeader& header() const;
  const std::vector<std::string>& frames() const;
  /// Throws `InputError` naming file, frame, dataset and reason.
  Frame read(const std::string& id) const;
  /// Contacts of a frame, without reading its numbers.
  int contacts(const std::string& id) const;
  /// The statistics of all steps. Only a recording that ran to its end has them; nothing otherwise (or when
  /// it is older than they are).
  bool has_statistics() const;
  std::optional<StepTable> statistics() const;

 private:
  /// The name that `id` has in the file; it may be asked for without leading zeros.
  const std::string& frame_named(const std::string& id) const;

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace signorini
