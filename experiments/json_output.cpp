#include "json_output.h"

#include "terminal.h"

namespace signorini {

void print_json(const Json& document) {
  print(document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace signorini
