#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/run_record.h"

/// runs.csv on disk while runs are made: every append is one write followed by fsync, so a kill loses at most
/// the rows of the run in flight. What a kill tore off mid-line is cut away when the table is opened again.
namespace signorini {

enum class OpenTable { fresh, resume };

class RunTable {
 public:
  /// `fresh` empties an existing table; `resume` keeps its whole rows, and gives those of an earlier version
  /// the columns that they lack (0; NaN for measures). Rows that cannot be read are left out; the table with them is kept
  /// (`damaged_of`). A table named runs.csv gets runs.schema.json beside it: what
  /// its columns are. Throws `InputError` when the file cannot be written or is not a table of this version.
  RunTable(std::filesystem::path path, OpenTable mode);
  ~RunTable();
  RunTable(const RunTable&) = delete;
  RunTable& operator=(const RunTable&) = delete;

  bool contains(const RunRecord& record) const { return keys_.contains(run_key(record)); }
  /// Of the row with the key of `record`, if there is one.
  std::optional<SolveStatus> status_of(const RunRecord& record) const;
  /// Of the rows that could not be read: what is wrong with each.
  const std::vector<std::string>& bad() const { return bad_; }
  /// Rows that were there before.
  std::size_t resumed() const { return resumed_; }
  std::size_t rows() const { return keys_.size(); }
  /// Rows already in the table are left out. On return they are on disk.
  void append(std::span<const RunRecord> records);
  void append(const RunRecord& record) { append(std::span(&record, 1)); }

 private:
  void write_text(const std::string& text);

  std::filesystem::path path_;
  int descriptor_ = -1;
  std::size_t resumed_ = 0;
  std::map<std::string, SolveStatus> keys_;  ///< of the rows
  std::vector<std::string> bad_;
};

/// Where a table with bad rows is kept: runs.damaged.csv.
std::filesystem::path damaged_of(const std::filesystem::path& table);

/// What the columns of a table are: runs.schema.json beside runs.csv, x.schema.json beside x.csv.
std::filesystem::path schema_of(const std::filesystem::path& table);

/// Appends to an open file, to disk. `path` for errors.
void append_to_disk(int descriptor, std::string_view text, const std::filesystem::path& path);

/// Writes a whole small text file so that a kill leaves the old one or the new one (temporary name, fsync,
/// rename).
void write_text_file(const std::filesystem::path& path, const std::string& text);

}  // namespace signorini
