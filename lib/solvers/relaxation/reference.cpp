#include "solvers/relaxation/reference.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <vector>

#include "contact/delassus_operator.h"
#include "solvers/relaxation/one_contact.h"
#include "solvers/stop_test.h"

namespace signorini {

namespace {

/// Sweeps before the first Newton attempt, doubled after every failure.
constexpr int kFirstWait = 20;
/// Iterations without any progress after which there is none to be had.
constexpr int kPatience = 3000;

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Solves A x = b in place by Gaussian elimination with partial pivoting; destroys A. False when a pivot
/// vanishes.
bool solve_in_place(Rows& A, Vector& b) {
  const Eigen::Index n = A.rows();
  for (Eigen::Index k = 0; k < n; ++k) {
    Eigen::Index pivot = k;
    for (Eigen::Index i = k + 1; i < n; ++i) {
      if (std::abs(A(i, k)) > std::abs(A(pivot, k))) pivot = i;
    }
    if (!(std::abs(A(pivot, k)) > 0.0)) return false;
    if (pivot != k) {
      A.row(k).swap(A.row(pivot));
      std::swap(b[k], b[pivot]);
    }
    for (Eigen::Index i = k + 1; i < n; ++i) {
      const double factor = A(i, k) / A(k, k);
      if (factor == 0.0) continue;
      A.row(i).tail(n - k - 1) -= factor * A.row(k).tail(n - k - 1);
      b[i] -= factor * b[k];
    }
  }
  for (Eigen::Index k = n - 1; k >= 0; --k) {
    double sum = b[k];
    for (Eigen::Index j = k + 1; j < n; ++j) sum -= A(k, j) * b[j];
    b[k] = sum / A(k, k);
  }
  return b.allFinite();
}

}  // namespace

struct Reference::Impl {
  SparseRows W;
  Vector q, mu;
  Vector rho_n, rho_t;  // 1/W_NN, 1/λ_max(W_TT); 0 for a contact that cannot move
  std::vector<Matrix3> diagonal;
  FrictionLaw law = FrictionLaw::cone;
  double scale = 1.0;

  Vector r, u, trial, step;
  Rows jacobian;
  bool newton = false;  ///< the problem is small enough for Newton steps

  // of one solve
  bool fixed = false;
  bool stepping = false;  ///< the last iteration was a Newton step that worked
  double last_error = 0.0, least = 0.0;
  int iterations = 0, last_progress = 0;
  int sweeps = 0, wait = 0;  ///< since the last Newton attempt; before the next one
  SolveCounters counters;
  long long products = 0;

