#pragma once

#include <span>
#include <vector>

#include "base/clock.h"
#include "solvers/solver.h"

/// What every iteration loop shares: reading a `StopRule`, and keeping the best iterate (Lazarevych 2010
/// section 4).
namespace signorini {

/// max|q| in m/s, or 1 when q vanishes: the same U as the referee's.
double velocity_scale(const Vector& q);

/// One solve's reading of a `StopRule`; starts the clock of the time limit.
class StopTest {
 public:
  /// `own_scale`: max|q| of the prepared problem, used when the rule brings no velocity scale.
  StopTest(const StopRule& rule, double own_scale);

  /// False when only the iteration cap and the time limit act: then nothing needs to be measured.
  bool judging() const { return tolerance_ > 0.0; }
  /// All rules but the iteration cap and the time limit are off.
  bool fixed() const { return rule_.fixed_iterations; }
  /// m/s; 0 when the residual rule is off. A thousandth below what was asked, so that an answer that meets it
  /// here also meets it when u is computed on another path (through M instead of W).
  double tolerance() const { return tolerance_; }
  bool met(double error) const { return judging() && error <= tolerance_; }
  /// As `met`, also in a run of a fixed number of iterations.
  bool accurate(double error) const { return error <= rule_.residual * scale_; }
  double scale() const { return scale_; }
  double relative(double error) const { return error / scale_; }
  int max_iterations() const { return rule_.max_iterations; }
  /// Also when the solve was cancelled.
  bool out_of_time() const {
    return is_cancelled(rule_.cancelled) || (timed_ && watch_.seconds() >= rule_.time_limit);
  }

 private:
  StopRule rule_;
  double scale_;
  double tolerance_;
  bool timed_;
  Stopwatch watch_;
};

/// The iterate with the smallest exact error seen in one solve.
class BestIterate {
 public:
  void resize(std::size_t n) { r_.resize(n); }
  void forget() {
    error_ = std::numeric_limits<double>::infinity();
    has_ = false;
  }
  /// Keeps `r` when it is better than what is kept, or when nothing is kept yet. A NaN error is never better.
  void offer(std::span<const double> r, double error);
  bool has() const { return has_; }
  double error() const { return error_; }
  std::span<const double> r() const { return r_; }
  /// Copies the kept iterate out; zero impulses when nothing was kept.
  void restore(std::span<double> r) const;

 private:
  std::vector<double> r_;
  double error_ = std::numeric_limits<double>::infinity();
  bool has_ = false;
};

bool all_finite(std::span<const double> r);

/// Replaces start values that are not all finite by zero.
void make_finite(std::span<double> r);

}  // namespace signorini
