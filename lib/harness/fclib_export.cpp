#include "harness/fclib_export.h"

#include <fmt/format.h>

#include "base/check.h"
#include "contact/matrix_note.h"
#include "record/npz_file.h"
#include "record/problem_file.h"

namespace signorini {
namespace {

std::string the_only_step(const ProblemFile& file, const std::string& path) {
  if (file.steps().size() != 1) {
    throw_usage("{}: holds {} snapshots; pick one with --step ('signorini info {} --steps' lists them)", path,
                file.steps().size(), path);
  }
  return file.steps().front();
}

}  // namespace

FclibExport export_fclib(const FclibExportRequest& request) {
  const std::vector<LockFile> locks =
      claim_outputs({{request.file}, {{"-o", request.output}}, request.existing});
  const ProblemFormat format = format_of(request.output, request.format);
  const ProblemFile file(request.file, parse_enum<MatrixReading>(request.matrix, "--matrix"));
  FclibExport done;
  done.step = request.step.empty() ? the_only_step(file, request.file) : request.step;
  FclibFile out;
  out.problem = file.read(done.step);
  out.info.title = file.title();
  out.info.description = fmt::format("step {} of {}, exported by signorini", done.step,
                                     std::filesystem::path(request.file).filename().string());
  out.info.math_info = "normal component first; impulses in N s, velocities in m/s; cone friction";
  out.solution = file.solution();
  write_problem(request.output, out, format);
  const char* fclib_kind = out.problem.has_primal() ? "fclib_global" : "fclib_local";
  done.kind = format == ProblemFormat::npz ? "npz" : fclib_kind;
  done.contacts = out.problem.contacts();
  done.dofs = out.problem.own_dofs();
  done.bytes = std::filesystem::file_size(request.output);
  done.note = matrix_note(out.problem);
  return done;
}

}  // namespace signorini
