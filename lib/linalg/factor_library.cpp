#include "linalg/factor_library.h"

#include "base/check.h"
#include "linalg/simd.h"

namespace signorini {
namespace {

FactorLibrary chosen_library() {
  const FactorLibrary library = enum_from_environment("SIGNORINI_FACTOR", default_factor_library());
  if (library < default_factor_library())
    throw_usage("environment variable SIGNORINI_FACTOR = {}: this program was built without CHOLMOD",
                enum_name(library));
  return library;
}

}  // namespace

FactorLibrary default_factor_library() {
#ifdef SIGNORINI_HAVE_CHOLMOD
  return FactorLibrary::cholmod;
#else
  return FactorLibrary::eigen;
#endif
}

FactorLibrary factor_library() {
  static const FactorLibrary library = chosen_library();
  return library;
}

std::string rounding_name() {
  std::string name(enum_name(same_bits(isa())));
  if (factor_library() == FactorLibrary::eigen) name += "+eigen";
  return name;
}

std::string rounding_environment(std::string_view name) {
  const std::string_view kernels = name.substr(0, name.find('+'));
  return fmt::format("SIGNORINI_ISA={} SIGNORINI_FACTOR={}", kernels,
                     enum_name(kernels == name ? FactorLibrary::cholmod : FactorLibrary::eigen));
}

}  // namespace signorini
