#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "record/raw_tree.h"

/// The HDF5 library behind trees of arrays: nothing outside h5_*.cpp talks to it.
///
/// Reading accepts what is needed and nothing else: hard links, contiguous datasets of up to two dimensions
/// with plain 32/64-bit integers, reals or text, lying inside the file. Soft and external links, external
/// storage, virtual, compact and chunked layouts, filters and plugins are refused, so that a foreign file can
/// neither read other files of the user nor ask for more memory than it has bytes. All calls are serialised
/// by one lock.
namespace signorini::h5 {

/// Held by every call here. Recursive; not a std::recursive_mutex, because a forked child is another thread
/// to that one and could never take or free what its parent held. A caller that forks holds this lock, and
/// the child inherits it.
class LibraryLock {
 public:
  LibraryLock();
  ~LibraryLock();
  LibraryLock(const LibraryLock&) = delete;
  LibraryLock& operator=(const LibraryLock&) = delete;
};

/// No clean-up by the library when the program ends: it would close a file whose close has failed a second time,
/// which reads freed memory (HDF5 1.10). Files here are closed by their owners. Must come before any other call; a
/// process whose other parts use HDF5 too (Python with h5py) leaves it out.
void skip_cleanup_at_exit();

/// HDF5 1.10 does not survive a failed allocation: it reads and frees memory that it never got, and while it sets itself up it
/// overflows the stack. A program that says so ends with `line` on standard error and with `code` where the library crashes or
/// reports a failed allocation; `line` lives as long as the program. Before the library is used.
void end_where_memory_runs_out(const char* line, int code);

/// An HDF5 identifier, closed by the function that belongs to it.
class Handle {
 public:
  using Close = int (*)(std::int64_t);
  Handle(std::int64_t id, Close close) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept : id_(other.id_), close_(other.close_) { other.id_ = -1; }
  Handle& operator=(Handle&& other) noexcept;
  ~Handle() { reset(); }
  std::int64_t get() const { return id_; }
  bool valid() const { return id_ >= 0; }
  /// Closes now; false when the library reports an error (a failed flush).
  bool reset();

 private:
  std::int64_t id_;
  Close close_;
};

/// A file opened for reading. Messages start with `where` (by default the path).
class ReadFile {
 public:
  /// Throws `InputError` when it is missing, not a regular file, not HDF5 or not readable.
  explicit ReadFile(const std::filesystem::path& path);
  /// A file image in memory (kept by the caller for the life of this object).
  ReadFile(std::vector<std::byte>& image, std::string name);

  const std::string& name() const { return name_; }
  bool has_root_attribute(const std::string& attribute) const;
  /// Names of the links of a group, sorted; `group` is absolute. Refuses links that are not hard links.
  std::vector<std::string> children(const std::string& group) const;
  bool has(const std::string& path) const;
  /// Everything at and below an absolute group path. `where` goes into messages ("FILE: frame 000120").
  RawTree read(const std::string& group, const std::string& where) const;
  RawTree read_attributes(const std::string& group, const std::string& where) const;
  /// `headers`: shapes without numbers.
  enum class Depth { headers, payload };
  /// Adds what is below `group` to `tree` with the prefix `prefix`; attributes are left out.
  void read_arrays(const std::string& group, const std::string& prefix, RawTree& tree,
                   const std::string& where, Depth depth = Depth::payload) const;

  /// Visits every object of the file as `read` would, and all attributes of our own groups (everything in a
  /// recording, "/signorini" elsewhere). With `payload` the numbers are read as well.
  void visit_everything(Depth depth) const;

 private:
  struct Visit;
  void walk(std::int64_t group, const std::string& path, int depth, const Visit& visit) const;
  RawArray read_array(std::int64_t dataset, const std::string& where, const std::string& path,
                      Depth depth) const;

  std::string name_;
  std::uint64_t bytes_ = 0;
  Handle file_;
};

/// How old a library must be able to read the file: FCLib files are for any reader; recordings use the
/// checksummed headers of HDF5 1.8. Either way equal calls give equal bytes (no times, no addresses of this
/// run).
enum class Format { earliest, v18 };

/// A file being written: into memory (`image`) or to a path. Throws `InputError` when the library reports an
/// error.
class WriteFile {
 public:
  explicit WriteFile(Format format);                            ///< in memory
  WriteFile(const std::filesystem::path& path, Format format);  ///< on disk, must not exist
  ~WriteFile();

  /// Writes the tree at the absolute group path; groups are made as needed.
  void put(const std::string& group, const RawTree& tree);
  /// As `put`, but an array that was written before (same type, shape and bytes) becomes a hard link to it.
  void put_shared(const std::string& group, const RawTree& tree);
  /// Closes and returns the bytes of an in-memory file.
  std::vector<std::byte> image();
  /// Flushes and closes a file on disk.
  void close();

 private:
  void put_array(std::int64_t group, const std::string& path, const RawArray& array);
  [[noreturn]] void fail(const std::string& what) const;

  struct Memory;
  std::string name_;
  std::unique_ptr<Memory> memory_;  ///< outlives the file
  Handle file_;
  std::map<std::uint64_t, std::string> shared_;  ///< digest → absolute path of the first occurrence
};

}  // namespace signorini::h5
