#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "base/options.h"

/// The instruction set that the kernels run with.
///
/// Chosen once per process: the best the processor has, or what the environment variable SIGNORINI_ISA asks
/// for (portable, avx2), so that the bits of a result can be repeated on another machine. There is no AVX-512
/// level: for blocks of nine doubles it was measured no faster than AVX2 in cache or from memory, and so
/// every processor since 2013 gives the same bits.
namespace signorini {

enum class Isa {
  portable,  ///< plain C++, no fused multiply-add
  avx2       ///< AVX2 and FMA
};
template <>
struct EnumNames<Isa> {
  static constexpr std::array<std::pair<Isa, std::string_view>, 2> value{
      {{Isa::portable, "portable"}, {Isa::avx2, "avx2"}}};
};

/// The best level of this processor.
Isa best_isa();
/// The level in use. Throws `UsageError` when SIGNORINI_ISA names an unknown level or one that the processor
/// lacks.
Isa isa();

}  // namespace signorini

/// Kernels with intrinsics are written for GCC and Clang on x86-64; elsewhere the portable ones serve.
#if defined(__x86_64__) && defined(__GNUC__)
#define SIGNORINI_X86 1
#define SIGNORINI_AVX2 __attribute__((target("avx2,fma")))
#define SIGNORINI_AVX2_INLINE __attribute__((target("avx2,fma"), always_inline)) inline
#endif
