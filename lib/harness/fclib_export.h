#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/output_file.h"
#include "contact/contact_problem.h"
#include "record/npz_file.h"

/// One snapshot of a recording, or the problem of another file, as an FCLib file or an npz archive of its own. Of
/// the problem nothing is lost, its starts included: solved again it gives the same bits. Surfaces and the driving
/// solver's impulses, which are for pictures, are left out.
///
/// With `without_bodies` the bodies are eliminated (contact/local_problem.h): W, q and mu stand in the file. A solution beside the
/// problem stays, without its v.
namespace signorini {

struct FclibExportRequest {
  std::string file = {};
  std::string step = {};  ///< "" = the only one
  std::string output = {};
  std::string matrix = "symmetric";  ///< a name of `MatrixReading`, as --matrix gives it
  ExistingOutput existing = ExistingOutput::refuse;
  ProblemFormat format = ProblemFormat::by_name;
  bool without_bodies = false;
};

struct FclibExport {
  std::string step;
  std::string kind;              ///< "fclib_global", "fclib_local" or "npz"
  Index contacts = 0, dofs = 0;  ///< of what was written; a local problem has no dofs
  std::int64_t entries = 0;      ///< of W; 0 where none was written
  std::uintmax_t bytes = 0;      ///< of the written file
  std::string note;              ///< contact/matrix_note.h
};

/// Claims the output before the file is opened. Throws `UsageError` when no step is named and the file holds several, and
/// when W does not fit; `InputError` where M has no inverse.
FclibExport export_fclib(const FclibExportRequest& request);

/// Throws `UsageError` "<where>: …" with the bytes when W of so many 3×3 blocks takes more than `usable` bytes to form and
/// write, or has more entries than a 32-bit number counts.
void check_local_size(std::uint64_t blocks, double usable, const std::string& where);

}  // namespace signorini
