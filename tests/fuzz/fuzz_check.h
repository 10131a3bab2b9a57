#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/check.h"

/// What fuzz targets ask of a codec: a valid problem, or one line that names the file.
namespace signorini {

inline void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

/// `decode` reads bytes of a file of this name.
template <class Decode>
void decode_or_refuse(Decode&& decode, const std::string& name = "FILE") {
  try {
    decode();
  } catch (const InputError& e) {
    const std::string text = e.what();
    const bool good = text.rfind(name, 0) == 0 && text.find('\n') == std::string::npos;
    require(good, ("an error is one line that names the file: " + text).c_str());
  }
}

}  // namespace signorini
