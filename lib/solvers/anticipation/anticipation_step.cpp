#include "solvers/anticipation/anticipation_step.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace signorini {

namespace {

/// Sweeps over the contacts at least, where M is its block diagonal.
constexpr int kUncoupledSweeps = 100;

}  // namespace

void AnticipationStep::prepare(const PrimalSystem& system, bool keep_response, TaskArena* threads,
                               SweepOrder order) {
  system_ = &system;
  arena = threads;
  sweep.prepare(system, arena);
  contacts.prepare(system, order);
  const std::size_t n = system.size();
  if (!keep_response) {
    for (auto* x : {&dv, &response, &upper}) x->assign(n, 0.0);
  }
  defect.assign(n, 0.0);
  impulse.assign(n, 0.0);
  of_contacts_.assign(system.pull.size(), 0.0);
  partial_.resize((n + kChunk - 1) / kChunk);
  q_loc_.assign(3 * system.contacts(), 0.0);
}

ContactSweep::Rule AnticipationStep::inner_rule(double enough, double reduction, double error,
                                                int limit) const {
  ContactSweep::Rule rule;
  rule.enough = sweep.coupled() ? std::max(enough, reduction * error) : enough;
  rule.limit = sweep.coupled() ? limit : std::max(limit, kUncoupledSweeps);
  return rule;
}

ContactSweep::Outcome AnticipationStep::run(const Rule& rule, std::span<const double> u,
                                            std::span<double> r) {
  std::copy(response.begin(), response.end(), defect.begin());
  if (!of_contacts_.empty()) {
    each_chunk([&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) defect[i] -= system_->pull[i];
    });
  }
  divide_by_diagonal(defect);
  contact_velocities(system_->H, defect, q_loc_, arena);
  ++counters->direction_products;
  for (std::size_t i = 0; i < q_loc_.size(); ++i) q_loc_[i] = u[i] - q_loc_[i] / rule.omega;
  const ContactSweep::Outcome done = contacts.run(rule.omega, q_loc_, rule.inner, r, arena);
  counters->contact_sweeps += done.sweeps;
  set_impulse(r);
  refine(rule);
  return done;
}

void AnticipationStep::refine(const Rule& rule) {
  ++counters->mass_products;
  if (rule.jacobi) {
    for (std::size_t i = 0; i < defect.size(); ++i) defect[i] = (impulse[i] - response[i]) / rule.omega;
    system_->apply_inverse_diagonal(defect);
    for (std::size_t i = 0; i < defect.size(); ++i) dv[i] += defect[i];
    system_->multiply(dv, response, arena);
    for (std::size_t i = 0; i < defect.size(); ++i) defect[i] = response[i] - impulse[i];
    return;
  }
  std::swap(defect, upper);
  sweep.forward(*system_, impulse, defect, dv, upper, arena);
  each_chunk([&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      defect[i] = upper[i] - defect[i];
      response[i] = impulse[i] + defect[i];
    }
  });
}

void AnticipationStep::set_impulse(std::span<const double> r) {
  if (of_contacts_.empty()) {
    system_->impulse(r, impulse, arena);
  } else {
    system_->impulse(r, of_contacts_, arena);
    each_chunk([&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) impulse[i] = of_contacts_[i] + system_->pull[i];
    });
  }
  ++counters->direction_products;
}

void AnticipationStep::divide_by_diagonal(std::vector<double>& x) const {
  each_chunk(
      [&](std::size_t begin, std::size_t end) { system_->apply_inverse_nodes(x, begin / 3, end / 3); });
  system_->apply_inverse_pairs(x);
}

double AnticipationStep::largest(std::span<const double> x) const {
  each_chunk([&](std::size_t begin, std::size_t end) {
    double most = 0.0;
    for (std::size_t i = begin; i < end; ++i) most = std::max(most, std::abs(x[i]));
    partial_[begin / kChunk] = most;
  });
  double most = 0.0;
  for (const double value : partial_) most = std::max(most, value);
  return most;
}

}  // namespace signorini
