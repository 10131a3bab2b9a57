#pragma once

#include <functional>
#include <string>

#include "base/cancellation.h"

/// Work over many snapshots as its caller sees it: how far it is, and a way to end it.
namespace signorini {

struct LongWork {
  /// Raised: the work ends with `Cancelled`.
  const CancelFlag* cancelled = nullptr;
  /// Called after each of `total` parts, the first time with `done` = 0 before any; may be empty.
  std::function<void(long long done, long long total, const std::string& detail)> on_progress = {};

  void stop_when_cancelled() const {
    if (is_cancelled(cancelled)) throw Cancelled();
  }
  void progress(long long done, long long total, const std::string& detail) const {
    if (on_progress) on_progress(done, total, detail);
  }
};

}  // namespace signorini
