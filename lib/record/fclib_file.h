#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "contact/contact_problem.h"

/// FCLib's HDF5 layout (https://github.com/FrictionalContactLibrary/fclib): `/fclib_local` (W, q, mu) and
/// `/fclib_global` (M, H, f, w, mu), each matrix as triplets, CSC or CSR. 3D only: spacedim 2 is refused with
/// a clear message. Written matrices are triplets in row order (p = columns, i = rows): Siconos reads nothing
/// else in global files.
namespace signorini {

struct FclibSolution {
  Vector r;  ///< 3m, N·s
  Vector u;  ///< 3m, m/s
  Vector v;  ///< n, m/s; empty for local problems
};

struct FclibFile {
  ContactProblem problem;  ///< /guesses/1/r becomes problem.warm_start
  ProblemInfo info;
  std::optional<FclibSolution> solution;
};

/// Checks in a child process first. Throws `InputError`.
FclibFile read_fclib(const std::filesystem::path& path);
/// For callers that have just checked the file themselves (check_hdf5_in_child).
FclibFile read_checked_fclib(const std::filesystem::path& path);

/// Primal problems are written as /fclib_global, dual-only ones as /fclib_local. Temporary name, fsync,
/// rename.
void write_fclib(const std::filesystem::path& path, const FclibFile& file);

}  // namespace signorini
