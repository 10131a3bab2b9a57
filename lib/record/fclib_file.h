#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/options.h"
#include "contact/contact_problem.h"

/// FCLib's HDF5 layout (https://github.com/FrictionalContactLibrary/fclib): `/fclib_local` (W, q, mu) and
/// `/fclib_global` (M, H, f, w, mu), each matrix as triplets, CSC or CSR. Written matrices are triplets in row
/// order (p = columns, i = rows): Siconos reads nothing else in global files.
///
/// A file with spacedim = 2 has two rows per contact, in matrices, vectors, guesses and solutions. It is read as a
/// problem in space (contact/planar_problem.h) and written with two rows again, to the last bit.
///
/// What FCLib has no name for stands in a group `/signorini` under the names of recordings: metadata, v_minus,
/// start_states and start_bounds. Other programs pass over it. The impulses of the start are FCLib's first guess.
///
/// Some programs (LMGC90) store one triangle of M. Nothing in the file says so, and a mass matrix is symmetric: such an M
/// is filled up and `ContactProblem::M_stored` tells; it is written as that triangle again. `as_stored` reads M as it
/// stands. W is always read as it stands.
namespace signorini {

/// What an M with entries on one side of the diagonal only means.
enum class MatrixReading { symmetric, as_stored };
template <>
struct EnumNames<MatrixReading> {
  static constexpr std::array<std::pair<MatrixReading, std::string_view>, 2> value{
      {{MatrixReading::symmetric, "symmetric"}, {MatrixReading::as_stored, "as-stored"}}};
};

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
FclibFile read_fclib(const std::filesystem::path& path, MatrixReading reading = MatrixReading::symmetric);
/// For callers that have just checked the file themselves (check_hdf5_in_child).
FclibFile read_checked_fclib(const std::filesystem::path& path,
                             MatrixReading reading = MatrixReading::symmetric);
/// Contacts of such a file, from the extent of its coefficients of friction.
int checked_fclib_contacts(const std::filesystem::path& path);

/// Primal problems are written as /fclib_global, dual-only ones as /fclib_local. Temporary name, fsync,
/// rename.
void write_fclib(const std::filesystem::path& path, const FclibFile& file);
/// The bytes that `write_fclib` writes; `name` opens error lines.
std::vector<std::byte> fclib_image(const FclibFile& file, const std::string& name);

}  // namespace signorini
