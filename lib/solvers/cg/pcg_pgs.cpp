#include "solvers/cg/pcg_pgs.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace signorini {

void PcgPgsOptions::validate() const {
  if (!(tol_cg >= 0.0)) throw_usage("solver 'pcg-pgs': tol_cg = {} is negative", tol_cg);
  if (n_max < 1) throw_usage("solver 'pcg-pgs': n_max = {} must be at least 1", n_max);
  cg.validate("solver 'pcg-pgs', CG phase");
  gs.validate("solver 'pcg-pgs', Gauss-Seidel phase");
  if (!(cg.eps >= gs.eps && cg.delta >= gs.delta))
    throw_usage("solver 'pcg-pgs': thresholds of the CG phase must not be below those of Gauss-Seidel");
}

void PcgPgs::prepare_island(ReducedProblem problem, Vector mu) {
  set_data(make_gauss_seidel_data(options_.kernel.stored(std::move(problem.W)), std::move(problem.q),
                                  std::move(mu), options_.common.law, options_.tangent));
  cg_.prepare(data_);
  previous_.resize(u_.size());
}

Iteration PcgPgs::start(std::span<double> r, const StopTest& stop) {
  reset_counters();
  sweeping_ = hand_on_ = rule_met_ = false;
  cg_rules_ = gs_rules_ = {};
  if (options_.stop == StopKind::paper && !stop.fixed()) {
    const double impulse = impulse_scale(data_, stop.scale());
    cg_rules_ = PaperRules(options_.cg, impulse, stop.scale());
    gs_rules_ = PaperRules(options_.gs, impulse, stop.scale());
  }
  handing_on_ = options_.tol_cg > 0.0 ? options_.tol_cg * stop.scale() : -1.0;
  left_ = 2 * static_cast<int>(r.size());
  const bool exact = !stop.fixed() || handing_on_ >= 0.0;
  return cg_.start({.exact = exact}, r, counters_, products_, arena_);
}

Iteration PcgPgs::iterate(std::span<double> r) {
  if (!sweeping_ && !hand_on_ && !(cg_.error() <= handing_on_)) {
    const Iteration iteration = cg_.iterate(r, best());
    if (iteration.moved && iteration.finite()) return iteration;
  }
  if (!sweeping_) begin_sweeps(r);
  return sweep(r);
}

void PcgPgs::begin_sweeps(std::span<double> r) {
  sweeping_ = true;
  left_ = gs_rules_.active() ? options_.n_max : std::numeric_limits<int>::max();
  best().restore(r);
  restart_schedule();
}

Iteration PcgPgs::sweep(std::span<double> r) {
  if (gs_rules_.active()) std::copy(r.begin(), r.end(), previous_.begin());
  Iteration iteration = swept(gauss_seidel_sweep(data_, r));
  if (gs_rules_.active()) {
    iteration.error = measure(r, iteration.estimate);
    rule_met_ = gs_rules_.met(step_norms(r, previous_), projected_residual(data_.law, data_.mu, r, u_));
  }
  return iteration;
}

LoopEnd PcgPgs::settle(std::span<double> /*r*/) {
  --left_;
  if (sweeping_) {
    if (rule_met_) return LoopEnd::paper_rule;
    return left_ == 0 ? LoopEnd::cap : LoopEnd::none;
  }
  hand_on_ = left_ == 0 || cg_rules_.met(cg_.step(), cg_.residual());
  cg_.settle();
  return LoopEnd::none;
}

IterationProgress PcgPgs::progress() {
  IterationProgress told;
  if (!sweeping_) told.plain = cg_.residual().max;
  return told;
}

}  // namespace signorini
