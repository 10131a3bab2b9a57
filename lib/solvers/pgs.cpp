#include "solvers/pgs.h"

#include <algorithm>
#include <utility>

#include "contact/delassus_operator.h"
#include "solvers/dense_pattern.h"
#include "solvers/sweep_loop.h"

namespace signorini {

namespace {

/// Lazarevych 2010 eqs. 14 and 15 as printed: r½ = (L + D)⁻¹(−q − U r), then every contact of r½ is projected
/// (docs/theory.md, C08).
double printed_sweep(const GaussSeidelData& data, std::span<double> r, std::span<double> previous) {
  std::copy(r.begin(), r.end(), previous.begin());
  for (Index k = 0; k < data.contacts(); ++k) {
    const auto row = static_cast<std::size_t>(k);
    Vector3 u = data.q.segment<3>(3 * k);
    for (Index b = data.W.row_begin[row]; b < data.W.row_begin[row + 1]; ++b) {
      const auto column = static_cast<std::size_t>(data.W.column[static_cast<std::size_t>(b)]);
      u += Eigen::Map<const Matrix3>(data.W.block(b)) * Eigen::Map<const Vector3>(r.data() + 3 * column);
    }
    const Matrix3& D = data.diagonal[row];
    for (int j = 0; j < 3; ++j) {
      if (!(D(j, j) > 0.0)) continue;
      const double change = -u[j] / D(j, j);
      r[3 * row + static_cast<std::size_t>(j)] += change;
      u += D.col(j) * change;
    }
  }
  constexpr double kFree[2] = {0.0, 0.0};
  double largest = 0.0;
  for (std::size_t k = 0; k < data.diagonal.size(); ++k) {
    double* r_k = r.data() + 3 * k;
    project_impulse(data.law, data.mu[static_cast<Index>(k)], 0, kFree, r_k);
    const Vector3 change =
        Eigen::Map<const Vector3>(r_k) - Eigen::Map<const Vector3>(previous.data() + 3 * k);
    largest = std::max(largest, change.cwiseProduct(data.diagonal[k].diagonal()).norm());
  }
  return largest;
}

/// The clamp of the pyramid with both steps 1/λ_max(W_TT) instead of 1/W_jj.
void take_scalar_steps(GaussSeidelData& data) {
  for (std::size_t k = 0; k < data.contact.size(); ++k) {
    GaussSeidelContact& contact = data.contact[k];
    const Matrix3& D = data.diagonal[k];
    const double stiffness = std::max(0.0, data.tangent_stiffness[static_cast<Index>(k)]);
    const double step = stiffness > 0.0 ? 1.0 / stiffness : 0.0;
    for (int j = 0; j < 2; ++j) {
      contact.stiffness[1 + j] = stiffness;
      contact.step[1 + j] = step;
      contact.by_normal[j] = step * D(1 + j, 0);
    }
    contact.by_first = step * D(2, 1);
  }
}

TangentStep tangent_step(const Pgs::Options& options) {
  if (options.tangent == PgsTangent::scalar) return TangentStep::scalar;
  if (options.tangent == PgsTangent::componentwise) return TangentStep::componentwise;
  return options.common.law == FrictionLaw::cone ? TangentStep::scalar : TangentStep::componentwise;
}

}  // namespace

struct Pgs::Impl {
  GaussSeidelData data;
  SweepLoop loop;
  BestIterate best;
  std::vector<double> previous;
};

void Pgs::Options::validate() const {
  kernel.validate("solver 'pgs'");
  if (n_max < 1) throw_usage("solver 'pgs': n_max = {} must be at least 1", n_max);
  paper.validate("solver 'pgs'");
}

Pgs::Pgs(const Options& options) : options_(options), impl_(std::make_unique<Impl>()) {}
Pgs::~Pgs() = default;

std::string Pgs::unsupported_reason(const ContactProblem& problem) const {
  return island_refusal(problem.contacts());
}

std::string Pgs::island_refusal(Index contacts) const { return options_.kernel.refusal(contacts); }

void Pgs::prepare(const ContactProblem& problem) {
  prepare_island(assemble_reduced(problem, arena()), problem.mu);
}

void Pgs::prepare_island(ReducedProblem problem, Vector mu) {
  Impl& s = *impl_;
  const Index contacts = problem.W.block_rows;
  s.data = make_gauss_seidel_data(options_.kernel.stored(std::move(problem.W)), std::move(problem.q),
                                  std::move(mu), options_.common.law, tangent_step(options_));
  if (options_.common.law == FrictionLaw::pyramid && options_.tangent == PgsTangent::scalar)
    take_scalar_steps(s.data);
  const auto rows = static_cast<std::size_t>(s.data.q.size());
  s.loop.prepare(contacts);
  s.best.resize(rows);
  s.previous.resize(options_.form == PgsForm::printed ? rows : 0);
}

SolveReport Pgs::solve(std::span<double> r, const StopRule& rule, IterationObserver* observer) {
  Impl& s = *impl_;
  const StopTest stop(rule, velocity_scale(s.data.q));
  if (r.empty()) return nothing_to_solve();
  make_finite(r);
  s.best.forget();
  if (observer != nullptr) observer->on_iteration(0, r, "");

  PhaseSettings settings{stop.max_iterations(), 0, "", {}};
  PaperRules rules;
  if (options_.stop == StopKind::paper) {
    rules = PaperRules(options_.paper, impulse_scale(s.data, stop.scale()), stop.scale());
    if (!stop.fixed()) settings.cap = std::min(settings.cap, options_.n_max);
  }
  auto sweep = [&](std::span<double> x) {
    return options_.form == PgsForm::robust ? gauss_seidel_sweep(s.data, x)
                                            : printed_sweep(s.data, x, s.previous);
  };
  const PhaseReport phase = s.loop.run(s.data, sweep, r, settings, stop, rules, observer, s.best);
  return finish_solve(phase, stop, s.best, r);
}

}  // namespace signorini
