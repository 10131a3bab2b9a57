#pragma once

#include <span>

#include "base/parallel.h"
#include "solvers/relaxation/gauss_seidel.h"

namespace signorini {

/// A map r → y = G(r) (3m, N·s) whose fixed points solve the problem: what accelerated/ takes in the place of sweeps.
class SweepMap {
 public:
  virtual ~SweepMap() = default;
  /// r becomes y; `change` (3m, N·s) receives d = y − r, `along` is p and may be `change`. Null arena: one thread. Allocates
  /// nothing; the bits do not depend on the number of threads.
  virtual SweepStep step(std::span<const double> along, std::span<double> r, std::span<double> change,
                         TaskArena* arena) = 0;
};

/// Of two parts of a step; NaN stays.
SweepStep joined_steps(const SweepStep& a, const SweepStep& b);

/// d, |d|² and d·p of a map that has led from `before` to `after`, in the metric of the sweep's steps; `correction` is left 0.
SweepStep measured_step(const GaussSeidelData& data, std::span<const double> before,
                        std::span<const double> after, std::span<const double> along,
                        std::span<double> change);

}  // namespace signorini
