#include "solvers/ica_cr.h"

#include <algorithm>
#include <cmath>

#include "solvers/conjugate_directions.h"
#include "solvers/node_sweep.h"
#include "solvers/phase.h"
#include "solvers/saddle_system.h"

namespace signorini {

namespace {

/// Growth of the error over the smallest at which a cycle is undone.
constexpr double kUndone = 10.0;
/// Cycles without an error 1 % below the smallest after which they get longer.
constexpr int kPatience = 3;
/// Doublings after which there is no hope.
constexpr int kDoublings = 12;
/// Sweeps over the contacts where M is its block diagonal.
constexpr int kUncoupledSweeps = 100;

/// One iterate: velocities and impulses with the error that the solver itself sees in them.
struct Kept {
  std::vector<double> v, r;
  double error = 0.0;  ///< m/s
};

}  // namespace

struct IcaCr::Impl {
  SaddleSystem saddle;
  NodeSweep sweep;
  std::unique_ptr<ConjugateDirections> directions;
  BestIterate best;
  std::vector<double> start;  ///< n: velocities that solves start from
  bool belong = false;        ///< they are those of the last answer
  // of the sweeps
  std::vector<double> dv, response, upper, impulse, z;  ///< n: v − v_free; M dv; U dv; H r; scratch
  std::vector<double> q_loc;                            ///< 3m
  Kept kept;

  void resize() {
    const std::size_t n = saddle.system.size(), rows = saddle.u.size();
    for (auto* x : {&dv, &response, &upper, &impulse, &z}) x->assign(n, 0.0);
    q_loc.assign(rows, 0.0);
    kept.v.assign(n, 0.0);
    kept.r.assign(rows, 0.0);
    best.resize(rows);
  }
};

namespace {

/// The iterations of one solve, from the start values that the saddle system holds.
template <class Work>
class Cycles {
 public:
  Cycles(const IcaCr::Options& options, const StopTest& stop, Work& work, IterationObserver* observer)
      : options_(options),
        stop_(stop),
        w_(work),
        s_(work.saddle),
        observer_(observer),
        schedule_(stop.tolerance()) {}

  void run() {
    error_ = s_.system.error(s_.r, s_.u, s_.arena) + s_.momentum_error;
    if (judging() && stop_.met(measure(error_))) return end(PhaseEnd::converged);
    keep();
    if (!w_.best.has()) w_.best.offer(s_.r, std::numeric_limits<double>::infinity());
    while (anticipate() && judge_cycle() && follow()) {
    }
    report_.products = s_.counters.mass_products;
    report_.counters = s_.counters;
    if (finite_ && judging() && std::isnan(report_.error)) measure(report_.estimate);
  }
  const PhaseReport& report() const { return report_; }
  bool finite() const { return finite_; }

 private:
  bool judging() const { return stop_.judging(); }
  void end(PhaseEnd why) { report_.end = why; }
  bool ended(PhaseEnd why) {
    end(why);
    return false;
  }

  double measure(double estimate) {
    report_.error = s_.system.exact() ? s_.system.exact_error(s_.r, s_.arena) : estimate;
    if (std::isfinite(report_.error)) w_.best.offer(s_.r, report_.error);
    return report_.error;
  }

  /// Step 1. False at the end of the solve.
  bool anticipate() {
    if (moved_) begin_sweeps();
    moved_ = false;
    for (int i = 0; i < sweeps_; ++i) {
      if (report_.iterations >= stop_.max_iterations()) return false;
      if (stop_.out_of_time()) return ended(PhaseEnd::time);
      sweep();
      ++report_.iterations;
      error_ = s_.system.error(s_.r, s_.u, s_.arena) + s_.momentum_error;
      if (!look()) return false;
    }
    return true;
  }

  /// Whatever the sweeps need of v and λ, which something else has moved.
  void begin_sweeps() {
    s_.states.impulses(s_.system, s_.r);
    for (std::size_t i = 0; i < w_.dv.size(); ++i)
      w_.dv[i] = s_.v[i] - s_.system.v_free[static_cast<Eigen::Index>(i)];
    s_.system.impulse(s_.total_impulses(), w_.impulse, s_.arena);
    for (std::size_t i = 0; i < w_.dv.size(); ++i) w_.response[i] = w_.impulse[i] - s_.momentum[i];
    w_.sweep.multiply_upper(w_.dv, w_.upper, s_.arena);
    ++s_.counters.direction_products;
  }

