#include "solvers/pcg.h"

#include <algorithm>
#include <utility>

#include "contact/delassus_operator.h"

namespace signorini {

struct Pcg::Impl {
  GaussSeidelData data;
  ProjectedCg cg;
  BestIterate best;
};

void Pcg::Options::validate() const {
  kernel.validate("solver 'pcg'");
  if (!(powell >= 0.0)) throw_usage("solver 'pcg': powell = {} is negative", powell);
  paper.validate("solver 'pcg'");
}

Pcg::Pcg(const Options& options) : options_(options), impl_(std::make_unique<Impl>()) {}
Pcg::~Pcg() = default;

std::string Pcg::unsupported_reason(const ContactProblem& problem) const {
  return island_refusal(problem.contacts());
}

std::string Pcg::island_refusal(Index contacts) const { return options_.kernel.refusal(contacts); }

void Pcg::prepare(const ContactProblem& problem) {
  prepare_island(assemble_reduced(problem, arena()), problem.mu);
}

void Pcg::prepare_island(ReducedProblem problem, Vector mu) {
  Impl& s = *impl_;
  s.data = make_gauss_seidel_data(options_.kernel.stored(std::move(problem.W)), std::move(problem.q),
                                  std::move(mu), options_.common.law, TangentStep::scalar);
  s.cg.prepare(s.data);
  s.best.resize(static_cast<std::size_t>(s.data.q.size()));
}

SolveReport Pcg::solve(std::span<double> r, const StopRule& rule, IterationObserver* observer) {
  Impl& s = *impl_;
  const StopTest stop(rule, velocity_scale(s.data.q));
  if (r.empty()) return nothing_to_solve();
  make_finite(r);
  s.best.forget();
  if (observer != nullptr) observer->on_iteration(0, r, "");

  ProjectedCg::Settings settings;
  settings.beta = options_.beta;
  settings.form = options_.form;
  settings.powell = options_.powell;
  settings.phase = {stop.max_iterations(), 0, "", {}};
  PaperRules rules;
  if (options_.stop == StopKind::paper) {
    rules = PaperRules(options_.paper, impulse_scale(s.data, stop.scale()), stop.scale());
    if (!stop.fixed()) settings.phase.cap = std::min(settings.phase.cap, 2 * static_cast<int>(r.size()));
  }
  const PhaseReport phase = s.cg.run(settings, r, stop, rules, observer, s.best);
  return finish_solve(phase, stop, s.best, r);
}

}  // namespace signorini
