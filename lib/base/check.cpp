#include "base/check.h"

#include <cstring>

namespace signorini {

void throw_internal(const char* condition, const char* file, int line) {
  const char* slash = std::strrchr(file, '/');
  throw InternalError(fmt::format("internal error: '{}' does not hold ({}:{}); please report this", condition,
                                  slash != nullptr ? slash + 1 : file, line));
}

}  // namespace signorini
