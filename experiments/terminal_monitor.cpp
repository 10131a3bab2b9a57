#include "terminal_monitor.h"

#include "interrupt.h"

namespace signorini {

void TerminalMonitor::message(std::string_view line) {
  if (progress_) progress_->clear();
  say(line);
}

void TerminalMonitor::begin_progress(const std::string& what, long long total) {
  progress_.emplace(what, total);
}

void TerminalMonitor::progress(long long done, std::string_view detail) {
  if (progress_) progress_->update(done, detail);
}

void TerminalMonitor::end_progress() { progress_.reset(); }

const CancelFlag* TerminalMonitor::cancelled() const { return interrupt_flag(); }

}  // namespace signorini
