#include "linalg/simd.h"

#include "base/check.h"

namespace signorini {
namespace {

Isa chosen_isa() {
  const Isa level = enum_from_environment("SIGNORINI_ISA", best_isa());
  if (level > best_isa()) {
    throw_usage("environment variable SIGNORINI_ISA = {}: this processor has only {}", enum_name(level),
                enum_name(best_isa()));
  }
  return level;
}

}  // namespace

Isa best_isa() {
#ifdef SIGNORINI_X86
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Isa::avx2;
#elif defined(__aarch64__)
  return Isa::fused;  // every arm64 processor has it
#endif
  return Isa::portable;
}

Isa isa() {
  static const Isa level = chosen_isa();
  return level;
}

}  // namespace signorini
