#include "solvers/ca.h"

#include <utility>

#include "contact/delassus_operator.h"
#include "solvers/dense_pattern.h"
#include "solvers/sweep_loop.h"

namespace signorini {

struct Ca::Impl {
  GaussSeidelData data;
  SweepLoop loop;
  BestIterate best;
};

void Ca::Options::validate() const {
  if (!(max_gib > 0.0)) throw_usage("solver 'ca': max_gib = {} must be positive", max_gib);
}

Ca::Ca(const Options& options) : options_(options), impl_(std::make_unique<Impl>()) {}
Ca::~Ca() = default;

std::string Ca::unsupported_reason(const ContactProblem& problem) const {
  return dense_refusal(problem.contacts(), island_labels(problem), options_.max_gib);
}

std::string Ca::island_refusal(Index contacts) const { return dense_refusal(contacts, {}, options_.max_gib); }

void Ca::prepare(const ContactProblem& problem) {
  ReducedProblem reduced = assemble_reduced(problem, arena());
  prepare_filled(fill_pattern(reduced.W, island_labels(problem)), std::move(reduced.q), problem.mu);
}

void Ca::prepare_island(ReducedProblem problem, Vector mu) {
  prepare_filled(fill_pattern(problem.W), std::move(problem.q), std::move(mu));
}

void Ca::prepare_filled(BlockSparseMatrix W, Vector q, Vector mu) {
  Impl& s = *impl_;
  const Index contacts = W.block_rows;
  const TangentStep step =
      options_.common.law == FrictionLaw::cone ? TangentStep::scalar : TangentStep::componentwise;
  s.data = make_gauss_seidel_data(std::move(W), std::move(q), std::move(mu), options_.common.law, step);
  s.loop.prepare(contacts);
  s.best.resize(static_cast<std::size_t>(s.data.q.size()));
}

SolveReport Ca::solve(std::span<double> r, const StopRule& rule, IterationObserver* observer) {
  Impl& s = *impl_;
  const StopTest stop(rule, velocity_scale(s.data.q));
  if (r.empty()) return nothing_to_solve();
  make_finite(r);
  s.best.forget();
  if (observer != nullptr) observer->on_iteration(0, r, "");
  auto sweep = [&](std::span<double> x) { return gauss_seidel_sweep(s.data, x); };
  const PhaseReport phase =
      s.loop.run(s.data, sweep, r, {stop.max_iterations(), 0, "", {}}, stop, PaperRules{}, observer, s.best);
  return finish_solve(phase, stop, s.best, r);
}

}  // namespace signorini
