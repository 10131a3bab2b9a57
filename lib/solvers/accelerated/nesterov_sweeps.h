#pragma once

#include <span>
#include <vector>

#include "solvers/accelerated/stall_guard.h"
#include "solvers/relaxation/sweep_map.h"

/// Nesterov's acceleration of a map r → G(r) that is a gradient step with a projection:
///
///     y = r + β p,   r⁺ = G(y),   p⁺ = r⁺ − r,   β = (t − 1)/t⁺,   t⁺ = (1 + √(1 + 4 t²))/2,   t = 1 at first
///
/// Restart (t = 1, p = 0) where (y − r⁺)·(r⁺ − r) > 0 in the metric of the map: the gradient scheme of O'Donoghue and
/// Candès 2015. Plain steps follow where no progress is seen (stall_guard.h).
namespace signorini {

class NesterovSweeps {
 public:
  /// Both must outlive the use.
  void prepare(const GaussSeidelData& data, SweepMap& map);
  /// Forgets the steps before.
  void start();
  /// r (3m, N·s) becomes r⁺. Null arena: one thread.
  SweepStep step(std::span<double> r, TaskArena* arena = nullptr);

  long long restarts() const { return restarts_; }      ///< since `start`
  long long guards() const { return guard_.spells(); }  ///< since `start`

 private:
  void restart();

  SweepMap* map_ = nullptr;
  std::vector<double> change_;     ///< 3m: G(y) − y, N·s
  std::vector<double> direction_;  ///< 3m: p, then β p; N·s
  double t_ = 1.0;
  bool directed_ = false;  ///< p is not zero
  long long restarts_ = 0;
  StallGuard guard_;
};

}  // namespace signorini
