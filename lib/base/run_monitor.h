#pragma once

#include <string>
#include <string_view>

#include "base/cancellation.h"

namespace signorini {

/// Whoever started a long piece of work: hears what happens and may end it.
class RunMonitor {
 public:
  virtual ~RunMonitor() = default;
  /// One line for people.
  virtual void message(std::string_view line) = 0;
  /// Work in `total` parts begins; `progress` follows after every part, and an end. Never two at a time.
  virtual void begin_progress(const std::string& what, long long total) = 0;
  virtual void progress(long long done, std::string_view detail) = 0;
  virtual void end_progress() = 0;
  /// Raised to end the work: it throws `Cancelled`, and what was finished before stays. Null: never.
  virtual const CancelFlag* cancelled() const = 0;
  /// Between these two nothing is made that would be worth keeping: whoever listens may end the process there.
  virtual void begin_set_up(const std::string& /*what*/) {}
  virtual void end_set_up() {}

  void stop_when_cancelled() const {
    if (is_cancelled(cancelled())) throw Cancelled();
  }
};

/// Progress that ends with its scope. Without a monitor nobody hears of it.
class MonitoredProgress {
 public:
  MonitoredProgress(RunMonitor* monitor, const std::string& what, long long total) : monitor_(monitor) {
    if (monitor_ != nullptr) monitor_->begin_progress(what, total);
  }
  MonitoredProgress(RunMonitor& monitor, const std::string& what, long long total)
      : MonitoredProgress(&monitor, what, total) {}
  ~MonitoredProgress() {
    if (monitor_ != nullptr) monitor_->end_progress();
  }
  MonitoredProgress(const MonitoredProgress&) = delete;
  MonitoredProgress& operator=(const MonitoredProgress&) = delete;

  void update(long long done, std::string_view detail) {
    if (monitor_ != nullptr) monitor_->progress(done, detail);
  }
  void stop_when_cancelled() const {
    if (monitor_ != nullptr) monitor_->stop_when_cancelled();
  }

 private:
  RunMonitor* monitor_;
};

/// Set-up that ends with its scope. Throws `Cancelled` instead of beginning work that is to end.
class MonitoredSetUp {
 public:
  MonitoredSetUp(RunMonitor& monitor, const std::string& what) : monitor_(monitor) {
    monitor_.stop_when_cancelled();
    monitor_.begin_set_up(what);
  }
  ~MonitoredSetUp() { monitor_.end_set_up(); }
  MonitoredSetUp(const MonitoredSetUp&) = delete;
  MonitoredSetUp& operator=(const MonitoredSetUp&) = delete;

 private:
  RunMonitor& monitor_;
};

}  // namespace signorini
