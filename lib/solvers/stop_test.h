#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "base/clock.h"
#include "solvers/solver.h"

/// Parts of the iteration loop (iterative_solver.h): reading a `StopRule`, keeping the best iterate
/// (Lazarevych 2010 section 4), and deciding when to measure the exact error.
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
  bool takes_last() const { return rule_.take_last || rule_.fixed_iterations; }
  /// m/s: what was asked, also in a run of a fixed number of iterations.
  double asked() const { return rule_.residual * scale_; }
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
  /// Copies the kept iterate out; zero impulses when nothing was kept.
  void restore(std::span<double> r) const;

 private:
  std::vector<double> r_;
  double error_ = std::numeric_limits<double>::infinity();
  bool has_ = false;
};

/// When to measure the exact error, which costs a product with W or a solve with M: where the estimate, times
/// the last measured ratio of exact error to estimate, meets the tolerance, and every 50 iterations. After
/// each measurement above the tolerance the next one waits longer.
class MeasureSchedule {
 public:
  /// Which iterate an estimate belongs to. `present`: the new one (an error of the velocity at hand). `last`:
  /// the one before (the correction that an iteration made); the new error is then extrapolated from two
  /// corrections.
  enum class Tells { present, last };

  MeasureSchedule(double tolerance, Tells tells) : tolerance_(tolerance), tells_(tells) {}
  /// Takes the estimate of one more iteration; whether to measure after it.
  bool due(double estimate) {
    ++count_;
    const bool falls = tells_ == Tells::last && estimate < last_;
    promise_ = falls ? estimate * (estimate / last_) : estimate;
    last_ = estimate;
    return count_ % kLongestGap == 0 || (count_ >= next_ && promising());
  }
  /// The measured error was too large.
  void missed(double error) {
    next_ = count_ + gap_;
    if (promising()) gap_ = std::min(2 * gap_, kLongestGap);
    const double least = tells_ == Tells::last ? 0.25 : 0.5, most = tells_ == Tells::last ? 4.0 : 1e6;
    if (promise_ > 0.0) ratio_ = std::clamp(error / promise_, least, most);
  }

 private:
  static constexpr int kLongestGap = 50;
  bool promising() const { return ratio_ * promise_ <= tolerance_; }

  double tolerance_;
  Tells tells_;
  double promise_ = 0.0;
  double last_ = std::numeric_limits<double>::infinity();
  double ratio_ = 1.0;
  int count_ = 0;
  int gap_ = 1;
  int next_ = 1;
};

bool all_finite(std::span<const double> r);

/// Replaces start values that are not all finite by zero.
void make_finite(std::span<double> r);

}  // namespace signorini
