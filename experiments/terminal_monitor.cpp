#include "terminal_monitor.h"

#include <exception>

namespace signorini {
namespace {

std::string activity;

/// Not while an exception passes: then it is what failed.
void end_activity() {
  if (std::uncaught_exceptions() == 0) activity.clear();
}

}  // namespace

const std::string& last_activity() { return activity; }

void TerminalMonitor::message(std::string_view line) {
  if (progress_) progress_->clear();
  say(line);
}

void TerminalMonitor::begin_progress(const std::string& what, long long total) {
  activity = what;
  progress_.emplace(what, total);
}

void TerminalMonitor::progress(long long done, std::string_view detail) {
  if (progress_) progress_->update(done, detail);
}

void TerminalMonitor::end_progress() {
  end_activity();
  progress_.reset();
}

void TerminalMonitor::begin_set_up(const std::string& what) {
  set_up_.emplace();
  activity = what;
}

void TerminalMonitor::end_set_up() {
  end_activity();
  set_up_.reset();
}

const CancelFlag* TerminalMonitor::cancelled() const { return interrupt_flag(); }

}  // namespace signorini
