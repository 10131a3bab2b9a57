#include "solvers/anticipation/ica.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "linalg/dot.h"

namespace signorini {

namespace {

/// Growth over the best error at which refinement by Gauss–Seidel is given up.
constexpr double kDivergence = 1e3;
constexpr int kStartSweeps = 100;
constexpr int kPowerSteps = 30;
constexpr double kFivePercent = 0.05;

}  // namespace

void IcaOptions::validate() const {
  if (!(omega >= 0.0)) throw_usage("solver 'ica': omega = {} is negative", omega);
  if (!(inner_reduction > 0.0 && inner_reduction <= 1.0))
    throw_usage("solver 'ica': inner_reduction = {} is not in (0, 1]", inner_reduction);
  if (order == SweepOrder::symmetric)
    throw_usage("solver 'ica': order = symmetric: its sweeps are natural, coloured or auto");
  if (inner_max < 1) throw_usage("solver 'ica': inner_max = {} must be at least 1", inner_max);
  if (!(paper_gap >= 0.0)) throw_usage("solver 'ica': paper_gap = {} is negative", paper_gap);
  if (start == IcaStart::swept && judge != Judge::own)
    throw_usage(
        "solver 'ica': start = swept needs judge = own: judge = exact factors M, and has the free velocity");
  thresholds.validate("solver 'ica'");
}

std::string Ica::unsupported_reason(const ContactProblem& problem) const {
  const std::string reason =
      options_.stop == IcaStop::thresholds ? Thresholds::refusal(problem, "thresholds") : "";
  return reason.empty() ? MassSolver::unsupported_reason(problem) : reason;
}

void Ica::prepare(const ContactProblem& problem) {
  has_response_ = go_on_ = false;
  set_up(problem);
}

void Ica::update_contacts(const ContactProblem& problem) {
  set_up(problem);
  go_on_ = has_response_;
}

void Ica::set_up(const ContactProblem& problem) {
  const bool had_response = has_response_;
  has_response_ = false;  // should anything below throw
  const Origin origin = options_.start == IcaStart::swept ? Origin::start : Origin::free;
  system_.prepare(problem, options_.common.law, options_.judge, arena_, origin);
  has_response_ = had_response && system_.same_matrix();
  step_.prepare(system_, has_response_, arena_, options_.order);
  step_.counters = &counters_;
  dt_ = problem.dt;
  const std::size_t rows = 3 * system_.contacts();
  u_.assign(rows, 0.0);
  best().resize(rows);
  // a fixed vector that no symmetry of a mesh is likely to make an eigenvector of anything
  start_vector_.resize(system_.size());
  for (Eigen::Index i = 0; i < start_vector_.size(); ++i)
    start_vector_[i] = std::sin(1.0 + 1.7 * static_cast<double>(i));
}

Iteration Ica::start(std::span<double> r, const StopTest& stop) {
  counters_ = {};
  step_.arena = arena_;  // may have changed since `prepare`
  paper_ = options_.stop != IcaStop::residual && !stop.fixed();
  last_was_free_ = false;
  iterations_ = improved_at_ = 0;
  rounding_ = std::numeric_limits<double>::epsilon() * stop.scale();
  tolerance_ = stop.tolerance();
  const double least = 1e-15 * stop.scale();
  enough_ = options_.inner_stop == IcaInnerStop::paper5 ? least : std::max(0.1 * tolerance_, least);
  if (paper_ && options_.stop == IcaStop::thresholds) enough_ = 0.1 * options_.thresholds.eps2 / dt_;
  rule_ = {};
  rule_.jacobi = options_.refine == IcaRefine::jacobi;
  if (rule_.jacobi) rule_.omega = options_.omega > 0.0 ? options_.omega : damping();
  begin(r, options_.start);
  smallest_ = improved_ = error();
  last_contacts_ = contact_error_;
  last_momentum_ = momentum_;
  Iteration first;
  first.estimate = error();
  // after an exact start the velocity at hand is the true one
  if (system_.exact() && momentum_ == 0.0) first.error = contact_error_;
  return first;
}

/// dv = 0, or the response to r: by the factor of M where it is at hand, else by sweeps with r held.
void Ica::begin(std::span<double> r, IcaStart kind) {
  const bool from_last = go_on_ && has_response_ && kind != IcaStart::free && !rule_.jacobi;
  has_response_ = go_on_ = false;
  sweeps_freely_ = kind == IcaStart::swept && !from_last;
  if (sweeps_freely_) std::fill(r.begin(), r.end(), 0.0);
  if (!from_last) {
    for (auto* x : {&step_.dv, &step_.upper, &step_.response}) std::fill(x->begin(), x->end(), 0.0);
  }
  step_.set_impulse(r);
  for (std::size_t i = 0; i < step_.defect.size(); ++i)
    step_.defect[i] = step_.impulse[i] - step_.response[i];
  measure_momentum();
  if (kind == IcaStart::constrained && momentum_ > 0.0) {
    if (system_.exact()) {
      system_.exact_response(r, step_.dv, arena_);
      ++counters_.triangular_solves;
      std::copy(step_.impulse.begin(), step_.impulse.end(), step_.response.begin());
      if (!rule_.jacobi) step_.sweep.multiply_upper(step_.dv, step_.upper, arena_);
      momentum_ = 0.0;
    } else {
      respond();
    }
  }
  measure_velocity(r);
}

void Ica::go_on_from(std::span<const double> r, std::span<const double> v) {
  for (std::size_t i = 0; i < step_.dv.size(); ++i)
    step_.dv[i] = v[i] - system_.origin[static_cast<Eigen::Index>(i)];
  step_.set_impulse(r);
  step_.response = step_.impulse;
  step_.sweep.multiply_upper(step_.dv, step_.upper, arena_);
  has_response_ = go_on_ = true;
}

void Ica::copy_velocity(std::span<double> v) const {
  for (std::size_t i = 0; i < step_.dv.size(); ++i)
    v[i] = system_.origin[static_cast<Eigen::Index>(i)] + step_.dv[i];
}

void Ica::respond() {
  const double enough = std::max(0.1 * tolerance_, 1e-10 * momentum_);
  for (int i = 0; i < kStartSweeps && momentum_ > enough; ++i) {
    step_.refine(rule_);
    measure_momentum();
  }
}

/// One sweep over M with r = 0.
Iteration Ica::sweep_freely(std::span<const double> r) {
  step_.refine(rule_);
  measure_momentum();
  measure_velocity(r);
  const bool thresholds = paper_ && options_.stop == IcaStop::thresholds;
  const bool found = thresholds ? std::sqrt(momentum_squares_) < options_.thresholds.eps1
                                : momentum_ <= std::max(0.1 * tolerance_, rounding_);
  if (momentum_ < 0.99 * improved_) {
    improved_ = momentum_;
    improved_at_ = iterations_;
  }
  sweeps_freely_ = !found && iterations_ - improved_at_ < patience_;
  if (!sweeps_freely_) {
    smallest_ = improved_ = error();
    improved_at_ = iterations_;
  }
  has_response_ = !rule_.jacobi;
  Iteration iteration;
  iteration.estimate = error();
  return iteration;
}

/// From `defect` = ρ, which it replaces by D⁻¹ρ.
void Ica::measure_momentum() {
  if (options_.stop == IcaStop::thresholds) momentum_squares_ = dot(step_.defect, step_.defect);
  step_.divide_by_diagonal(step_.defect);
  momentum_ = step_.largest(step_.defect);
}

/// u = Hᵀ(v₀ + dv) + w and its error.
void Ica::measure_velocity(std::span<const double> r) {
  step_.each_chunk([&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) step_.defect[i] = system_.origin[i] + step_.dv[i];
  });
  system_.relative_velocity(step_.defect, u_, arena_);
  ++counters_.direction_products;
  const PrimalSystem::ContactErrors errors = system_.errors(r, u_, arena_);
  contact_error_ = errors.largest;
  contact_squares_ = errors.squares;
}

