#include "json_output.h"

#include "base/printable.h"
#include "terminal.h"

namespace signorini {

void print_json(const Json& document) {
  const auto text = [&document](bool only_ascii) {
    return document.dump(2, ' ', only_ascii, Json::error_handler_t::replace) + "\n";
  };
  const std::string readable = text(false);
  // JSON has escapes of its own for what a terminal would obey
  print(printable(readable, LineFeeds::keep) == readable ? readable : text(true));
}

}  // namespace signorini
