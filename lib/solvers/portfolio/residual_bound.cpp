#include "solvers/portfolio/residual_bound.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/roots.h"

namespace signorini {

namespace {

constexpr double kShareOfVelocity = 0.1;  ///< of the target that the error of u may take, point 3 counted in
constexpr double kLeastTolerance = 1e-15;

/// W_D over an eigenvalue of D⁻¹ M.
InverseMass over(const InverseMass& W, double eigenvalue) {
  return {W.normal / eigenvalue, W.tangent / eigenvalue};
}

}  // namespace

double bound_contact_error(FrictionLaw law, const InverseMassRange& range, double mu, const double* r,
                           const double* u, double slack) {
  const InverseMass &low = range.least, &high = range.most;
  if (!(high.normal > 0.0)) return std::max(0.0, -u[0]) + slack;
  const double at_low = std::abs(std::min(low.normal * r[0], u[0]));
  const double e_N = std::max(at_low, std::abs(std::min(high.normal * r[0], u[0])));
  const Vector2 r_T(r[1], r[2]), u_T(u[1], u[2]);
  const double box = is_cone(law) ? 1.0 : std::numbers::sqrt2;
  const double least_p = std::max(0.0, r[0] - std::max(0.0, u[0] + slack) / low.normal);
  const double drift = low.normal > 0.0 ? mu * high.tangent / low.normal : 0.0;
  if (r_T.norm() + (u_T.norm() + slack) / low.tangent <= mu * least_p)
    return hypotenuse(e_N, u_T.norm()) + 2.0 * slack;
  const double radius = mu * std::max(0.0, r[0]), lambda = high.tangent;
  const Vector2 x = project_tangent(law, r_T, radius);
  const double outside = (r_T - x).norm();
  const double moved =
      lambda > 0.0 ? lambda * (x - project_tangent(law, x - u_T / lambda, radius)).norm() : 0.0;
  const double e_T = 2.0 * lambda * outside + moved + box * drift * at_low;
  return hypotenuse(e_N, e_T) + slack * (2.0 + box * drift);
}

bool ResidualBound::prepare(PrimalSystem& system, const Vector& f, TaskArena* arena) {
  system_ = &system;
  spectrum_ = system.spectrum;
  if (!spectrum_.known()) return false;
  // pairs and padding have the eigenvalue 1
  spectrum_.low = std::min(spectrum_.low, 1.0);
  spectrum_.high = std::max(spectrum_.high, 1.0);
  force_ = Vector::Zero(static_cast<Eigen::Index>(system.size()));
  force_.head(f.size()) = f;
  b_.assign(system.size(), 0.0);
  u_.assign(3 * static_cast<std::size_t>(system.contacts()), 0.0);
  reach_.resize(system.contacts());
  farthest_ = sharpest_ = 0.0;
  for (std::size_t k = 0; k < reach_.size(); ++k) {
    reach_[k] = std::sqrt(std::max(0.0, system.W_D_diagonal[k].trace()) / spectrum_.low);
    farthest_ = std::max(farthest_, reach_[k]);
    const InverseMass& W = system.inverse_mass[k];
    const double drift =
        W.normal > 0.0 ? system.mu[static_cast<Eigen::Index>(k)] * condition() * W.tangent / W.normal : 0.0;
    sharpest_ = std::max(sharpest_, reach_[k] * (2.0 + std::numbers::sqrt2 * drift));
  }
  const double free = PrimalSystem::kFreeTolerance * system.mass_norm(span_of(force_), arena);
  least_scale_ = system.scale - farthest_ * free / std::sqrt(spectrum_.low);
  return least_scale_ > 0.0;
}

double ResidualBound::measure(std::span<const double> r, std::span<double> v, double target, int limit,
                              TaskArena* arena) {
  PrimalSystem& system = *system_;
  std::fill(b_.begin(), b_.end(), 0.0);
  system.impulse(r, b_, arena);
  for (std::size_t i = 0; i < b_.size(); ++i) b_[i] += force_[static_cast<Eigen::Index>(i)];
  const double size = system.mass_norm(b_, arena), root = std::sqrt(spectrum_.low);
  const double wanted =
      sharpest_ > 0.0 && size > 0.0 ? kShareOfVelocity * target * root / (sharpest_ * size) : 1.0;
  const CgReport report = system.solve_mass(b_, v, std::max(wanted, kLeastTolerance), limit, arena);
  products_ = report.iterations + 2;
  system.relative_velocity(v, u_, arena);
  const double energy = report.residual * size / root;  // of the error of v, in the norm of M
  double largest = 0.0;
  bool finite = std::isfinite(energy);
  for (std::size_t k = 0; k < reach_.size(); ++k) {
    const InverseMassRange range{over(system.inverse_mass[k], spectrum_.high),
                                 over(system.inverse_mass[k], spectrum_.low)};
    const double bound = bound_contact_error(system.law, range, system.mu[static_cast<Eigen::Index>(k)],
                                             r.data() + 3 * k, u_.data() + 3 * k, reach_[k] * energy);
    finite = finite && std::isfinite(bound);
    largest = std::max(largest, bound);
  }
  return finite ? largest : std::numeric_limits<double>::infinity();
}

}  // namespace signorini
