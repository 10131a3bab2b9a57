#include "base/options.h"

#include <limits>

namespace signorini::detail {

void parse_option(std::string_view text, std::string_view what, int& out) {
  const long long value = parse_integer(text, what);
  if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max()) {
    throw_usage("{}: {} does not fit a 32-bit integer", what, value);
  }
  out = static_cast<int>(value);
}

}  // namespace signorini::detail