  Index contacts() const { return count(mu); }
  void velocity(const Vector& x, Vector& out) const;
  double sweep(Vector& x) const;
  Vector3 contact_residual(Index k, const Vector& x, const Vector& v) const;
  double error(const Vector& x, Vector& v) const;
  void fill_jacobian(const Vector& x, const Vector& v);
  bool newton_step(double old_error, double& new_error);
};

/// out = W x + q, row by row.
void Reference::Impl::velocity(const Vector& x, Vector& out) const {
  for (Eigen::Index i = 0; i < q.size(); ++i) {
    double sum = q[i];
    for (SparseRows::InnerIterator entry(W, i); entry; ++entry) sum += entry.value() * x[entry.col()];
    out[i] = sum;
  }
}

/// One pass over the contacts, each solved exactly with the newest impulses of the others.
double Reference::Impl::sweep(Vector& x) const {
  double largest = 0.0;
  for (Index k = 0; k < contacts(); ++k) {
    const Matrix3& D = diagonal[k];
    const Vector3 old = x.segment<3>(3 * k);
    Vector3 r_k = Vector3::Zero();
    if (D(0, 0) > 0.0) {
      Vector3 b = q.segment<3>(3 * k) - D * old;
      for (int i = 0; i < 3; ++i) {
        for (SparseRows::InnerIterator entry(W, 3 * k + i); entry; ++entry)
          b[i] += entry.value() * x[entry.col()];
      }
      r_k = solve_one_contact(law, mu[k], D, b);
    }
    x.segment<3>(3 * k) = r_k;
    largest = std::max(largest, (D * (r_k - old)).cwiseAbs().maxCoeff());
  }
  return largest;
}

/// F of contact k in m/s.
Vector3 Reference::Impl::contact_residual(Index k, const Vector& x, const Vector& v) const {
  const Vector3 r_k = x.segment<3>(3 * k);
  const Vector3 u_k = v.segment<3>(3 * k);
  if (!(rho_n[k] > 0.0)) return {std::min(0.0, u_k[0]), 0.0, 0.0};
  const double p = std::max(0.0, r_k[0] - rho_n[k] * u_k[0]);
  Vector3 F = Vector3::Zero();
  F[0] = (r_k[0] - p) / rho_n[k];
  if (!(rho_t[k] > 0.0)) return F;
  const Vector2 y = r_k.tail<2>() - rho_t[k] * u_k.tail<2>();
  const double bound = mu[k] * p;
  const Vector2 projected = with_law(law, [&](auto type) -> Vector2 {
    if constexpr (decltype(type)::kPartSize == 1) return y.cwiseMin(bound).cwiseMax(-bound);
    return y.norm() > bound ? Vector2(y * (bound / y.norm())) : y;
  });
  F.tail<2>() = (r_k.tail<2>() - projected) / rho_t[k];
  return F;
}

double Reference::Impl::error(const Vector& x, Vector& v) const {
  velocity(x, v);
  double largest = 0.0;
  for (Index k = 0; k < contacts(); ++k) {
    const double e = contact_residual(k, x, v).norm();
    if (!(e <= largest)) largest = e;
  }
  return largest;
}

/// A generalised Jacobian of F, plus a relative shift of 1e-12 of the diagonal blocks: W may be singular.
void Reference::Impl::fill_jacobian(const Vector& x, const Vector& v) {
  constexpr double kShift = 1e-12;
  jacobian.setZero();
  auto add_row = [&](Eigen::Index row, double factor, Eigen::Index of) {  // row += factor · ∂u_of/∂r
    for (SparseRows::InnerIterator entry(W, of); entry; ++entry)
      jacobian(row, entry.col()) += factor * entry.value();
  };
  for (Index k = 0; k < contacts(); ++k) {
    const Eigen::Index n = 3 * k;
    if (!(rho_n[k] > 0.0) || !(rho_t[k] > 0.0)) {
      for (int i = 0; i < 3; ++i) jacobian(n + i, n + i) = 1.0;
    }
    if (!(rho_n[k] > 0.0)) continue;
    const double p = x[n] - rho_n[k] * v[n];
    const bool open = p <= 0.0;
    if (open) {
      jacobian(n, n) = 1.0 / rho_n[k];
    } else {
      add_row(n, 1.0, n);
      jacobian(n, n) += kShift / rho_n[k];
    }
    if (!(rho_t[k] > 0.0)) continue;
    const double bound = open ? 0.0 : mu[k] * p;
    const Vector2 y = x.segment<2>(n + 1) - rho_t[k] * v.segment<2>(n + 1);
    // ∂P/∂y and ∂P/∂p of the projection P(y; μ p)
    Eigen::Matrix2d by_y = Eigen::Matrix2d::Identity();
    Vector2 by_p = Vector2::Zero();
    with_law(law, [&](auto type) {
      if constexpr (decltype(type)::kPartSize == 1) {
        for (int j = 0; j < 2; ++j) {
          if (std::abs(y[j]) < bound) continue;
          by_y(j, j) = 0.0;
          by_p[j] = open ? 0.0 : std::copysign(mu[k], y[j]);
        }
      } else if (y.norm() >= bound) {
        const double length = y.norm();
        const Vector2 e = length > 0.0 ? Vector2(y / length) : Vector2(0.0, 0.0);
        by_y = length > 0.0
                   ? Eigen::Matrix2d((bound / length) * (Eigen::Matrix2d::Identity() - e * e.transpose()))
                   : Eigen::Matrix2d::Zero();
        by_p = open ? Vector2(0.0, 0.0) : Vector2(mu[k] * e);
      }
    });
    // ρ_T dF_T = dr_T − by_y (dr_T − ρ_T du_T) − by_p (dr_N − ρ_N du_N)
    for (int i = 0; i < 2; ++i) {
      const Eigen::Index row = n + 1 + i;
      for (int j = 0; j < 2; ++j) {
        jacobian(row, n + 1 + j) += ((i == j ? 1.0 + kShift : 0.0) - by_y(i, j)) / rho_t[k];
        add_row(row, by_y(i, j), n + 1 + j);
      }
      jacobian(row, n) -= by_p[i] / rho_t[k];
      add_row(row, by_p[i] * rho_n[k] / rho_t[k], n);
    }
  }
}

/// r + t dr with J dr = −F for the first t of 1, ½, … that lowers the error; false (r untouched) when none
/// does.
bool Reference::Impl::newton_step(double old_error, double& new_error) {
  fill_jacobian(r, u);
  for (Index k = 0; k < contacts(); ++k) step.segment<3>(3 * k) = -contact_residual(k, r, u);
  ++counters.factorisations;
  if (!solve_in_place(jacobian, step)) return false;
  double t = 1.0;
  for (int halving = 0; halving < 6; ++halving, t *= 0.5) {
    trial = r + t * step;
    new_error = error(trial, u);
    if (new_error < (1.0 - 0.1 * t) * old_error) {
      r = trial;
      return true;
    }
  }
  return false;
}

void ReferenceOptions::validate() const {
  if (newton_contacts < 0)
    throw_usage("solver 'reference': newton_contacts = {} is negative", newton_contacts);
}

Reference::Reference(const Options& options) : RegisteredSolver(options), impl_(std::make_unique<Impl>()) {}
Reference::~Reference() = default;

double Reference::velocity_scale() { return impl_->scale; }
std::size_t Reference::phase() const { return impl_->stepping ? 1 : 0; }
const SolveCounters& Reference::counters() { return impl_->counters; }
long long Reference::products() { return impl_->products; }

void Reference::prepare(const ContactProblem& problem) {
  prepare_island(assemble_reduced(problem), problem.mu);
}

void Reference::prepare_island(ReducedProblem problem, Vector mu) {
  Impl& s = *impl_;
  s.W = to_scalar(problem.W);
  s.q = std::move(problem.q);
  s.mu = std::move(mu);
  s.law = options_.common.law;
  const Index m = s.contacts();
  s.scale = signorini::velocity_scale(s.q);
  s.rho_n = Vector::Zero(m);
  s.rho_t = Vector::Zero(m);
  s.diagonal.assign(m, Matrix3::Zero());
  for (Index k = 0; k < m; ++k) {
    Matrix3& D = s.diagonal[k];
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) D(i, j) = s.W.coeff(3 * k + i, 3 * k + j);
    }
    const Eigen::Matrix2d T = 0.5 * (D.bottomRightCorner<2, 2>() + D.bottomRightCorner<2, 2>().transpose());
    const double stiffest =
        Eigen::SelfAdjointEigenSolver<Eigen::Matrix2d>(T, Eigen::EigenvaluesOnly).eigenvalues()[1];
    if (D(0, 0) > 0.0) s.rho_n[k] = 1.0 / D(0, 0);
    if (D(0, 0) > 0.0 && stiffest > 0.0) s.rho_t[k] = 1.0 / stiffest;
  }
  s.newton = m <= options_.newton_contacts;
  for (Vector* x : {&s.r, &s.u, &s.trial, &s.step}) *x = Vector::Zero(3 * m);
  if (s.newton) s.jacobian.resize(3 * m, 3 * m);
  best().resize(3 * m);
}

