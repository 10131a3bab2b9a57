#pragma once

#include <cstdint>
#include <string>

#include "record/h5.h"

/// What reading and writing share. No HDF5 type appears here; identifiers are 64-bit integers (checked in
/// h5_library.cpp).
namespace signorini::h5 {

/// Holds the lock, silences the library's own error printing in this thread, and forbids dynamic filter
/// plugins.
class Session {
 public:
  Session();

 private:
  LibraryLock lock_;
};

Handle group_handle(std::int64_t id);
Handle dataset_handle(std::int64_t id);
Handle space_handle(std::int64_t id);
Handle type_handle(std::int64_t id);
Handle list_handle(std::int64_t id);
Handle attribute_handle(std::int64_t id);

/// A description of the library without what means nothing to a user (addresses, descriptors, dates): "file read
/// failed: Input/output error".
std::string plain_reason(std::string text);

/// The innermost description of the library's error stack, for the end of a message.
std::string library_reason();

/// File access: on disk, or all in memory.
Handle access_list(bool in_memory, Format format);

/// "/" + "a" = "/a", "/a" + "b" = "/a/b".
std::string join(const std::string& group, const std::string& name);

}  // namespace signorini::h5
