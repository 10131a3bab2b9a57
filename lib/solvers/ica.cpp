#include "solvers/ica.h"

#include <algorithm>
#include <cmath>

#include "solvers/node_sweep.h"
#include "solvers/phase.h"

namespace signorini {

namespace {

/// Growth over the best error at which refinement by Gauss–Seidel is given up.
constexpr double kDivergence = 1e3;
/// Outer iterations without an error 1 % below the best after which it is given up as well.
constexpr int kPatience = 200;
constexpr int kStartSweeps = 100;
constexpr int kPowerSteps = 30;
constexpr int kUncoupledSweeps = 100;
constexpr double kFivePercent = 0.05;
/// Dofs per chunk of a vector; a multiple of 3.
constexpr std::size_t kChunk = 3 * 2048;

}  // namespace

struct Ica::Impl {
  PrimalSystem system;
  NodeSweep sweep;
  TaskArena* arena = nullptr;
  Vector start_vector;  ///< of the power iteration
  double dt = 0.0;

  std::vector<double> dv, response, z;  ///< size(): dv; M dv; scratch
  std::vector<double> upper;            ///< U dv
  std::vector<double> impulse;          ///< H r
  std::vector<double> u, q_loc;         ///< 3m
  mutable std::vector<double> partial;  ///< per chunk of dofs
  BestIterate best;

  // of one solve
  bool has_response = false;  ///< dv, M dv and U dv are those of the last solve, for the same M
  bool go_on = false;         ///< … and `update_contacts` asked to start from them
  bool jacobi = false;
  double omega = 1.0;
  double momentum = 0.0;          ///< ‖D⁻¹(M dv − H r)‖∞, m/s
  double first_correction = 0.0;  ///< of r in the last iteration, m/s
  double contacts = 0.0;          ///< largest contact error of the velocity at hand, m/s
  SolveCounters counters;
  bool fell_back = false;

  double estimate() const { return contacts + momentum; }
  void tell(IterationObserver& observer, int iteration, std::span<const double> r) const {
    observer.on_progress(iteration, {.plain = std::max(contacts, momentum),
                                     .preconditioned = std::numeric_limits<double>::quiet_NaN(),
                                     .constraint = contacts,
                                     .counters = counters});
    observer.on_iteration(iteration, r, "");
  }

  void resize() {
    const std::size_t n = system.size();
    const std::size_t rows = 3 * static_cast<std::size_t>(system.contacts());
    if (!has_response) {
      for (auto* x : {&dv, &response, &upper}) x->assign(n, 0.0);
    }
    z.assign(n, 0.0);
    impulse.assign(n, 0.0);
    partial.resize((n + kChunk - 1) / kChunk);
    u.assign(rows, 0.0);
    q_loc.assign(rows, 0.0);
    best.resize(rows);
  }

  /// body(begin, end) over the dofs in chunks, on several threads where there is an arena.
  template <class Body>
  void each_chunk(const Body& body) const {
    const std::size_t n = z.size();
    for_each_task(arena, (n + kChunk - 1) / kChunk,
                  [&](std::size_t chunk) { body(kChunk * chunk, std::min(n, kChunk * (chunk + 1))); });
  }
  void divide_by_diagonal(std::vector<double>& x) const {
    each_chunk(
        [&](std::size_t begin, std::size_t end) { system.apply_inverse_nodes(x, begin / 3, end / 3); });
    system.apply_inverse_pairs(x);
  }
  double largest_change(std::span<const double> x) const {
    each_chunk([&](std::size_t begin, std::size_t end) {
      double largest = 0.0;
      for (std::size_t i = begin; i < end; ++i) largest = std::max(largest, std::abs(x[i]));
      partial[begin / kChunk] = largest;
    });
    double largest = 0.0;
    for (const double value : partial) largest = std::max(largest, value);
    return largest;
  }

  void set_impulse(std::span<const double> r) {
    system.impulse(r, impulse, arena);
    ++counters.direction_products;
  }

