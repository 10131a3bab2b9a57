#include "solvers/first_order/admm_global.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace signorini {

namespace {

/// H S⁻¹ Hᵀ, kg.
SparseRows contact_coupling(const DirectionRows& H, std::span<const double> step, Index size) {
  std::vector<Eigen::Triplet<double, Index>> entries;
  for (Index k = 0; k < H.contacts(); ++k) {
    const std::size_t row = 3 * static_cast<std::size_t>(k);
    for (Index a = H.begin[k]; a < H.begin[k + 1]; ++a) {
      for (Index b = H.begin[k]; b < H.begin[k + 1]; ++b) {
        const double* h_a = H.coefficient.data() + 3 * static_cast<std::size_t>(a);
        const double* h_b = H.coefficient.data() + 3 * static_cast<std::size_t>(b);
        double sum = 0.0;
        for (std::size_t j = 0; j < 3; ++j) sum += h_a[j] * step[row + j] * h_b[j];
        entries.emplace_back(H.dof[a], H.dof[b], sum);
      }
    }
  }
  SparseRows coupling(size, size);
  coupling.setFromTriplets(entries.begin(), entries.end());
  return coupling;
}

}  // namespace

void MassResolvent::prepare(const PrimalSystem& system, const ContactCones& cones) {
  system_ = &system;
  cones_ = &cones;
  q_.assign(cones.rows(), 0.0);
  dv_.assign(system.size(), 0.0);
  system.relative_velocity(span_of(system.origin), q_);
  SparseRows M = to_scalar(system.M);
  M.prune([](Index, Index, double value) { return value != 0.0; });
  factor_.prepare(M, contact_coupling(system.H, cones.step(), static_cast<Index>(M.rows())));
}

bool MassResolvent::factor_first(double t) {
  if (!factor_.factor_first(1.0 / t))
    throw_input("M is not positive definite, or not finite with its contacts");
  return true;
}

void MassResolvent::apply(double t, std::span<const double> c, std::span<double> impulse,
                          std::span<double> velocity) {
  const std::span<const double> step = cones_->step();
  for (std::size_t i = 0; i < c.size(); ++i) impulse[i] = step[i] * (c[i] - q_[i]) / t;
  std::fill(dv_.begin(), dv_.end(), 0.0);
  add_impulses(system_->H, impulse, dv_);
  factor_.solve(dv_);
  contact_velocities(system_->H, dv_, velocity);
  for (std::size_t i = 0; i < c.size(); ++i) velocity[i] += q_[i];
  for (std::size_t i = 0; i < c.size(); ++i) impulse[i] = step[i] * (c[i] - velocity[i]) / t;
}

void AdmmGlobal::prepare(const ContactProblem& problem) {
  system_.prepare(problem, options_.common.law, options_.judge, arena_);
  cones_.prepare(options_.common.law, system_.mu, system_.inverse_mass);
  resolvent_.prepare(system_, cones_);
  iteration_.prepare(options_.admm, cones_, resolvent_);
  u_start_.assign(cones_.rows(), 0.0);
  u_added_.assign(cones_.rows(), 0.0);
  response_.assign(system_.size(), 0.0);
  best().resize(cones_.rows());
}

Iteration AdmmGlobal::start(std::span<double> r, const StopTest& stop) {
  counters_ = {};
  Iteration first;
  const bool cold = std::all_of(r.begin(), r.end(), [](double x) { return x == 0.0; });
  if (!cold && !system_.exact()) {
    first.estimate = iteration_.start_near(r, stop.scale(), counters_);
    return first;
  }
  const std::span<const double> q = resolvent_.free_velocity();
  std::copy(q.begin(), q.end(), u_start_.begin());
  if (!cold) respond(r);
  iteration_.start(r, u_start_, stop.scale(), counters_);
  first.error = first.estimate = system_.error(r, u_start_, arena_);
  return first;
}

/// Adds Hᵀ M⁻¹ H r to the velocities.
void AdmmGlobal::respond(std::span<const double> r) {
  system_.exact_response(r, response_, arena_);
  ++counters_.triangular_solves;
  contact_velocities(system_.H, response_, u_added_);
  for (std::size_t i = 0; i < u_start_.size(); ++i) u_start_[i] += u_added_[i];
}

Iteration AdmmGlobal::iterate(std::span<double> r) {
  counters_.direction_products += 2;
  return iteration_.iterate(r);
}

}  // namespace signorini
