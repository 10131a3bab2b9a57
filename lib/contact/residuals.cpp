#include "contact/residuals.h"

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/roots.h"
#include "contact/align_tangents.h"
#include "contact/body_touches.h"
#include "contact/direction_rows.h"
#include "contact/mass_factor.h"
#include "contact/velocity_scale.h"

namespace signorini {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Vector3 triple(std::span<const double> x, std::size_t k) { return {x[3 * k], x[3 * k + 1], x[3 * k + 2]}; }

bool all_finite(std::span<const double> x) {
  return std::all_of(x.begin(), x.end(), [](double value) { return std::isfinite(value); });
}

/// Largest eigenvalue of the symmetric part of the lower right 2×2 block.
double largest_tangential(const Matrix3& W) {
  const double off = 0.5 * (W(1, 2) + W(2, 1));
  return 0.5 * (W(1, 1) + W(2, 2)) + hypotenuse(0.5 * (W(1, 1) - W(2, 2)), off);
}

/// What the measures need of one contact: scales of the diagonal block, impulse, velocity, friction.
struct ContactState {
  double normal = 0.0;      // 1/ρ_N = W_NN, 1/kg
  double tangential = 0.0;  // 1/ρ_T = λ_max(W_TT), 1/kg
  double mu = 0.0;
  double scaling = 0.0;  // S, 1/kg
  Vector3 r;
  Vector3 u;

  bool fixed() const { return !(normal > 0.0); }
  Vector2 r_T() const { return r.tail<2>(); }
  Vector2 u_T() const { return u.tail<2>(); }
};

/// √(e_N² + ‖e_T‖²), in the form that divides by no ρ:
///   e_N = (r_N − max(0, r_N − ρ_N u_N))/ρ_N = min(W_NN r_N, u_N)
///   e_T = (r_T − P(r_T − ρ_T u_T; μ p_N))/ρ_T = λ r_T − P(λ r_T − u_T; λ μ p_N),   λ = 1/ρ_T
template <class Law>
double alart_curnier(const ContactState& c) {
  if (c.fixed()) return std::max(0.0, -c.u[0]);
  const double e_N = std::min(c.normal * c.r[0], c.u[0]);
  const double p_N = std::max(0.0, c.r[0] - c.u[0] / c.normal);
  const double lambda = c.tangential;
  const Vector2 e_T =
      lambda * c.r_T() - Law::project_tangent(lambda * c.r_T() - c.u_T(), lambda * c.mu * p_N);
  return hypotenuse(e_N, e_T.norm());
}

/// ‖r − P_K(r − ρ û)‖/ρ = ‖s r − P_K(s r − û)‖, s = 1/ρ = max(W_NN, λ_max(W_TT)).
double natural_map(const ContactState& c) {
  if (c.fixed()) return std::max(0.0, -c.u[0]);
  const FrictionCone cone{c.mu};
  const double s = std::max(c.normal, c.tangential);
  return (s * c.r - cone.project(s * c.r - cone.de_saxce(c.u))).norm();
}

/// x + y − √(x² + y²), without cancellation where both are positive.
double fischer_burmeister(double x, double y) {
  const double root = hypotenuse(x, y);
  return x > 0.0 && y > 0.0 ? 2.0 * (x / (x + y + root)) * y : x + y - root;
}

/// Largest |φ(x, y)|: normal x = W_NN r_N, y = u_N; friction x = W_NN (μ r_N − ‖r_T‖), y = ‖u_T‖ (per
/// component: pyramid).
double fischer_burmeister(const ContactState& c, FrictionLaw law) {
  const double bound = c.mu * c.r[0];
  double worst = std::abs(fischer_burmeister(c.normal * c.r[0], c.u[0]));
  if (c.fixed()) return worst;
  const auto friction = [&](double impulse, double speed) {
    worst = std::max(worst, std::abs(fischer_burmeister(c.normal * (bound - impulse), speed)));
  };
  with_law(law, [&](auto type) {
    using Law = decltype(type);
    for (Eigen::Index i = 1; i < 3; i += Law::kPartSize)
      friction(c.r.segment<Law::kPartSize>(i).norm(), c.u.segment<Law::kPartSize>(i).norm());
  });
  return worst;
}

/// The error of eq. 24 by class of constraint, m/s: its largest value so far.
struct ClassErrors {
  double normal = 0.0, sticking = 0.0, sliding = 0.0;