  /// Step 3, and what belongs to the new dv: M dv, the momentum defect.
  void refine() {
    if (jacobi) {
      // dv += (ω D)⁻¹ (H r − M dv)
      for (std::size_t i = 0; i < z.size(); ++i) z[i] = (impulse[i] - response[i]) / omega;
      system.apply_inverse_diagonal(z);
      for (std::size_t i = 0; i < z.size(); ++i) dv[i] += z[i];
      system.multiply(dv, response, arena);
      for (std::size_t i = 0; i < z.size(); ++i) z[i] = response[i] - impulse[i];
    } else {
      // M dv − H r = U dv_new − U dv_old
      std::swap(z, upper);
      sweep.forward(system, impulse, z, dv, upper, arena);
      each_chunk([&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          z[i] = upper[i] - z[i];
          response[i] = impulse[i] + z[i];
        }
      });
    }
    ++counters.mass_products;
    divide_by_diagonal(z);
    momentum = largest_change(z);
  }

  /// u = Hᵀ(v_free + dv) + w and its error.
  void look(std::span<const double> r) {
    each_chunk([&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) z[i] = system.v_free[static_cast<Eigen::Index>(i)] + dv[i];
    });
    system.relative_velocity(z, u, arena);
    ++counters.direction_products;
    contacts = system.error(r, u, arena);
  }

  /// dv = 0, or the response to r: by the factor of M where it is at hand, else by sweeps with r held.
  void start(std::span<const double> r, IcaStart kind, double tolerance) {
    const bool from_last = go_on && has_response && kind == IcaStart::constrained && !jacobi;
    has_response = go_on = false;
    if (!from_last) {
      std::fill(dv.begin(), dv.end(), 0.0);
      std::fill(upper.begin(), upper.end(), 0.0);
      std::fill(response.begin(), response.end(), 0.0);
    }
    set_impulse(r);
    for (std::size_t i = 0; i < z.size(); ++i) z[i] = impulse[i] - response[i];
    system.apply_inverse_diagonal(z);
    momentum = largest_change(z);
    if (kind == IcaStart::constrained && momentum > 0.0) respond(r, tolerance);
    look(r);
  }
  void respond(std::span<const double> r, double tolerance) {
    if (system.exact()) {
      system.exact_response(r, dv, arena);
      ++counters.triangular_solves;
      std::copy(impulse.begin(), impulse.end(), response.begin());
      if (!jacobi) sweep.multiply_upper(dv, upper, arena);
      momentum = 0.0;
      return;
    }
    const double enough = std::max(0.1 * tolerance, 1e-10 * momentum);
    for (int i = 0; i < kStartSweeps && momentum > enough; ++i) refine();
  }

  /// Step 1.
  void anticipate() {
    std::copy(response.begin(), response.end(), z.begin());
    divide_by_diagonal(z);
    contact_velocities(system.H, z, q_loc, arena);
    ++counters.direction_products;
    for (std::size_t i = 0; i < q_loc.size(); ++i) q_loc[i] = u[i] - q_loc[i] / omega;
  }

  void iterate(std::span<double> r, const Ica::Options& options, double floor) {
    anticipate();
    // Where M is D the inner problem is the whole one: it is solved at once.
    const bool coupled = sweep.coupled();
    NodeSweep::InnerRule rule;
    rule.limit = coupled ? options.inner_max : std::max(options.inner_max, kUncoupledSweeps);
    rule.enough = floor;
    if (options.inner_stop == IcaInnerStop::paper5) {
      rule.changes = true;
      rule.share = kFivePercent;
      if (options.paper_gap > 0.0 && dt > 0.0) rule.closing = options.paper_gap / dt;
    } else if (coupled) {
      rule.enough = std::max(floor, options.inner_reduction * estimate());
    }
    const NodeSweep::Inner done = sweep.local(system, omega, q_loc, options.repetitions, rule, r, arena);
    first_correction = done.first;
    counters.contact_sweeps += done.sweeps;
    set_impulse(r);
    refine();
    look(r);
  }

  /// Ten per cent above half of λ_max(D⁻¹ M), by power iteration from a fixed vector.
  double damping() {
    std::copy(start_vector.begin(), start_vector.end(), z.begin());
    double largest = 1.0;
    for (int step = 0; step < kPowerSteps; ++step) {
      const double size = largest_change(z);
      if (!(size > 0.0)) break;
      for (double& x : z) x /= size;
      system.multiply(z, impulse, arena);
      system.apply_inverse_diagonal(impulse);
      std::swap(z, impulse);
      largest = largest_change(z);
    }
    counters.mass_products += kPowerSteps;
    std::fill(impulse.begin(), impulse.end(),
              0.0);  // it served as scratch; only touched dofs are written again
    return std::max(0.6 * largest, 0.5);
  }

  void fall_back(std::span<double> r, double wanted_omega) {
    ++counters.guards;
    jacobi = true;
    omega = wanted_omega > 0.0 ? wanted_omega : damping();
    if (best.has()) {
      best.restore(r);
    } else {
      std::fill(r.begin(), r.end(), 0.0);
    }
    start(r, IcaStart::free, 0.0);
  }
};

