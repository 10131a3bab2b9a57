#include "solvers/sweep_loop.h"

#include <algorithm>
#include <cmath>

namespace signorini {

namespace {

constexpr int kLongestGap = 50;

/// Norms of r − previous.
Norms step_norms(std::span<const double> r, std::span<const double> previous) {
  Norms norms;
  for (std::size_t i = 0; i < r.size(); ++i) {
    const double change = r[i] - previous[i];
    norms.two += change * change;
    norms.max = std::max(norms.max, std::abs(change));
  }
  norms.two = std::sqrt(norms.two);
  return norms;
}

/// When the exact error is worth its product. The largest correction of a sweep is about the error before it;
/// the error after it is predicted from the last two corrections and the last measured ratio. Each time the
/// prediction was too small, the next measurement waits longer.
class Promise {
 public:
  explicit Promise(double tolerance) : tolerance_(tolerance) {}

  void observe(double estimate) {
    prediction_ = ratio_ * (estimate < last_ ? estimate * (estimate / last_) : estimate);
    last_ = estimate;
  }
  bool due(int iteration) const {
    return iteration % kLongestGap == 0 || (iteration >= next_ && prediction_ <= tolerance_);
  }
  void broken(int iteration, double error) {
    next_ = iteration + gap_;
    if (prediction_ <= tolerance_) gap_ = std::min(2 * gap_, kLongestGap);
    if (prediction_ > 0.0) ratio_ = std::clamp(ratio_ * error / prediction_, 0.25, 4.0);
  }

 private:
  double tolerance_;
  double prediction_ = 0.0;
  double last_ = std::numeric_limits<double>::infinity();
  double ratio_ = 1.0;
  int gap_ = 1;
  int next_ = 1;
};

}  // namespace

double impulse_scale(const GaussSeidelData& data, double velocity_scale) {
  double softest = std::numeric_limits<double>::infinity();
  for (const Matrix3& block : data.diagonal) {
    if (block(0, 0) > 0.0) softest = std::min(softest, block(0, 0));
  }
  return velocity_scale / softest;
}

void show_iteration(IterationObserver& observer, const PhaseSettings& settings, const PhaseReport& report,
                    std::span<const double> r, double plain) {
  IterationProgress progress;
  progress.plain = plain;
  progress.counters = settings.before;
  progress.counters += report.counters;
  const int iteration = settings.first_iteration + report.iterations;
  observer.on_progress(iteration, progress);
  observer.on_iteration(iteration, r, settings.phase);
}

void SweepLoop::prepare(Index contacts) {
  u_.resize(3 * static_cast<std::size_t>(contacts));
  previous_.resize(u_.size());
}

double SweepLoop::measure(const GaussSeidelData& data, std::span<double> r, PhaseReport& report,
                          BestIterate& best) {
  if (!all_finite(r)) {
    report.end = PhaseEnd::diverged;
    return std::numeric_limits<double>::infinity();
  }
  report.error = alart_curnier_error(data, r, u_);
  ++report.products;
  best.offer(r, report.error);
  return report.error;
}

PhaseReport SweepLoop::run(const GaussSeidelData& data, Sweep sweep, std::span<double> r,
                           const PhaseSettings& settings, const StopTest& stop, const PaperRules& rules,
                           IterationObserver* observer, BestIterate& best) {
  if (rules.active() && !stop.fixed())
    return run_paper(data, sweep, r, settings, stop, rules, observer, best);
  PhaseReport report;
  Promise promise(stop.tolerance());
  if (stop.judging()) {
    if (stop.met(measure(data, r, report, best))) {
      report.end = PhaseEnd::converged;
      return report;
    }
  } else if (!best.has()) {
    best.offer(r, std::numeric_limits<double>::infinity());
  }
  while (report.iterations < settings.cap) {
    if (stop.out_of_time()) {
      report.end = PhaseEnd::time;
      break;
    }
    report.estimate = sweep(r);
    report.error = std::numeric_limits<double>::quiet_NaN();
    ++report.iterations;
    ++report.products;
    ++report.counters.contact_sweeps;
    if (observer != nullptr && all_finite(r)) show_iteration(*observer, settings, report, r);
    if (!std::isfinite(report.estimate)) {
      report.end = PhaseEnd::diverged;
      return report;
    }
    // powers of two: a fixed number of sweeps keeps something finite to return, at next to no cost
    if (!stop.judging() && (report.iterations & (report.iterations - 1)) == 0 && all_finite(r)) {
      best.offer(r, report.estimate);
    }
    if (!stop.judging()) continue;
    const bool exhausted = report.estimate <= std::numeric_limits<double>::epsilon() * stop.scale();
    promise.observe(report.estimate);
    if (!exhausted && !promise.due(report.iterations)) continue;
    const double error = measure(data, r, report, best);
    if (report.end == PhaseEnd::diverged) return report;
    if (stop.met(error) || exhausted) {
      report.end = stop.met(error) ? PhaseEnd::converged : PhaseEnd::stuck;
      return report;
    }
    promise.broken(report.iterations, error);
  }
  if (!all_finite(r)) {
    report.end = PhaseEnd::diverged;
  } else if (stop.judging() && std::isnan(report.error)) {
    measure(data, r, report, best);
  }
  return report;
}

PhaseReport SweepLoop::run_paper(const GaussSeidelData& data, Sweep sweep, std::span<double> r,
                                 const PhaseSettings& settings, const StopTest& stop, const PaperRules& rules,
                                 IterationObserver* observer, BestIterate& best) {
  PhaseReport report;
  const std::span<const double> mu(data.mu.data(), static_cast<std::size_t>(data.mu.size()));
  if (stop.met(measure(data, r, report, best))) {
    report.end = PhaseEnd::converged;
    return report;
  }
  while (report.iterations < settings.cap) {
    if (stop.out_of_time()) {
      report.end = PhaseEnd::time;
      break;
    }
    std::copy(r.begin(), r.end(), previous_.begin());
    report.estimate = sweep(r);
    ++report.iterations;
    ++report.products;
    ++report.counters.contact_sweeps;
    if (observer != nullptr && all_finite(r)) show_iteration(*observer, settings, report, r);
    measure(data, r, report, best);
    if (report.end == PhaseEnd::diverged) break;
    if (rules.met(step_norms(r, previous_), projected_residual(data.law, mu, r, u_))) {
      report.end = PhaseEnd::paper_rule;
      break;
    }
  }
  return report;
}

}  // namespace signorini
