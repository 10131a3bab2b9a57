#pragma once

#include <filesystem>
#include <string>

#include "base/output_file.h"
#include "contact/contact_problem.h"
#include "record/npz_file.h"

/// One snapshot of a recording, or the problem of another file, as an FCLib file or an npz archive of its own. Of
/// the problem nothing is lost, its starts included: solved again it gives the same bits. Surfaces and the driving
/// solver's impulses, which are for pictures, are left out.
namespace signorini {

struct FclibExportRequest {
  std::string file = {};
  std::string step = {};  ///< "" = the only one
  std::string output = {};
  std::string matrix = "symmetric";  ///< a name of `MatrixReading`, as --matrix gives it
  ExistingOutput existing = ExistingOutput::refuse;
  ProblemFormat format = ProblemFormat::by_name;
};

struct FclibExport {
  std::string step;
  std::string kind;  ///< "fclib_global", "fclib_local" or "npz"
  Index contacts = 0, dofs = 0;
  std::uintmax_t bytes = 0;  ///< of the written file
  std::string note;          ///< contact/matrix_note.h
};

/// Claims the output before the file is opened. Throws `UsageError` when no step is named and the file holds several.
FclibExport export_fclib(const FclibExportRequest& request);

}  // namespace signorini