  /// One iteration of constraint anticipation; leaves v, u, ρ and r.
  void sweep() {
    const double floor = std::max(0.1 * stop_.tolerance(), 1e-15 * stop_.scale());
    std::copy(w_.response.begin(), w_.response.end(), w_.z.begin());
    s_.system.apply_inverse_diagonal(w_.z);
    contact_velocities(s_.system.H, w_.z, w_.q_loc, s_.arena);
    for (std::size_t i = 0; i < w_.q_loc.size(); ++i) w_.q_loc[i] = s_.u[i] - w_.q_loc[i];
    // where M is D the inner problem is the whole one: it is solved at once
    const bool coupled = w_.sweep.coupled();
    NodeSweep::InnerRule rule;
    rule.enough = coupled ? std::max(floor, options_.inner_reduction * error_) : floor;
    rule.limit = coupled ? options_.inner_max : std::max(options_.inner_max, kUncoupledSweeps);
    const NodeSweep::Inner done =
        w_.sweep.local(s_.system, 1.0, w_.q_loc, options_.repetitions, rule, s_.r, s_.arena);
    s_.counters.contact_sweeps += done.sweeps;
    s_.system.impulse(s_.r, w_.impulse, s_.arena);
    // M dv − H r = U dv_new − U dv_old
    std::swap(w_.z, w_.upper);
    w_.sweep.forward(s_.system, w_.impulse, w_.z, w_.dv, w_.upper, s_.arena);
    s_.each_chunk([&](std::size_t, std::size_t begin, std::size_t last) {
      for (std::size_t i = begin; i < last; ++i) {
        const double defect = w_.upper[i] - w_.z[i];
        w_.response[i] = w_.impulse[i] + defect;
        s_.momentum[i] = -defect;
        s_.v[i] = s_.system.v_free[static_cast<Eigen::Index>(i)] + w_.dv[i];
      }
    });
    s_.system.relative_velocity(s_.v, s_.u, s_.arena);
    s_.measure_residual();
    ++s_.counters.mass_products;
    s_.counters.direction_products += 3;
  }

  /// Tells the observer and the judge of `s_.r` with its error `error_`.
  bool look() {
    const int k = report_.iterations;
    report_.estimate = error_;
    report_.error = std::numeric_limits<double>::quiet_NaN();
    finite_ = std::isfinite(error_) && all_finite(s_.r);
    if (!finite_) {
      --report_.iterations;
      return ended(PhaseEnd::diverged);
    }
    if (observer_ != nullptr) {
      observer_->on_progress(k, {std::max(error_, s_.momentum_error), w_.directions->preconditioned_norm(s_),
                                 s_.constraint_norm(), s_.counters});
      observer_->on_iteration(k, s_.r, "");
    }
    if (!judging()) {
      if ((k & (k - 1)) == 0) w_.best.offer(s_.r, error_);
      return true;
    }
    if (!schedule_.due(k, error_)) return true;
    const double error = measure(error_);
    if (stop_.met(error)) return ended(PhaseEnd::converged);
    schedule_.broken(k, error_, error);
    return true;
  }

  void keep() {
    w_.kept.error = error_;
    std::copy(s_.v.begin(), s_.v.end(), w_.kept.v.begin());
    std::copy(s_.r.begin(), s_.r.end(), w_.kept.r.begin());
  }

  /// Keeps what the cycle brought, or undoes it; makes cycles longer or shorter. False where nothing helps.
  bool judge_cycle() {
    fast_ = error_ <= options_.reduction * w_.kept.error;
    if (error_ < 0.99 * w_.kept.error) {
      keep();
      idle_ = 0;
      sweeps_ = std::max(options_.sweeps, sweeps_ / 2);
      length_ = std::max(options_.length, length_ / 2);
      doublings_ = std::max(0, doublings_ - 1);
      return true;
    }
    const bool lost = error_ > kUndone * w_.kept.error;
    if (!lost && ++idle_ < kPatience) return true;
    idle_ = 0;
    if (++doublings_ > kDoublings) return ended(PhaseEnd::stuck);
    sweeps_ *= 2;
    length_ *= 2;
    if (!lost) return true;
    ++s_.counters.guards;
    std::copy(w_.kept.v.begin(), w_.kept.v.end(), s_.v.begin());
    std::copy(w_.kept.r.begin(), w_.kept.r.end(), s_.r.begin());
    s_.system.relative_velocity(s_.v, s_.u, s_.arena);
    s_.adopt(s_.r);
    s_.refresh();
    moved_ = true;
    return true;
  }