  void add(const ContactState& c, FrictionLaw law) {
    normal = std::max(normal, std::abs(fischer_burmeister(c.scaling * c.r[0], c.u[0])));
    if (c.fixed()) return;
    const double p_N = std::max(0.0, c.r[0] - c.u[0] / c.normal);
    if (c.r[0] <= 0.0 && p_N <= 0.0) return;
    // λ z = λ r_T − u_T against λ μ p_N, λ = 1/ρ_T
    const Vector2 z = c.tangential * c.r_T() - c.u_T();
    const double bound = c.tangential * c.mu * p_N;
    with_law(law, [&](auto type) {
      using Law = decltype(type);
      for (Eigen::Index j = 0; j < 2; j += Law::kPartSize) {
        const auto part = [j](const auto& x) { return x.template segment<Law::kPartSize>(j).norm(); };
        add_friction(c, part(z) > bound, part(c.r_T()), part(c.u_T()));
      }
    });
  }

 private:
  void add_friction(const ContactState& c, bool slides, double impulse, double speed) {
    if (slides) {
      const double slack = c.scaling * (c.mu * c.r[0] - impulse);
      sliding = std::max(sliding, std::abs(fischer_burmeister(slack, speed)));
    } else {
      sticking = std::max(sticking, speed);
    }
  }
};

/// S = n·D⁻¹n of every contact, D the node blocks on the diagonal of M: node_size × node_size each.
std::vector<double> diagonal_scaling(const SparseRows& M, bool symmetric, Index node_size,
                                     const DirectionRows& H) {
  std::vector<double> scaling(H.contacts(), 0.0);
  Vector direction(node_size);
  Matrix D(node_size, node_size);
  for (Index k = 0; k < H.contacts(); ++k) {
    for (Index e = H.begin[k]; e < H.begin[k + 1];) {
      const Index node = H.dof[e] / node_size;
      direction.setZero();
      for (; e < H.begin[k + 1] && H.dof[e] / node_size == node; ++e)
        direction[H.dof[e] % node_size] = H.coefficient[3 * e];
      D.setZero();
      for (Index i = 0; i < node_size; ++i) {
        for (SparseRows::InnerIterator entry(M, node * node_size + i); entry; ++entry) {
          if (entry.col() / node_size == node) D(i, entry.col() % node_size) = entry.value();
        }
      }
      const Vector solved =
          symmetric ? Vector(D.llt().solve(direction)) : Vector(D.partialPivLu().solve(direction));
      scaling[k] += direction.dot(solved);
    }
  }
  return scaling;
}

/// Degrees between −r_T and u_T.
double dissipation_angle(const ContactState& c) {
  const double cosine = -(c.r[1] * c.u[1] + c.r[2] * c.u[2]);
  const double sine = c.r[1] * c.u[2] - c.r[2] * c.u[1];
  return std::abs(std::atan2(sine, cosine)) * 180.0 / std::numbers::pi;
}

/// max|q| of the island of every contact, 1 where it vanishes (`velocity_scale_of`); empty where the islands are unknown.
std::vector<double> island_scales(const Vector& q, std::span<const Index> islands) {
  if (islands.empty()) return {};
  SIGNORINI_CHECK(3 * count(islands) == q.size());
  std::vector<double> largest(*std::ranges::max_element(islands) + 1, 0.0);
  for (std::size_t k = 0; k < islands.size(); ++k) {
    double& scale = largest[islands[k]];
    scale = std::max(scale, q.segment<3>(static_cast<Eigen::Index>(3 * k)).cwiseAbs().maxCoeff());
  }
  std::vector<double> scales(islands.size());
  for (std::size_t k = 0; k < islands.size(); ++k) {
    scales[k] = velocity_scale_of(largest[islands[k]]);
  }
  return scales;
}

}  // namespace

struct Referee::Impl {
  Index contacts = 0;
  double dt = 0.0;
  Vector mu;
  Vector q;
  double scale = 1.0;                // U
  std::vector<double> island_scale;  // of every contact: U of its island
  Matrix blocks;                     // 3m×3
  std::vector<double> tangential;
  std::vector<double> scaling;  // S

  // primal
  std::optional<MassFactor> mass;
  SparseRows M;
  DirectionRows H;
  Vector f;
  Vector w;
  // dual only
  SparseRows W;

  bool is_primal() const { return mass.has_value(); }
  bool has_islands() const { return !island_scale.empty() || contacts == 0; }

  ContactState state(std::size_t k, std::span<const double> r, std::span<const double> u) const {
    ContactState c;
    c.normal = blocks(3 * k, 0);
    c.tangential = tangential[k];
    c.mu = mu[k];
    c.scaling = scaling[k];
    c.r = triple(r, k);
    c.u = triple(u, k);
    return c;
  }

  Vector velocity(std::span<const double> r) const {
    Vector impulse = f;
    add_impulses(H, r, span_of(impulse));
    Vector v(f.size());
    mass->solve(span_of(impulse), span_of(v));
    return v;
  }

  /// u = Hᵀ v + w
  Vector relative(const Vector& v) const {
    Vector u(w.size());
    contact_velocities(H, span_of(v), span_of(u));
    return u + w;
  }