Iteration Ica::iterate(std::span<double> r) {
  ++iterations_;
  last_was_free_ = sweeps_freely_;
  if (sweeps_freely_) return sweep_freely(r);
  const double reduction = options_.inner_stop == IcaInnerStop::paper5 ? 0.0 : options_.inner_reduction;
  rule_.inner = step_.inner_rule(enough_, reduction, error(), options_.inner_max);
  if (options_.inner_stop == IcaInnerStop::paper5) {
    rule_.inner.changes = true;
    rule_.inner.share = kFivePercent;
    if (options_.paper_gap > 0.0 && dt_ > 0.0) rule_.inner.closing = options_.paper_gap / dt_;
  }
  last_contacts_ = contact_error_;
  last_momentum_ = momentum_;
  const ContactSweep::Outcome done = step_.run(rule_, u_, r);
  measure_momentum();
  measure_velocity(r);
  Iteration iteration;
  iteration.estimate = error();
  const bool lost = !iteration.finite() || iteration.estimate > kDivergence * smallest_;
  const bool stale = iterations_ - improved_at_ >= patience_;
  if ((lost || (stale && !leaves_)) && !rule_.jacobi && options_.fallback) {
    fall_back(r);
    iteration.estimate = smallest_ = improved_ = error();
    improved_at_ = iterations_;
    return iteration;
  }
  iteration.exhausted = std::max(done.first, momentum_) <= rounding_ || (stale && leaves_);
  smallest_ = std::min(smallest_, iteration.estimate);
  if (smallest_ < 0.99 * improved_) {
    improved_ = smallest_;
    improved_at_ = iterations_;
  }
  has_response_ = !rule_.jacobi && iteration.finite();
  return iteration;
}

