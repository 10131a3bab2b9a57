#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "base/options.h"

/// Which library factors sparse matrices that are symmetric and positive definite (spd_factor.h).
///
/// Chosen once per process: CHOLMOD where the program was built with it, or what the environment variable
/// SIGNORINI_FACTOR asks for. CHOLMOD is faster on large bodies, but its last bits depend on the BLAS and on how the
/// system's packages were compiled: on arm64 their products and sums are fused. Eigen is compiled with the program, without
/// that: with it, the same problem has the same factor on x86-64 and arm64.
namespace signorini {

enum class FactorLibrary {
  cholmod,  ///< SuiteSparse, on the BLAS of the system
  eigen     ///< SimplicialLLT
};
template <>
struct EnumNames<FactorLibrary> {
  static constexpr std::array<std::pair<FactorLibrary, std::string_view>, 2> value{
      {{FactorLibrary::cholmod, "cholmod"}, {FactorLibrary::eigen, "eigen"}}};
};

/// CHOLMOD, if the program was built with it.
FactorLibrary default_factor_library();
/// The one in use. Throws `UsageError` when SIGNORINI_FACTOR names no library, or CHOLMOD in a program without it.
FactorLibrary factor_library();
/// Name of what last bits depend on, for files: kernels (`same_bits`), and "+eigen" where Eigen factors.
std::string rounding_name();
/// Environment variables with which a program rounds as one of this name did.
std::string rounding_environment(std::string_view name);

}  // namespace signorini
