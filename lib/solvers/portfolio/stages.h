#pragma once

#include <limits>
#include <span>
#include <string_view>

#include "base/clock.h"
#include "solvers/solver.h"

/// Stages of one solve, each by another solver, as one: iterations are numbered on, the first start alone is shown, and limits
/// and counters are those of all together.
namespace signorini {

class Stages : public IterationObserver {
 public:
  /// `stop` must outlive the use. `outer` sees the iterations; null: nobody.
  Stages(const StopRule& stop, IterationObserver* outer, std::string_view used) : stop_(stop), outer_(outer) {
    whole.message = used;
  }
  SolveReport whole;

  IterationObserver* shown() { return outer_ != nullptr ? this : nullptr; }
  /// Of the next stage.
  StopRule left(int most = std::numeric_limits<int>::max()) const;
  bool arrived() const { return whole.status == SolveStatus::converged; }
  bool used_up() const {
    return whole.iterations >= stop_.max_iterations || whole.status == SolveStatus::time_limit;
  }
  /// A stage has ended: status and residual are its own, everything else is summed.
  void add(const SolveReport& stage);

  void on_iteration(int iteration, std::span<const double> r, std::string_view phase) override;
  void on_progress(int iteration, const IterationProgress& progress) override;

 private:
  /// What an iteration of the present stage is called.
  virtual std::string_view phase_of(std::string_view own) const = 0;

  const Stopwatch watch_;
  const StopRule& stop_;
  IterationObserver* outer_;
  int offset_ = 0;
  bool first_ = true;
};

}  // namespace signorini
