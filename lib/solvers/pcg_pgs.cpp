#include "solvers/pcg_pgs.h"

#include <algorithm>
#include <utility>

#include "contact/delassus_operator.h"

namespace signorini {

struct PcgPgs::Impl {
  GaussSeidelData data;
  ProjectedCg cg;
  SweepLoop loop;
  BestIterate best;
};

void PcgPgs::Options::validate() const {
  kernel.validate("solver 'pcg-pgs'");
  if (!(tol_cg >= 0.0)) throw_usage("solver 'pcg-pgs': tol_cg = {} is negative", tol_cg);
  if (n_max < 1) throw_usage("solver 'pcg-pgs': n_max = {} must be at least 1", n_max);
  cg.validate("solver 'pcg-pgs', CG phase");
  gs.validate("solver 'pcg-pgs', Gauss-Seidel phase");
  const bool ordered =
      cg.eps >= gs.eps && cg.delta >= gs.delta && cg.eps_inf >= gs.eps_inf && cg.delta_inf >= gs.delta_inf;
  if (!ordered)
    throw_usage("solver 'pcg-pgs': thresholds of the CG phase must not be below those of Gauss-Seidel");
}

PcgPgs::PcgPgs(const Options& options) : options_(options), impl_(std::make_unique<Impl>()) {}
PcgPgs::~PcgPgs() = default;

std::string PcgPgs::unsupported_reason(const ContactProblem& problem) const {
  return island_refusal(problem.contacts());
}

std::string PcgPgs::island_refusal(Index contacts) const { return options_.kernel.refusal(contacts); }

void PcgPgs::prepare(const ContactProblem& problem) {
  prepare_island(assemble_reduced(problem, arena()), problem.mu);
}

void PcgPgs::prepare_island(ReducedProblem problem, Vector mu) {
  Impl& s = *impl_;
  const Index contacts = problem.W.block_rows;
  const TangentStep step =
      options_.common.law == FrictionLaw::cone ? TangentStep::scalar : TangentStep::componentwise;
  s.data = make_gauss_seidel_data(options_.kernel.stored(std::move(problem.W)), std::move(problem.q),
                                  std::move(mu), options_.common.law, step);
  s.cg.prepare(s.data);
  s.loop.prepare(contacts);
  s.best.resize(static_cast<std::size_t>(s.data.q.size()));
}

SolveReport PcgPgs::solve(std::span<double> r, const StopRule& rule, IterationObserver* observer) {
  Impl& s = *impl_;
  const StopTest stop(rule, velocity_scale(s.data.q));
  if (r.empty()) return nothing_to_solve();
  make_finite(r);
  s.best.forget();
  if (observer != nullptr) observer->on_iteration(0, r, "");

  PaperRules cg_rules;
  PaperRules gs_rules;
  const bool paper = options_.stop == StopKind::paper;
  if (paper) {
    const double impulse = impulse_scale(s.data, stop.scale());
    cg_rules = PaperRules(options_.cg, impulse, stop.scale());
    gs_rules = PaperRules(options_.gs, impulse, stop.scale());
  }
  const double handing_on = options_.tol_cg > 0.0 ? options_.tol_cg * stop.scale() : -1.0;
  const int cg_cap = std::min(stop.max_iterations(), 2 * static_cast<int>(r.size()));
  ProjectedCg::Settings settings;
  settings.beta = options_.beta;
  settings.form = options_.form;
  settings.handing_on = handing_on;
  settings.phase = {cg_cap, 0, "cg", {}};
  const PhaseReport first = s.cg.run(settings, r, stop, cg_rules, observer, s.best);
  const bool done = first.end == PhaseEnd::converged || first.end == PhaseEnd::time ||
                    first.iterations >= stop.max_iterations();
  PhaseReport last = first;
  if (!done) {
    s.best.restore(r);
    int gs_cap = stop.max_iterations() - first.iterations;
    if (paper && !stop.fixed()) gs_cap = std::min(gs_cap, options_.n_max);
    auto sweep = [&](std::span<double> x) { return gauss_seidel_sweep(s.data, x); };
    last = s.loop.run(s.data, sweep, r, {gs_cap, first.iterations, "gs", first.counters}, stop, gs_rules,
                      observer, s.best);
    last.iterations += first.iterations;
    last.products += first.products;
    last.counters += first.counters;
  }
  SolveReport report = finish_solve(last, stop, s.best, r);
  report.first_phase = first.iterations;
  return report;
}

}  // namespace signorini
