#pragma once

#include <optional>

#include "base/run_monitor.h"
#include "terminal.h"

namespace signorini {

/// Messages and progress on stderr; Ctrl-C and SIGTERM end the work (interrupt.h).
class TerminalMonitor : public RunMonitor {
 public:
  void message(std::string_view line) override;
  void begin_progress(const std::string& what, long long total) override;
  void progress(long long done, std::string_view detail) override;
  void end_progress() override;
  const CancelFlag* cancelled() const override;

 private:
  std::optional<Progress> progress_;
};

}  // namespace signorini
