#include "solvers/relaxation/pgs.h"

#include <algorithm>
#include <utility>

#include "solvers/cg/tangent_cone.h"

namespace signorini {

namespace {

/// Lazarevych 2010 eqs. 14 and 15 as printed: r½ = (L + D)⁻¹(−q − U r), then every contact of r½ is projected
/// (docs/theory.md, C08).
double printed_sweep(const GaussSeidelData& data, std::span<double> r, std::span<double> previous) {
  std::copy(r.begin(), r.end(), previous.begin());
  for (Index k = 0; k < data.contacts(); ++k) {
    const std::size_t row = k;
    Vector3 u = data.q.segment<3>(3 * k);
    for (Index b = data.W.row_begin[row]; b < data.W.row_begin[row + 1]; ++b) {
      const std::size_t column = data.W.column[b];
      u += Eigen::Map<const Matrix3>(data.W.block(b)) * Eigen::Map<const Vector3>(r.data() + 3 * column);
    }
    const Matrix3& D = data.diagonal[row];
    for (int j = 0; j < 3; ++j) {
      if (!(D(j, j) > 0.0)) continue;
      const double change = -u[j] / D(j, j);
      r[3 * row + j] += change;
      u += D.col(j) * change;
    }
  }
  constexpr double kFree[2] = {0.0, 0.0};
  double largest = 0.0;
  for (std::size_t k = 0; k < data.diagonal.size(); ++k) {
    double* r_k = r.data() + 3 * k;
    with_law(data.law, [&](auto law) { project_impulse<decltype(law)>(data.mu[k], 0, kFree, r_k); });
    const Vector3 change =
        Eigen::Map<const Vector3>(r_k) - Eigen::Map<const Vector3>(previous.data() + 3 * k);
    largest = std::max(largest, change.cwiseProduct(data.diagonal[k].diagonal()).norm());
  }
  return largest;
}

}  // namespace

void PgsOptions::validate() const {
  if (n_max < 1) throw_usage("solver 'pgs': n_max = {} must be at least 1", n_max);
  if (form == PgsForm::printed && order != SweepOrder::natural)
    throw_usage("solver 'pgs': form = printed sweeps in natural order; leave out order = {}",
                enum_name(order));
  if (matrix != SweepMatrix::delassus && (form == PgsForm::printed || kernel.kernel == DelassusKernel::dense))
    throw_usage("solver 'pgs': form = printed and kernel = dense need W; leave out matrix = {}",
                enum_name(matrix));
  paper.validate("solver 'pgs'");
}

std::string Pgs::island_refusal(Index contacts) const { return options_.kernel.refusal(contacts); }

void Pgs::prepare_island(ReducedProblem problem, Vector mu) {
  problem.W = options_.kernel.stored(std::move(problem.W));
  set_sweeps(std::move(problem), std::move(mu), options_.common.law, options_.tangent, options_.order);
  previous_.resize(u_.size());
}

void Pgs::prepare_bodies(const ContactProblem& problem) {
  set_body_sweeps(problem, options_.common.law, options_.tangent, options_.order);
  previous_.resize(u_.size());
}

Iteration Pgs::start(std::span<double> /*r*/, const StopTest& stop) {
  reset_counters();
  rules_ = {};
  rule_met_ = false;
  sweeps_ = 0;
  if (options_.stop == StopKind::paper && !stop.fixed())
    rules_ = PaperRules(options_.paper, impulse_scale(data_, stop.scale()), stop.scale());
  return {};
}

Iteration Pgs::iterate(std::span<double> r) {
  if (rules_.active()) std::copy(r.begin(), r.end(), previous_.begin());
  ++sweeps_;
  const bool robust = options_.form == PgsForm::robust;
  const double correction = robust ? sweep_.run(r, arena_) : printed_sweep(data_, r, previous_);
  Iteration iteration = swept_in_order(correction);
  if (rules_.active()) {
    iteration.error = measure(r, correction);
    rule_met_ = rules_.met(step_norms(r, previous_), projected_residual(data_.law, data_.mu, r, u_));
  }
  return iteration;
}

LoopEnd Pgs::settle(std::span<double> /*r*/) {
  if (!rules_.active()) return LoopEnd::none;
  if (rule_met_) return LoopEnd::paper_rule;
  return sweeps_ >= options_.n_max ? LoopEnd::cap : LoopEnd::none;
}

}  // namespace signorini
