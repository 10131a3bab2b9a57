#pragma once

#include <limits>
#include <span>
#include <vector>

#include "solvers/accelerated/anderson_history.h"
#include "solvers/accelerated/stall_guard.h"
#include "solvers/relaxation/ordered_sweep.h"

/// The sweeps of `anderson` (anderson.h has the method) on impulses that somebody else owns.
namespace signorini {

class AndersonSweeps {
 public:
  /// `data`, in the order of `plan`, must outlive the use. `window` = 0: plain sweeps.
  void prepare(const GaussSeidelData& data, const SweepPlan& plan, int window);
  /// With `map` in the place of sweeps, on impulses in its order; it must outlive the use.
  void prepare(const GaussSeidelData& data, SweepMap& map, int window);
  /// Forgets the sweeps before. `guarded`: with the safeguards of anderson.h.
  void start(bool guarded = true);
  /// r (3m, N·s) becomes the next y. Null arena: one thread.
  SweepStep step(std::span<double> r, TaskArena* arena = nullptr);

  int sweeps() const { return sweep_.sweeps(); }        ///< of one step
  long long restarts() const { return restarts_; }      ///< since `start`
  long long guards() const { return guard_.spells(); }  ///< since `start`

 private:
  void prepare_history(const GaussSeidelData& data, int window);
  bool may_accelerate();

  OrderedSweep sweep_;
  SweepMap* map_ = nullptr;  ///< in the place of `sweep_`; null: none
  AndersonHistory history_;
  std::vector<double> change_;  ///< 3m: d, N·s
  int window_ = 0;

  // since `start`
  bool guarded_ = true, swept_once_ = false;
  double square_ = 0.0, old_square_ = std::numeric_limits<double>::infinity();  ///< |d|²: last sweep, before
  long long restarts_ = 0;
  StallGuard guard_;
};

}  // namespace signorini