void Ica::Options::validate() const {
  if (!(omega >= 0.0)) throw_usage("solver 'ica': omega = {} is negative", omega);
  if (!(inner_reduction > 0.0 && inner_reduction <= 1.0))
    throw_usage("solver 'ica': inner_reduction = {} is not in (0, 1]", inner_reduction);
  if (inner_max < 1) throw_usage("solver 'ica': inner_max = {} must be at least 1", inner_max);
  if (repetitions < 1) throw_usage("solver 'ica': repetitions = {} must be at least 1", repetitions);
  if (!(paper_gap >= 0.0)) throw_usage("solver 'ica': paper_gap = {} is negative", paper_gap);
}

Ica::Ica(const Options& options) : options_(options), impl_(std::make_unique<Impl>()) {}
Ica::~Ica() = default;
long long Ica::inner_sweeps() const { return impl_->counters.contact_sweeps; }
bool Ica::fell_back() const { return impl_->fell_back; }

std::string Ica::unsupported_reason(const ContactProblem& problem) const {
  return PrimalSystem::refusal(problem);
}

void Ica::prepare(const ContactProblem& problem) {
  impl_->has_response = impl_->go_on = false;
  set_up(problem);
}

void Ica::update_contacts(const ContactProblem& problem) {
  set_up(problem);
  impl_->go_on = impl_->has_response;
}

void Ica::set_up(const ContactProblem& problem) {
  Impl& s = *impl_;
  const bool had_response = s.has_response;
  s.has_response = false;  // should anything below throw
  s.system.prepare(problem, options_.common.law, options_.judge, arena_);
  s.sweep.prepare(s.system, arena_);
  s.dt = problem.dt;
  s.has_response = had_response && s.system.same_matrix();
  s.resize();
  // a fixed vector that no symmetry of a mesh is likely to make an eigenvector of anything
  s.start_vector.resize(static_cast<Eigen::Index>(s.system.size()));
  for (Eigen::Index i = 0; i < s.start_vector.size(); ++i)
    s.start_vector[i] = std::sin(1.0 + 1.7 * static_cast<double>(i));
}