bool Ica::meets_thresholds() const {
  const double squares = momentum_squares_ + dt_ * dt_ * contact_squares_;
  return options_.thresholds.met(dt_, squares, contact_error_);
}

/// The paper's rule (section 5.5).
LoopEnd Ica::settle(std::span<double> /*r*/) {
  if (!paper_) return LoopEnd::none;
  if (options_.stop == IcaStop::thresholds) {
    // without a contact that pushes, the free velocity is the answer
    return meets_thresholds() ? LoopEnd::paper_rule : LoopEnd::none;
  }
  if (last_was_free_) return LoopEnd::none;
  const auto settled = [](double now, double before) {
    return std::abs(now - before) <= kFivePercent * before;
  };
  double closing = 0.0;
  for (std::size_t k = 0; k < u_.size(); k += 3) closing = std::max(closing, -u_[k]);
  const bool apart = options_.paper_gap == 0.0 || dt_ * closing <= options_.paper_gap;
  const bool done = settled(contact_error_, last_contacts_) && settled(momentum_, last_momentum_) && apart;
  return done ? LoopEnd::paper_rule : LoopEnd::none;
}

IterationProgress Ica::progress() {
  IterationProgress told;
  told.plain = std::max(contact_error_, momentum_);
  told.constraint = contact_error_;
  return told;
}

/// Ten per cent above half of λ_max(D⁻¹ M), by power iteration from a fixed vector.
double Ica::damping() {
  std::vector<double>&z = step_.defect, &y = step_.impulse;
  std::copy(start_vector_.begin(), start_vector_.end(), z.begin());
  double largest = 1.0;
  for (int i = 0; i < kPowerSteps; ++i) {
    const double size = step_.largest(z);
    if (!(size > 0.0)) break;
    for (double& x : z) x /= size;
    system_.multiply(z, y, arena_);
    system_.apply_inverse_diagonal(y);
    std::swap(z, y);
    largest = step_.largest(z);
  }
  counters_.mass_products += kPowerSteps;
  std::fill(y.begin(), y.end(), 0.0);  // only touched dofs of an impulse are written again
  return std::max(0.6 * largest, 0.5);
}

void Ica::fall_back(std::span<double> r) {
  ++counters_.guards;
  rule_.jacobi = true;
  rule_.omega = options_.omega > 0.0 ? options_.omega : damping();
  best().restore(r);
  begin(r, IcaStart::free);
}

}  // namespace signorini
