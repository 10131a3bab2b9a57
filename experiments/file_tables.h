#pragma once

#include <string>

#include "harness/file_summary.h"
#include "json_output.h"
#include "terminal.h"

/// What a file holds, for people and as JSON.
namespace signorini {

Json to_json(const FileSummary& file);

/// The file's name and a line for every snapshot.
std::string snapshots_text(const FileSummary& file);
/// A line for every thing that the notes of some snapshots say.
std::string notes_text(const FileSummary& file);

/// What solvers may start from, in one line; "" where the file holds nothing of it.
std::string starts_text(const FileSummary& file);

/// A line for every file, and one for the simulation behind every finished recording.
class FileTables {
 public:
  FileTables();
  void add(const FileSummary& file);
  /// "" without files.
  std::string text() const;

 private:
  TextTable files_, simulations_;
};

}  // namespace signorini
