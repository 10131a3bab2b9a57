#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

/// Errors are exceptions only at the edges of the program; inside a solver the outcome is a status, not an exception.
///
/// - `UsageError`: the user asked for something that does not exist or makes no sense (option, solver, scene, key).
///   The program ends with exit code 2.
/// - `InputError`: a file or a problem that was handed in is damaged, foreign or inconsistent. Exit code 3.
/// - `InternalError`: our own bug. Exit code 1.
///
/// A message is one line, names the file, key and value it is about, and says what to do.
namespace signorini {

class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

template <class... Args>
[[noreturn]] void throw_usage(fmt::format_string<Args...> text, Args&&... args) {
  throw UsageError(fmt::format(text, std::forward<Args>(args)...));
}

template <class... Args>
[[noreturn]] void throw_input(fmt::format_string<Args...> text, Args&&... args) {
  throw InputError(fmt::format(text, std::forward<Args>(args)...));
}

[[noreturn]] void throw_internal(const char* condition, const char* file, int line);

}  // namespace signorini

/// Always on. For our own bugs only; a caller's mistake gets `throw_usage` or `throw_input` with the values in the text.
#define SIGNORINI_CHECK(condition)                                                 \
  do {                                                                             \
    if (!(condition)) ::signorini::throw_internal(#condition, __FILE__, __LINE__); \
  } while (false)

#ifdef NDEBUG
#define SIGNORINI_DCHECK(condition) \
  do {                              \
  } while (false)
#else
#define SIGNORINI_DCHECK(condition) SIGNORINI_CHECK(condition)
#endif
