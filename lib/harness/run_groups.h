#pragma once

#include <functional>
#include <string>

#include "harness/result_head.h"
#include "harness/run_group.h"

namespace signorini {

/// A group of runs (harness/run_group.h) of an experiment before it is made.
struct RunCell {
  std::string file, step;
  int contacts = 0;
  std::string solver, options, label;
  double tolerance = 0.0;
};

/// Which groups a run of an experiment makes, and where their rows come from. Without one, a run makes all of them.
class RunGroups {
 public:
  virtual ~RunGroups() = default;
  /// What the rows will depend on and the env.json of this process, before the first is made. Throws `UsageError` to prevent them.
  virtual void begin(const ResultHead& head, const std::string& env) {
    static_cast<void>(head);
    static_cast<void>(env);
  }
  virtual bool wants(const RunCell& cell) = 0;
  /// Rows and curves of a group that was begun elsewhere and not finished: those runs are not made again.
  virtual RunGroup begun(const RunCell& cell) {
    static_cast<void>(cell);
    return {};
  }
  /// Its rows and curves. `make` runs it.
  virtual RunGroup group(const RunCell& cell, const std::function<RunGroup()>& make) {
    static_cast<void>(cell);
    return make();
  }
  /// Rows and curves of the group are on disk.
  virtual void kept(const RunCell& cell, const RunGroup& group) {
    static_cast<void>(cell);
    static_cast<void>(group);
  }
};

}  // namespace signorini
