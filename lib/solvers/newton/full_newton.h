#pragma once

#include <span>
#include <vector>

#include "solvers/newton/newton_system.h"

/// Full steps of the regularised semi-smooth Newton method (newton_system.h):
///
///     x ← x + d,     d: the direction with α = clamp(factor · max_k |F_k|, 10⁻¹¹, 10⁻²),   a = 0
///
/// α makes the matrix regular where contacts are redundant and vanishes with the error, so that the limit solves the
/// law. A line search on |F|² stops where full steps pass through. Convergence is local.
namespace signorini {

class FullNewton {
 public:
  /// `system` must outlive the use.
  void prepare(NewtonSystem& system);
  void start(std::span<const double> x, double factor);
  /// One step; false where no direction could be found.
  bool step();

  /// The admissible impulses next to x.
  std::span<const double> iterate() const { return near_; }
  double error() const { return error_; }           ///< exact, of `iterate`, m/s; NaN once x is not finite
  long long products() const { return products_; }  ///< with W since `start`
  int guards() const { return guards_; }            ///< singular matrices met

 private:
  void evaluate();

  NewtonSystem* system_ = nullptr;
  std::vector<double> x_, y_, d_, near_, near_y_;
  long long products_ = 0;
  double factor_ = 0.0, size_ = 0.0, error_ = 0.0;
  int guards_ = 0;
};

}  // namespace signorini
