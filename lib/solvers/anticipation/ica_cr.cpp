#include "solvers/anticipation/ica_cr.h"

#include <algorithm>
#include <cmath>

namespace signorini {

namespace {

/// Where the sweeps of a cycle reduce the error by this, no conjugate residuals follow; where conjugate
/// residuals reduce the residual by this, the cycle ends.
constexpr double kReduction = 0.3;
/// Sweeps over the contacts in one step of anticipation: until corrections are below this times the error, at
/// most so many.
constexpr double kInnerReduction = 0.1;
constexpr int kInnerSweeps = 50;
/// Growth of the error over the smallest at which a cycle is undone.
constexpr double kUndone = 10.0;
/// Cycles without an error 1 % below the smallest after which they get longer.
constexpr int kPatience = 3;
/// Doublings after which there is no hope.
constexpr int kDoublings = 12;

}  // namespace

void IcaCrOptions::validate() const {
  if (sweeps < 1) throw_usage("solver 'ica-cr': sweeps = {} must be at least 1", sweeps);
  if (length < 0) throw_usage("solver 'ica-cr': length = {} is negative", length);
}

void IcaCr::prepare(const ContactProblem& problem) {
  system_.prepare(problem, options_.common.law, options_.judge, arena_);
  saddle_.prepare(system_, StateRules{}, true, counters_);
  step_.prepare(system_, false, arena_);
  step_.counters = &counters_;
  directions_.resize(saddle_);
  kept_.v.assign(saddle_.dofs(), 0.0);
  kept_.r.assign(saddle_.rows(), 0.0);
  best().resize(saddle_.rows());
  start_.assign(system_.origin.begin(), system_.origin.end());
  belong_ = false;
}

void IcaCr::update_contacts(const ContactProblem& problem) {
  const std::vector<double> last = saddle_.v;
  prepare(problem);
  if (last.size() != start_.size() || !all_finite(last)) return;
  start_ = last;
  belong_ = true;
}

Iteration IcaCr::start(std::span<double> r, const StopTest& stop) {
  counters_ = {};
  saddle_.arena = step_.arena = arena_;  // may have changed since `prepare`
  directions_.begin(true);
  saddle_.start(system_, r, start_, belong_);
  enough_ = std::max(0.1 * stop.tolerance(), 1e-15 * stop.scale());
  sweeps_ = options_.sweeps;
  length_ = options_.length;
  done_ = idle_ = doublings_ = undone_ = 0;
  following_ = false;
  moved_ = true;
  error_ = saddle_.estimate_of(r);
  keep(r);
  Iteration first;
  first.estimate = error_;
  return first;
}

Iteration IcaCr::iterate(std::span<double> r) {
  if (following_) {
    krylov_ = directions_.step(saddle_);
    error_ = saddle_.estimate(r);
  } else {
    if (moved_) begin_sweeps(r);
    sweep(r);
  }
  ++done_;
  Iteration iteration;
  iteration.estimate = error_;
  return iteration;
}

LoopEnd IcaCr::settle(std::span<double> r) {
  if (!following_) return done_ < sweeps_ ? LoopEnd::none : end_of_sweeps(r);
  end_of_step();
  return LoopEnd::none;
}

/// Whatever the sweeps need of v and λ, which something else has moved.
void IcaCr::begin_sweeps(std::span<double> r) {
  moved_ = false;
  saddle_.states.impulses(r);
  for (std::size_t i = 0; i < step_.dv.size(); ++i) step_.dv[i] = saddle_.v[i] - system_.origin[i];
  step_.set_impulse(saddle_.total_impulses());
  for (std::size_t i = 0; i < step_.dv.size(); ++i)
    step_.response[i] = step_.impulse[i] - saddle_.momentum[i];
  step_.sweep.multiply_upper(step_.dv, step_.upper, arena_);
}

/// One step of anticipation; leaves v, u, ρ and r.
void IcaCr::sweep(std::span<double> r) {
  AnticipationStep::Rule rule;
  rule.inner = step_.inner_rule(enough_, kInnerReduction, error_, kInnerSweeps);
  step_.run(rule, saddle_.u, r);
  step_.each_chunk([&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      saddle_.momentum[i] = -step_.defect[i];
      saddle_.v[i] = system_.origin[i] + step_.dv[i];
    }
  });
  system_.relative_velocity(saddle_.v, saddle_.u, arena_);
  ++counters_.direction_products;
  saddle_.measure_residual();
  error_ = saddle_.estimate_of(r);
}

void IcaCr::keep(std::span<const double> r) {
  kept_.error = error_;
  std::copy(saddle_.v.begin(), saddle_.v.end(), kept_.v.begin());
  std::copy(r.begin(), r.end(), kept_.r.begin());
}

/// Keeps what the cycle brought, or undoes it; makes cycles longer or shorter. False where nothing helps.
bool IcaCr::judge_cycle(std::span<double> r) {
  if (error_ < 0.99 * kept_.error) {
    keep(r);
    idle_ = 0;
    sweeps_ = std::max(options_.sweeps, sweeps_ / 2);
    length_ = std::max(options_.length, length_ / 2);
    doublings_ = std::max(0, doublings_ - 1);
    return true;
  }
  const bool lost = error_ > kUndone * kept_.error;
  if (!lost && ++idle_ < kPatience) return true;
  idle_ = 0;
  if (++doublings_ > kDoublings) return false;
  sweeps_ *= 2;
  length_ *= 2;
  if (!lost) return true;
  ++undone_;
  std::copy(kept_.v.begin(), kept_.v.end(), saddle_.v.begin());
  std::copy(kept_.r.begin(), kept_.r.end(), r.begin());
  system_.relative_velocity(saddle_.v, saddle_.u, arena_);
  saddle_.adopt(r);
  saddle_.refresh();
  moved_ = true;
  return true;
}

/// After step 1: the cycle is judged; then step 2, or step 1 again where it is fast enough by itself.
LoopEnd IcaCr::end_of_sweeps(std::span<double> r) {
  done_ = 0;
  const bool fast = error_ <= kReduction * kept_.error;
  if (!judge_cycle(r)) return LoopEnd::stuck;
  if (length_ == 0 || fast) return LoopEnd::none;
  saddle_.adopt(r);
  moved_ = following_ = true;
  aim_ = kReduction * saddle_.residual;
  directions_.restart(saddle_);
  return LoopEnd::none;
}

/// After an iteration of step 3: the next direction, or the next cycle.
void IcaCr::end_of_step() {
  const bool over =
      krylov_.stuck || saddle_.residual <= aim_ || !(saddle_.residual > 0.0) || done_ >= length_;
  if (!over && krylov_.mended) return directions_.restart(saddle_);
  if (!over && directions_.turn(saddle_)) return;
  following_ = false;
  done_ = 0;
}

IterationProgress IcaCr::progress() {
  IterationProgress told;
  told.plain = std::max(error_, saddle_.momentum_error);
  told.preconditioned = directions_.preconditioned_norm(saddle_);
  told.constraint = saddle_.constraint_norm();
  return told;
}

const SolveCounters& IcaCr::counters() {
  counters_.restarts = directions_.restarts();
  counters_.guards = directions_.guards() + undone_;
  return counters_;
}

}  // namespace signorini
