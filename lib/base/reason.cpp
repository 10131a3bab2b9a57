#include "base/reason.h"

#include <filesystem>
#include <new>
#include <stdexcept>

#include "base/memory_error.h"

namespace signorini {

std::string reason_of(const std::exception& error) {
  if (dynamic_cast<const MemoryError*>(&error) != nullptr)
    return std::string("out of memory: ") + error.what();
  // an array longer than any memory is a length_error
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
      dynamic_cast<const std::length_error*>(&error) != nullptr)
    return "out of memory";
  if (const auto* file = dynamic_cast<const std::filesystem::filesystem_error*>(&error)) {
    const std::string path = file->path1().string();
    return path.empty() ? file->code().message() : path + ": " + file->code().message();
  }
  return error.what();
}

}  // namespace signorini
