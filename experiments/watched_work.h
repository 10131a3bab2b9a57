#pragma once

#include <optional>
#include <string>

#include "harness/long_work.h"
#include "interrupt.h"
#include "terminal.h"

namespace signorini {

/// Work of the library with a line of progress at the foot of the terminal; signals end it.
class WatchedWork {
 public:
  explicit WatchedWork(std::string what) : what_(std::move(what)) {}

  /// Valid as long as this object.
  LongWork work() {
    return {interrupt_flag(), [this](long long done, long long total, const std::string& detail) {
              if (!line_) line_.emplace(what_, total);
              if (done > 0) line_->update(done, detail);
            }};
  }
  void clear() {
    if (line_) line_->clear();
  }

 private:
  std::string what_;
  std::optional<Progress> line_;
};

}  // namespace signorini
