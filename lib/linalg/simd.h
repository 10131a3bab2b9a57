#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "base/options.h"

/// The instruction set that the kernels run with.
///
/// Chosen once per process: the best the processor has, or what the environment variable SIGNORINI_ISA asks
/// for (portable, fused, avx2), so that the bits of a result can be repeated on another machine. `fused` and `avx2` take
/// the same operations in the same order: they have the same bits, and with them every x86-64 since 2013 and arm64.
/// There is no AVX-512 level: for blocks of nine doubles it was measured no faster than AVX2 in cache or from memory.
namespace signorini {

enum class Isa {
  portable,  ///< plain C++ for processors without a fused multiply-add
  fused,     ///< plain C++ with it: arm64
  avx2       ///< AVX2 and FMA
};
template <>
struct EnumNames<Isa> {
  static constexpr std::array<std::pair<Isa, std::string_view>, 3> value{
      {{Isa::portable, "portable"}, {Isa::fused, "fused"}, {Isa::avx2, "avx2"}}};
};

/// The best level of this processor.
Isa best_isa();
/// The level in use. Throws `UsageError` when SIGNORINI_ISA names an unknown level or one that the processor
/// lacks.
Isa isa();
/// The level that files name for their bits: avx2 of fused ones too.
constexpr Isa same_bits(Isa level) { return level == Isa::fused ? Isa::avx2 : level; }

}  // namespace signorini

/// Kernels with intrinsics are written for GCC and Clang on x86-64; elsewhere the portable ones serve.
#if defined(__x86_64__) && defined(__GNUC__)
#define SIGNORINI_X86 1
#define SIGNORINI_AVX2 __attribute__((target("avx2,fma")))
#define SIGNORINI_AVX2_INLINE __attribute__((target("avx2,fma"), always_inline)) inline
#endif
