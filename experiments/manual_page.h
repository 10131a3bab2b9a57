#pragma once

#include <string>

#include "option_table.h"

/// The manual page of a command, or of the program itself, in the macros of man(7). It says what --help says.
namespace signorini {

std::string manual_page(const CommandTable& table, const CommandRow& command);

}  // namespace signorini
