#pragma once

#include <utility>

#include "base/check.h"

namespace signorini::python {

/// An `InputError` about a file: an OSError in Python. Those about arrays are ValueErrors.
class FileInputError : public InputError {
 public:
  using InputError::InputError;
};

/// What `work` returns; its `InputError` is about a file.
template <class Work>
auto about_files(Work&& work) {
  try {
    return work();
  } catch (const InputError& error) {
    throw FileInputError(error.what());
  }
}

}  // namespace signorini::python
