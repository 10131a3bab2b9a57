#include "solvers/reference.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <vector>

#include "base/clock.h"
#include "contact/delassus_operator.h"
#include "solvers/one_contact.h"

namespace signorini {

namespace {

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

  Vector r, u, best, trial, step;
  Rows jacobian;
  bool newton = false;

  Index contacts() const { return static_cast<Index>(mu.size()); }
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
    const Matrix3& D = diagonal[static_cast<std::size_t>(k)];
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
  Vector2 projected = y;
  if (law == FrictionLaw::pyramid) {
    projected = y.cwiseMin(bound).cwiseMax(-bound);
  } else if (y.norm() > bound) {
    projected *= bound / y.norm();
  }
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
    if (law == FrictionLaw::pyramid) {
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

void Reference::Options::validate() const {
  if (newton_contacts < 0)
    throw_usage("solver 'reference': newton_contacts = {} is negative", newton_contacts);
}

Reference::Reference(const Options& options) : options_(options), impl_(std::make_unique<Impl>()) {}
Reference::~Reference() = default;
std::string Reference::unsupported_reason(const ContactProblem&) const { return ""; }

void Reference::prepare(const ContactProblem& problem) {
  Impl& s = *impl_;
  ReducedProblem reduced = assemble_reduced(problem);
  s.W = to_scalar(reduced.W);
  s.q = std::move(reduced.q);
  s.mu = problem.mu;
  s.law = options_.common.law;
  const Index m = problem.contacts();
  s.scale = m > 0 && s.q.cwiseAbs().maxCoeff() > 0.0 ? s.q.cwiseAbs().maxCoeff() : 1.0;
  s.rho_n = Vector::Zero(m);
  s.rho_t = Vector::Zero(m);
  s.diagonal.assign(static_cast<std::size_t>(m), Matrix3::Zero());
  for (Index k = 0; k < m; ++k) {
    Matrix3& D = s.diagonal[static_cast<std::size_t>(k)];
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
  for (Vector* x : {&s.r, &s.u, &s.best, &s.trial, &s.step}) *x = Vector::Zero(3 * m);
  if (s.newton) s.jacobian.resize(3 * m, 3 * m);
}

SolveReport Reference::solve(std::span<double> r, const StopRule& stop, IterationObserver* observer) {
  constexpr int kFirstWait = 20;   // sweeps before the first Newton attempt, doubled after every failure
  constexpr int kPatience = 3000;  // iterations without any progress
  Impl& s = *impl_;
  const Stopwatch watch;
  const double scale = stop.velocity_scale > 0.0 ? stop.velocity_scale : s.scale;
  const double tolerance = stop.fixed_iterations ? -1.0 : 0.999 * stop.residual * scale;
  SolveReport report;
  report.status = SolveStatus::iteration_limit;
  s.r = Eigen::Map<const Vector>(r.data(), static_cast<Eigen::Index>(r.size()));
  if (!s.r.allFinite()) s.r.setZero();
  if (observer != nullptr) observer->on_iteration(0, {s.r.data(), r.size()}, "");

  double error = s.error(s.r, s.u);
  double least = error;
  s.best = s.r;
  int wait = kFirstWait;
  int sweeps = 0;
  int last_progress = 0;
  bool newton = false;  // the last step was a Newton step that worked
  while (true) {
    if (r.empty() || error <= tolerance) {
      report.status = SolveStatus::converged;
      break;
    }
    if (report.iterations >= stop.max_iterations) break;
    if (is_cancelled(stop.cancelled) || watch.seconds() >= stop.time_limit) {
      report.status = SolveStatus::time_limit;
      break;
    }
    if (!stop.fixed_iterations && report.iterations - last_progress > kPatience) {
      report.status = SolveStatus::stalled;
      break;
    }
    if (s.newton && (newton || sweeps >= wait)) {
      double new_error = error;
      newton = s.newton_step(error, new_error);
      if (!newton) wait = std::min(2 * wait, kPatience);
      sweeps = 0;
    }
    if (!newton) {
      s.sweep(s.r);
      ++sweeps;
      ++report.counters.contact_sweeps;
    }
    error = s.error(s.r, s.u);
    ++report.iterations;
    report.products += 2;
    if (observer != nullptr) {
      IterationProgress progress;
      progress.counters = report.counters;
      observer->on_progress(report.iterations, progress);
      observer->on_iteration(report.iterations, {s.r.data(), r.size()}, newton ? "newton" : "gs");
    }
    if (!std::isfinite(error) || !s.r.allFinite()) {
      report.status = SolveStatus::diverged;
      break;
    }
    if (error < 0.99 * least) last_progress = report.iterations;
    if (error < least) {
      least = error;
      s.best = s.r;
    }
  }
  if (report.status == SolveStatus::diverged || (!stop.fixed_iterations && least < error)) {
    s.r = s.best;
    error = least;
  }
  std::copy(s.r.begin(), s.r.end(), r.begin());
  report.own_residual = error / scale;
  return report;
}

}  // namespace signorini
