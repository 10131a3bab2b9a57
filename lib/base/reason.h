#pragma once

#include <exception>
#include <string>

namespace signorini {

/// What an exception says, in our words where those of the standard library say nothing to a user: "out of memory",
/// "bucket.h5: No space left on device".
std::string reason_of(const std::exception& error);

}  // namespace signorini
