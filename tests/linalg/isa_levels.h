#pragma once

#include <vector>

#include "linalg/simd.h"

namespace signorini::test {

/// The levels that this processor has. `fused` needs no instruction of its own.
inline std::vector<Isa> isa_levels() {
  std::vector<Isa> levels{Isa::portable, Isa::fused};
  if (best_isa() == Isa::avx2) levels.push_back(Isa::avx2);
  return levels;
}

}  // namespace signorini::test