  /// Steps 2 and 3. False at the end of the solve.
  bool follow() {
    if (length_ == 0 || fast_) return true;
    s_.adopt(s_.r);
    moved_ = true;
    const double aim = options_.reduction * s_.residual;
    w_.directions->restart(s_);
    for (int i = 0; i < length_; ++i) {
      if (report_.iterations >= stop_.max_iterations()) return false;
      if (stop_.out_of_time()) return ended(PhaseEnd::time);
      const KrylovStep step = w_.directions->step(s_);
      ++report_.iterations;
      error_ = s_.estimate();
      if (!look()) return false;
      if (step.stuck || s_.residual <= aim || !(s_.residual > 0.0)) break;
      if (step.restart) {
        w_.directions->restart(s_);
      } else if (!w_.directions->turn(s_)) {
        break;
      }
    }
    return true;
  }

  const IcaCr::Options& options_;
  const StopTest& stop_;
  Work& w_;
  SaddleSystem& s_;
  IterationObserver* observer_;
  CheckSchedule schedule_;
  PhaseReport report_;
  int sweeps_ = options_.sweeps, length_ = options_.length;
  int idle_ = 0, doublings_ = 0;
  bool fast_ = false;  ///< step 1 by itself brought the smallest error down to `reduction`
  double error_ = std::numeric_limits<double>::infinity();  ///< of `s_.r` at the velocity at hand, m/s
  bool moved_ = true;                                       ///< v and λ are not those of the last sweep
  bool finite_ = true;
};

}  // namespace

void IcaCr::Options::validate() const {
  if (sweeps < 1) throw_usage("solver 'ica-cr': sweeps = {} must be at least 1", sweeps);
  if (length < 0) throw_usage("solver 'ica-cr': length = {} is negative", length);
  if (!(reduction >= 0.0 && reduction < 1.0))
    throw_usage("solver 'ica-cr': reduction = {} is not in [0, 1)", reduction);
  if (!(inner_reduction > 0.0 && inner_reduction <= 1.0))
    throw_usage("solver 'ica-cr': inner_reduction = {} is not in (0, 1]", inner_reduction);
  if (inner_max < 1) throw_usage("solver 'ica-cr': inner_max = {} must be at least 1", inner_max);
  if (repetitions < 1) throw_usage("solver 'ica-cr': repetitions = {} must be at least 1", repetitions);
}

IcaCr::IcaCr(const Options& options) : options_(options), impl_(std::make_unique<Impl>()) {
  impl_->directions = std::make_unique<ConjugateDirections>(true, true);
}
IcaCr::~IcaCr() = default;

std::string IcaCr::unsupported_reason(const ContactProblem& problem) const {
  return PrimalSystem::refusal(problem);
}

void IcaCr::prepare(const ContactProblem& problem) {
  Impl& s = *impl_;
  s.saddle.prepare(problem, options_.common.law, options_.judge, StateRules{}, true, arena_);
  s.sweep.prepare(s.saddle.system, arena_);
  s.directions->resize(s.saddle);
  s.resize();
  s.start.assign(s.saddle.system.v_free.begin(), s.saddle.system.v_free.end());
  s.belong = false;
}

void IcaCr::update_contacts(const ContactProblem& problem) {
  const std::vector<double> last = impl_->saddle.v;
  prepare(problem);
  if (last.size() != impl_->start.size() || !all_finite(last)) return;
  impl_->start = last;
  impl_->belong = true;
}

SolveReport IcaCr::solve(std::span<double> r, const StopRule& rule, IterationObserver* observer) {
  Impl& s = *impl_;
  const StopTest stop(rule, s.saddle.system.scale);
  if (r.empty()) return nothing_to_solve();
  s.saddle.arena = arena_;  // may have changed since `prepare`
  make_finite(r);
  s.best.forget();
  if (observer != nullptr) observer->on_iteration(0, r, "");
  s.saddle.start(r, s.start, s.belong, true);
  Cycles cycles(options_, stop, s, observer);
  cycles.run();
  if (cycles.finite()) std::copy(s.saddle.r.begin(), s.saddle.r.end(), r.begin());
  return finish_solve(cycles.report(), stop, s.best, r);
}

}  // namespace signorini
