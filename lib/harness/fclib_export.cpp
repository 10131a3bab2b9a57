#include "harness/fclib_export.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "base/check.h"
#include "base/usable_memory.h"
#include "contact/local_problem.h"
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

/// Bytes per 3×3 block at the peak of an export: W by entries, its arrays as the file has them, and the bytes of the
/// file. Measured; see docs/fclib.md.
constexpr double kBlockBytes = 450.0;

/// The problem without its bodies.
ContactProblem condensed(ContactProblem problem, const std::string& where) {
  check_local_size(blocks_to_form(problem), usable_memory(), where);
  try {
    return to_local(std::move(problem));
  } catch (const InputError& error) {
    throw_input("{}: {}: W = H^T M^-1 H does not exist; export without --local", where, error.what());
  }
}

}  // namespace

void check_local_size(std::uint64_t blocks, double usable, const std::string& where) {
  constexpr std::uint64_t kMostBlocks = std::numeric_limits<Index>::max() / 9;
  const double bytes = kBlockBytes * static_cast<double>(blocks);
  if (blocks <= kMostBlocks && bytes <= usable) return;
  const std::string reason = bytes > usable ? fmt::format("{:.0f} bytes of memory may be used here", usable)
                                            : std::string("a file holds at most 2^31 - 1 entries");
  throw_usage(
      "{}: W has {} blocks of 3x3 and needs {:.0f} bytes to be formed and written, but {}; export without "
      "--local (M and H are sparse) or a step with fewer contacts",
      where, blocks, bytes, reason);
}

FclibExport export_fclib(const FclibExportRequest& request) {
  const std::vector<LockFile> locks =
      claim_outputs({{request.file}, {{"-o", request.output}}, request.existing});
  const ProblemFormat format = format_of(request.output, request.format);
  const ProblemFile file(request.file, parse_enum<MatrixReading>(request.matrix, "--matrix"));
  FclibExport done;
  done.step = request.step.empty() ? the_only_step(file, request.file) : request.step;
  FclibFile out;
  out.problem = file.read(done.step);
  done.note = matrix_note(out.problem);
  if (request.without_bodies)
    out.problem = condensed(std::move(out.problem), fmt::format("{}: step {}", request.file, done.step));
  out.info.title = file.title();
  out.info.description = fmt::format("step {} of {}{}, exported by signorini", done.step,
                                     std::filesystem::path(request.file).filename().string(),
                                     request.without_bodies ? ", condensed to its contacts" : "");
  out.info.math_info = "normal component first; impulses in N s, velocities in m/s; cone friction";
  out.solution = file.solution();
  write_problem(request.output, out, format);
  const char* fclib_kind = out.problem.has_primal() ? "fclib_global" : "fclib_local";
  done.kind = format == ProblemFormat::npz ? "npz" : fclib_kind;
  done.contacts = out.problem.contacts();
  done.dofs = out.problem.own_dofs();
  done.entries = out.problem.W.nonZeros();
  done.bytes = std::filesystem::file_size(request.output);
  return done;
}

}  // namespace signorini
