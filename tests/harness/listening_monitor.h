#pragma once

#include <fmt/format.h>

#include <functional>
#include <string>
#include <vector>

#include "base/run_monitor.h"

namespace signorini {

/// Keeps how far the work said it was, "done/total detail"; `on_progress` may raise `flag` to end it.
class ListeningMonitor : public RunMonitor {
 public:
  std::vector<std::string> told;
  std::function<void(long long done)> on_progress = [](long long) {};
  CancelFlag flag{false};

  void message(std::string_view) override {}
  void begin_progress(const std::string&, long long total) override { total_ = total; }
  void progress(long long done, std::string_view detail) override {
    told.push_back(fmt::format("{}/{} {}", done, total_, detail));
    on_progress(done);
  }
  void end_progress() override {}
  const CancelFlag* cancelled() const override { return &flag; }

 private:
  long long total_ = 0;
};

}  // namespace signorini