SolveReport Ica::solve(std::span<double> r, const StopRule& rule, IterationObserver* observer) {
  Impl& s = *impl_;
  const StopTest stop(rule, s.system.scale);
  s.arena = arena_;  // may have changed since `prepare`
  if (r.empty()) return nothing_to_solve();
  make_finite(r);
  s.best.forget();
  s.counters = {};
  s.fell_back = false;
  s.jacobi = options_.refine == IcaRefine::jacobi;
  s.omega = 1.0;
  if (s.jacobi) s.omega = options_.omega > 0.0 ? options_.omega : s.damping();
  if (observer != nullptr) observer->on_iteration(0, r, "");

  PhaseReport report;
  const auto measure = [&] {
    report.error = s.system.exact() ? s.system.exact_error(r, s.arena) : s.estimate();
    if (s.system.exact()) ++s.counters.triangular_solves;
    if (std::isfinite(report.error)) s.best.offer(r, report.error);
    return report.error;
  };
  s.start(r, options_.start, stop.tolerance());
  const bool judging = stop.judging();
  // after an exact start the velocity at hand is the true one
  const bool known = s.system.exact() && s.momentum == 0.0;
  if (known) {
    report.error = s.contacts;
    s.best.offer(r, report.error);
  }
  if (judging && stop.met(known ? report.error : measure())) {
    report.end = PhaseEnd::converged;
    return finish_solve(report, stop, s.best, r);
  }
  if (!s.best.has()) s.best.offer(r, std::numeric_limits<double>::infinity());

  CheckSchedule schedule(stop.tolerance());
  const double rounding = 1e-15 * stop.scale();
  const double floor =
      options_.inner_stop == IcaInnerStop::paper5 ? rounding : std::max(0.1 * stop.tolerance(), rounding);
  double smallest = s.estimate();
  double improved = smallest;
  int improved_at = 0;
  double last_contacts = s.contacts, last_momentum = s.momentum;
  while (report.iterations < stop.max_iterations()) {
    if (stop.out_of_time()) {
      report.end = PhaseEnd::time;
      break;
    }
    s.iterate(r, options_, floor);
    ++report.iterations;
    report.error = std::numeric_limits<double>::quiet_NaN();
    report.estimate = s.estimate();
    if (observer != nullptr && std::isfinite(report.estimate)) s.tell(*observer, report.iterations, r);
    const bool lost = !std::isfinite(report.estimate) || report.estimate > kDivergence * smallest;
    const bool stale = report.iterations - improved_at >= kPatience;
    if ((lost || stale) && !s.jacobi && options_.fallback) {
      s.fell_back = true;
      s.fall_back(r, options_.omega);
      if (observer != nullptr && !std::isfinite(report.estimate)) s.tell(*observer, report.iterations, r);
      report.estimate = smallest = improved = s.estimate();
      improved_at = report.iterations;
      continue;
    }
    if (!std::isfinite(report.estimate)) {
      report.end = PhaseEnd::diverged;
      --report.iterations;
      break;
    }
    smallest = std::min(smallest, report.estimate);
    if (smallest < 0.99 * improved) {
      improved = smallest;
      improved_at = report.iterations;
    }
    if (!judging) {
      // something finite to return, at next to no cost
      if ((report.iterations & (report.iterations - 1)) == 0) s.best.offer(r, report.estimate);
    }
    if (options_.stop == IcaStop::paper5 && !stop.fixed()) {
      const auto settled = [](double now, double before) {
        return std::abs(now - before) <= kFivePercent * before;
      };
      double closing = 0.0;
      for (std::size_t k = 0; k < s.u.size(); k += 3) closing = std::max(closing, -s.u[k]);
      const bool apart = options_.paper_gap == 0.0 || s.dt * closing <= options_.paper_gap;
      const bool done = settled(s.contacts, last_contacts) && settled(s.momentum, last_momentum) && apart;
      last_contacts = s.contacts;
      last_momentum = s.momentum;
      if (!done) continue;
      measure();
      report.end = PhaseEnd::paper_rule;
      break;
    }
    if (!judging) continue;
    const bool exhausted =
        std::max(s.first_correction, s.momentum) <= std::numeric_limits<double>::epsilon() * stop.scale();
    if (!exhausted && !schedule.due(report.iterations, report.estimate)) continue;
    const double error = measure();
    if (stop.met(error) || exhausted) {
      report.end = stop.met(error) ? PhaseEnd::converged : PhaseEnd::stuck;
      break;
    }
    schedule.broken(report.iterations, report.estimate, error);
  }
  if (judging && report.end != PhaseEnd::diverged && std::isnan(report.error)) measure();
  s.has_response = !s.jacobi && std::isfinite(s.estimate());
  report.products = s.counters.mass_products;
  report.counters = s.counters;
  return finish_solve(report, stop, s.best, r);
}

}  // namespace signorini
