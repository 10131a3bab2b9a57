#include "solvers/schwarz/schwarz.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "solvers/registry.h"

namespace signorini {
namespace {

std::unique_ptr<Solver> make_inner(const SchwarzOptions& options) {
  if (options.inner == Schwarz::kName)
    throw_usage("solver 'schwarz': inner = schwarz would call itself without end");
  std::unique_ptr<Solver> inner =
      make_solver(options.inner, {{"law", std::string(enum_name(options.common.law))}});
  const auto* solver = dynamic_cast<const DelassusSolver*>(inner.get());
  if (solver == nullptr || !solver->follows_free_velocity())
    throw_usage(
        "solver 'schwarz': inner = {} cannot solve subdomains, which have W and a q that changes; take nncg, "
        "pgs, nsgs, pcg or newton",
        options.inner);
  return inner;
}

}  // namespace

void SchwarzOptions::validate() const {
  if (inner_iterations < 1)
    throw_usage("solver 'schwarz': inner_iterations = {} is not at least 1", inner_iterations);
  if (size < 1) throw_usage("solver 'schwarz': size = {} is not at least 1", size);
  if (overlap < 0) throw_usage("solver 'schwarz': overlap = {} is negative", overlap);
  if (!(strength >= 0.0)) throw_usage("solver 'schwarz': strength = {} must be at least 0", strength);
  if (!(damping > 0.0 && damping <= 1.0))
    throw_usage("solver 'schwarz': damping = {} must be in (0, 1]", damping);
}

Schwarz::Schwarz(const Options& options) : RegisteredSolver(options), inner_(make_inner(options)) {}

std::string Schwarz::island_refusal(Index contacts) const {
  const Index size = std::min<Index>(contacts, options_.size);
  return inner_->island_refusal(options_.overlap > 0 ? contacts : std::min(contacts, size + size / 2));
}

void Schwarz::prepare_island(ReducedProblem problem, Vector mu) {
  const FrictionLaw law = options_.common.law;
  set_data(make_gauss_seidel_data(std::move(problem.W), std::move(problem.q), std::move(mu), law,
                                  natural_tangent_step(law)));
  const Index size = std::max<Index>(1, std::min<Index>(data_.contacts(), options_.size));
  const SubdomainOptions cut{size, options_.overlap, options_.strength};
  steps_.prepare(data_, cut, *inner_, options_.outer);
}

SolveReport Schwarz::solve(std::span<double> r, const StopRule& rule, IterationObserver* observer) {
  inner_rule_ = {};
  inner_rule_.time_limit = rule.time_limit;
  inner_rule_.cancelled = rule.cancelled;
  inner_rule_.max_iterations = options_.inner_iterations;
  return DelassusSolver::solve(r, rule, observer);
}

Iteration Schwarz::start(std::span<double> r, const StopTest& stop) {
  reset_counters();
  release_fixed(data_, r);
  steps_.start(inner_rule_, options_.damping, stop.scale());
  Iteration iteration;
  iteration.error = judge(r);
  return iteration;
}

double Schwarz::judge(std::span<const double> r) {
  ++products_;
  error_ = alart_curnier_error(data_, r, u_, arena_);
  steps_.aim(error_);
  return error_;
}

Iteration Schwarz::iterate(std::span<double> r) {
  const SweepStep step = steps_.step(r, arena_);
  counters_.contact_sweeps += steps_.sweep().inner_iterations();
  counters_.restarts = steps_.restarts();
  counters_.guards = steps_.guards();
  products_ += std::llround(steps_.sweep().products());
  Iteration iteration;
  const double before = error_;
  iteration.error = judge(r);
  // What acceleration made of r may be good enough for every subdomain; the next one asks for more.
  iteration.exhausted = step.square == 0.0 && !(error_ < before);
  return iteration;
}

}  // namespace signorini
