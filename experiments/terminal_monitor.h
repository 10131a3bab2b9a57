#pragma once

#include <optional>

#include "base/run_monitor.h"
#include "interrupt.h"
#include "terminal.h"

namespace signorini {

/// Messages and progress on stderr; Ctrl-C and SIGTERM end the work (interrupt.h).
class TerminalMonitor : public RunMonitor {
 public:
  void message(std::string_view line) override;
  void begin_progress(const std::string& what, long long total) override;
  void progress(long long done, std::string_view detail) override;
  void end_progress() override;
  void begin_set_up(const std::string& what) override;
  void end_set_up() override;
  const CancelFlag* cancelled() const override;

 private:
  std::optional<Progress> progress_;
  std::optional<NothingToKeep> set_up_;
};

/// What a monitor heard of before an error ended it, e.g. "recording bucket"; empty where there was none.
const std::string& last_activity();

}  // namespace signorini