  Vector relative_velocity(std::span<const double> r) const {
    if (contacts == 0) return Vector();
    if (is_primal()) return relative(velocity(r));
    const Eigen::Map<const Vector> impulse(r.data(), r.size());
    return W * impulse + q;
  }

  double equation(std::span<const double> r, std::span<const double> v) const {
    if (!is_primal() || v.empty()) return kNaN;
    SIGNORINI_CHECK(count(v) == f.size());
    if (!all_finite(v)) return kInfinity;
    // D⁻¹ (M v − H r − f)
    Vector force = f;
    add_impulses(H, r, span_of(force));
    const Eigen::Map<const Vector> given(v.data(), f.size());
    const Vector defect = (M * given - force).cwiseQuotient(Vector(M.diagonal()));
    return defect.cwiseAbs().maxCoeff() / scale;
  }
};

/// 3m×3: the blocks of W on its diagonal.
Matrix diagonal_blocks_of(const SparseRows& W) {
  Matrix blocks = Matrix::Zero(W.rows(), 3);
  for (Index i = 0; i < W.rows(); ++i) {
    for (SparseRows::InnerIterator entry(W, i); entry; ++entry) {
      if (entry.col() / 3 == i / 3) blocks(i, entry.col() % 3) = entry.value();
    }
  }
  return blocks;
}

/// Of a problem with both forms: W and q must be those of M, H, f and w, or solvers that take one form would answer another
/// problem than those that take the other. What is stored has rounding errors times the condition of M.
void check_forms_agree(const ContactProblem& problem, const Vector& q, const Matrix& blocks, double scale) {
  constexpr double kStored = 1e-6;
  const Matrix defect = blocks - diagonal_blocks_of(problem.W);
  const double largest = blocks.size() == 0 ? 0.0 : blocks.cwiseAbs().maxCoeff();
  for (Index k = 0; k < problem.contacts(); ++k) {
    const double of_W = defect.middleRows<3>(3 * k).cwiseAbs().maxCoeff();
    const double of_q = (problem.q - q).segment<3>(3 * k).cwiseAbs().maxCoeff();
    if (of_W <= kStored * largest && of_q <= kStored * scale) continue;
    throw_input(
        "W and q are not those of M, H, f and w: at contact {} W differs by {:.2g} 1/kg, q by {:.2g} m/s; "
        "leave one form out, or "
        "compute W = H'M^-1 H and q = H'M^-1 f + w anew",
        k, of_W, of_q);
  }
}

Referee::Referee(const ContactProblem& problem, std::span<const Index> islands)
    : impl_(std::make_unique<Impl>()) {
  Impl& own = *impl_;
  own.contacts = problem.contacts();
  own.dt = problem.dt;
  own.mu = problem.mu;
  const Eigen::Index rows = 3 * own.contacts;
  own.blocks = Matrix::Zero(rows, 3);
  if (problem.has_primal()) {
    own.mass.emplace(problem.M, problem.node_size());
    own.M = problem.M;
    own.H = make_direction_rows(problem.H, own.contacts);
    own.f = problem.f;
    own.w = problem.w;
    own.q =
        own.contacts == 0 ? Vector() : own.relative(own.velocity(std::vector<double>(3 * own.contacts, 0.0)));
    own.blocks = delassus_diagonal(make_body_touches(own.H, *own.mass), *own.mass);
  } else if (problem.has_dual()) {
    own.W = problem.W;
    own.q = problem.q;
    own.blocks = diagonal_blocks_of(own.W);
  } else {
    // No movable dof at all: u = w whatever r is.
    own.W.resize(rows, rows);
    own.q = problem.w;
  }
  const double largest = own.q.size() == 0 ? 0.0 : own.q.cwiseAbs().maxCoeff();
  own.scale = velocity_scale_of(largest);
  if (problem.has_primal() && problem.has_dual()) check_forms_agree(problem, own.q, own.blocks, own.scale);
  own.island_scale = island_scales(own.q, islands);
  own.tangential.resize(own.contacts);
  for (Index k = 0; k < own.contacts; ++k)
    own.tangential[k] = largest_tangential(own.blocks.middleRows<3>(3 * k));
  if (own.is_primal()) {
    own.scaling = diagonal_scaling(own.M, own.mass->is_symmetric(), problem.node_size(), own.H);
  } else {
    own.scaling.resize(own.contacts);
    for (Index k = 0; k < own.contacts; ++k) own.scaling[k] = own.blocks(3 * k, 0);
  }
}
Referee::~Referee() = default;
Referee::Referee(Referee&&) noexcept = default;
Referee& Referee::operator=(Referee&&) noexcept = default;

double Referee::velocity_scale() const { return impl_->scale; }
const Vector& Referee::q() const { return impl_->q; }
const Matrix& Referee::diagonal_blocks() const { return impl_->blocks; }

