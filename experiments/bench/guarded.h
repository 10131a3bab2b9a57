#pragma once

#include <fmt/format.h>

#include <exception>

namespace signorini::bench {

/// What `run` returns; 2, with a line on standard error, where it throws.
inline int guarded(int (*run)(int, char**), int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}

}  // namespace signorini::bench