double Reference::measure(std::span<const double> r, double /*estimate*/) {
  impl_->trial = Eigen::Map<const Vector>(r.data(), r.size());
  return impl_->error(impl_->trial, impl_->u);
}

Iteration Reference::start(std::span<double> r, const StopTest& stop) {
  Impl& s = *impl_;
  s.fixed = stop.fixed();
  s.stepping = false;
  s.iterations = s.last_progress = s.sweeps = 0;
  s.wait = kFirstWait;
  s.counters = {};
  s.products = 0;
  s.r = Eigen::Map<const Vector>(r.data(), r.size());
  s.last_error = s.least = s.error(s.r, s.u);
  Iteration first;
  first.error = s.last_error;
  return first;
}

Iteration Reference::iterate(std::span<double> r) {
  Impl& s = *impl_;
  if (s.newton && (s.stepping || s.sweeps >= s.wait)) {
    double new_error = s.last_error;
    s.stepping = s.newton_step(s.last_error, new_error);
    if (!s.stepping) s.wait = std::min(2 * s.wait, kPatience);
    s.sweeps = 0;
  }
  if (!s.stepping) {
    s.sweep(s.r);
    ++s.sweeps;
    ++s.counters.contact_sweeps;
  }
  s.last_error = s.error(s.r, s.u);
  s.products += 2;
  ++s.iterations;
  std::copy(s.r.begin(), s.r.end(), r.begin());
  if (s.last_error < 0.99 * s.least) s.last_progress = s.iterations;
  s.least = std::min(s.least, s.last_error);
  Iteration iteration;
  iteration.error = s.last_error;
  return iteration;
}

LoopEnd Reference::settle(std::span<double> /*r*/) {
  const bool idle = impl_->iterations - impl_->last_progress > kPatience;
  return idle && !impl_->fixed ? LoopEnd::stuck : LoopEnd::none;
}

}  // namespace signorini