Vector Referee::relative_velocity(std::span<const double> r) const {
  SIGNORINI_CHECK(count(r) == 3 * impl_->contacts);
  return impl_->relative_velocity(r);
}

Vector Referee::velocity(std::span<const double> r) const {
  SIGNORINI_CHECK(count(r) == 3 * impl_->contacts);
  return impl_->is_primal() ? impl_->velocity(r) : Vector();
}

namespace {

/// Calls visit(k, contact) in the tangents that the law asks for; false when r or u is not finite.
template <class Visit>
bool visit_contacts(const auto& impl, std::span<const double> r, LawSpec law, const Visit& visit) {
  if (!all_finite(r)) return false;
  Vector u = impl.relative_velocity(r);
  if (!all_finite(span_of(u))) return false;
  std::vector<double> turned(r.begin(), r.end());
  if (is_turned(law)) {
    const std::vector<double> angles = turned_angles(law, span_of(impl.q));
    turn_impulses(turned, angles, +1);
    turn_impulses(span_of(u), angles, +1);
  }
  for (std::size_t k = 0; 3 * k < turned.size(); ++k) visit(k, impl.state(k, turned, span_of(u)));
  return true;
}

double alart_curnier(const ContactState& contact, FrictionLaw law) {
  return with_law(law, [&](auto type) { return alart_curnier<decltype(type)>(contact); });
}

}  // namespace

Residuals Referee::measure(std::span<const double> r, LawSpec law, std::span<const double> v) const {
  SIGNORINI_CHECK(count(r) == 3 * impl_->contacts);
  const bool cone = is_cone(law.law);
  const double U = impl_->scale;
  Residuals result;
  result.residual = result.natural_map = result.fischer_burmeister = 0.0;
  result.cone_violation = result.dissipation_angle = result.island_residual = 0.0;
  double siconos_sum = 0.0;
  double u_sum = 0.0;
  double excess = 0.0;
  double largest_normal = 0.0;
  double closing = 0.0;
  ClassErrors classes;
  bool finite = visit_contacts(*impl_, r, law, [&](std::size_t k, const ContactState& c) {
    const double error = alart_curnier(c, law.law);
    result.residual = std::max(result.residual, error / U);
    if (impl_->has_islands())
      result.island_residual = std::max(result.island_residual, error / impl_->island_scale[k]);
    result.natural_map = std::max(result.natural_map, natural_map(c) / U);
    const FrictionCone friction{c.mu};
    siconos_sum += (c.r - friction.project(c.r - friction.de_saxce(c.u))).squaredNorm();
    u_sum += c.u.squaredNorm();
    result.fischer_burmeister = std::max(result.fischer_burmeister, fischer_burmeister(c, law.law));
    classes.add(c, law.law);
    closing = std::max(closing, -c.u[0]);
    excess = std::max(excess, c.r_T().norm() - c.mu * c.r[0]);
    largest_normal = std::max(largest_normal, c.r[0]);
    if (c.u_T().norm() > 1e-4 * U && c.r_T().norm() > 0.0) {
      result.dissipation_angle = std::max(result.dissipation_angle, dissipation_angle(c));
    }
  });
  if (!finite) {
    Residuals none;
    none.residual = kInfinity;
    return none;
  }
  const double r_norm = std::sqrt(std::inner_product(r.begin(), r.end(), r.begin(), 0.0));
  const double siconos_scale = std::max({impl_->q.norm(), r_norm, std::sqrt(u_sum)});
  result.siconos_error = std::sqrt(siconos_sum);
  if (siconos_scale > std::numeric_limits<double>::epsilon()) result.siconos_error /= siconos_scale;
  if (!cone) result.natural_map = result.siconos_error = kNaN;
  if (!impl_->has_islands()) result.island_residual = kNaN;
  const double metres = impl_->dt > 0.0 ? impl_->dt : kNaN;
  result.penetration = metres * closing;
  result.fb_normal = metres * classes.normal;
  result.fb_static = metres * classes.sticking;
  result.fb_kinetic = metres * classes.sliding;
  if (excess > 0.0) result.cone_violation = largest_normal > 0.0 ? excess / largest_normal : kInfinity;
  result.equation = impl_->equation(r, v);
  return result;
}

void Referee::contact_errors(std::span<const double> r, LawSpec law, std::span<double> errors) const {
  SIGNORINI_CHECK(count(r) == 3 * impl_->contacts && count(errors) == impl_->contacts);
  const bool finite = visit_contacts(*impl_, r, law, [&](std::size_t k, const ContactState& c) {
    errors[k] = alart_curnier(c, law.law) / impl_->scale;
  });
  if (!finite) std::fill(errors.begin(), errors.end(), kInfinity);
}

}  // namespace signorini
