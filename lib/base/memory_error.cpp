#include "base/memory_error.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/heap_bytes.h"
#include "base/usable_memory.h"

namespace signorini {

void check_memory_for(double bytes, const std::string& what) {
  if (bytes <= kAlwaysThere) return;
  const double held = static_cast<double>(std::max(0LL, heap_bytes()));
  if (held + bytes <= usable_memory()) return;
  throw MemoryError(fmt::format("{} takes {:.3g} GB beside {:.3g} GB in use", what, bytes / 1e9, held / 1e9));
}

}  // namespace signorini
