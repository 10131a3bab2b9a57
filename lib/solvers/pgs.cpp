#include "solvers/pgs.h"

#include <Eigen/Eigenvalues>
#include <cmath>
#include <vector>

#include "contact/delassus_operator.h"
#include "solvers/stop_test.h"

namespace signorini {

namespace {

Vector2 project_tangent(FrictionLaw law, const Vector2& x, double bound) {
  if (law == FrictionLaw::pyramid) return x.cwiseMax(-bound).cwiseMin(bound);
  const double length = x.norm();
  return length > bound ? Vector2(x * (bound / length)) : x;
}

}  // namespace

struct Pgs::Impl {
  BlockSparseMatrix W;
  Vector q;
  Vector mu;
  Vector step;       // 3m: 1/W_NN, 1/λ_max(W_TT) twice (cone) or 1/W_jj (pyramid)
  FrictionLaw law = FrictionLaw::cone;
  std::vector<Index> diagonal;
  BestIterate best;
  std::vector<double> u;

  Vector3 velocity(Index k, std::span<const double> r) const {
    Vector3 u_k = q.segment<3>(3 * k);
    for (Index b = W.row_begin[static_cast<std::size_t>(k)]; b < W.row_begin[static_cast<std::size_t>(k) + 1]; ++b) {
      const Eigen::Map<const Matrix3> block(W.block(b));
      u_k += block * Eigen::Map<const Vector3>(r.data() + 3 * W.column[static_cast<std::size_t>(b)]);
    }
    return u_k;
  }
  double sweep(std::span<double> r) const {
    double largest = 0.0;
    for (Index k = 0; k < W.block_rows; ++k) {
      Vector3 u_k = velocity(k, r);
      const Eigen::Map<const Matrix3> D(W.block(diagonal[static_cast<std::size_t>(k)]));
      const Vector3 rho = step.segment<3>(3 * k);
      Eigen::Map<Vector3> r_k(r.data() + 3 * k);
      const Vector3 old = r_k;
      r_k[0] = std::max(0.0, r_k[0] - rho[0] * u_k[0]);
      u_k += D.col(0) * (r_k[0] - old[0]);
      const double bound = mu[k] * r_k[0];
      if (law == FrictionLaw::cone) {
        r_k.tail<2>() = project_tangent(law, r_k.tail<2>() - rho[1] * u_k.tail<2>(), bound);
      } else {
        r_k[1] = std::clamp(r_k[1] - rho[1] * u_k[1], -bound, bound);
        r_k[2] = std::clamp(r_k[2] - rho[2] * (u_k[2] + D(2, 1) * (r_k[1] - old[1])), -bound, bound);
      }
      const Vector3 change = (r_k - old).cwiseQuotient(rho);
      largest = std::max(largest, change.norm());
    }
    return largest;
  }
  double error(std::span<const double> r) const {
    double largest = 0.0;
    for (Index k = 0; k < W.block_rows; ++k) {
      const Vector3 u_k = velocity(k, r);
      const Vector3 rho = step.segment<3>(3 * k);
      const double rho_t = std::min(rho[1], rho[2]);
      const Eigen::Map<const Vector3> r_k(r.data() + 3 * k);
      const double p = std::max(0.0, r_k[0] - rho[0] * u_k[0]);
      const Vector2 t = project_tangent(law, r_k.tail<2>() - rho_t * u_k.tail<2>(), mu[k] * p);
      const double e_n = (r_k[0] - p) / rho[0];
      largest = std::max(largest, std::hypot(e_n, (r_k.tail<2>() - t).norm() / rho_t));
    }
    return largest;
  }
};

Pgs::Pgs(const Options& options) : options_(options), impl_(std::make_unique<Impl>()) {}
Pgs::~Pgs() = default;
std::string Pgs::unsupported_reason(const ContactProblem&) const { return ""; }

void Pgs::prepare(const ContactProblem& problem) {
  Impl& s = *impl_;
  s.W = assemble_delassus(problem);
  s.q = assemble_q(problem);
  s.mu = problem.mu;
  s.law = options_.common.law;
  s.step.resize(3 * problem.contacts());
  s.diagonal.resize(static_cast<std::size_t>(problem.contacts()));
  for (Index k = 0; k < problem.contacts(); ++k) {
    Index b = s.W.row_begin[static_cast<std::size_t>(k)];
    while (s.W.column[static_cast<std::size_t>(b)] != k) ++b;
    s.diagonal[static_cast<std::size_t>(k)] = b;
    const Eigen::Map<const Matrix3> D(s.W.block(b));
    const Eigen::SelfAdjointEigenSolver<Eigen::Matrix2d> eigen(D.bottomRightCorner<2, 2>(), Eigen::EigenvaluesOnly);
    s.step[3 * k] = 1.0 / D(0, 0);
    for (int j = 1; j < 3; ++j) {
      s.step[3 * k + j] = 1.0 / (s.law == FrictionLaw::cone ? eigen.eigenvalues()[1] : D(j, j));
    }
  }
  s.best.resize(3 * static_cast<std::size_t>(problem.contacts()));
}

SolveReport Pgs::solve(std::span<double> r, const StopRule& rule, IterationObserver* observer) {
  Impl& s = *impl_;
  const StopTest stop(rule, velocity_scale({s.q.data(), static_cast<std::size_t>(s.q.size())}));
  SolveReport report;
  make_finite(r);
  report.status = SolveStatus::iteration_limit;
  double error = s.error(r);
  while (true) {
    if (observer != nullptr) observer->on_iteration(report.iterations, r, "");
    if (r.empty() || stop.met(error)) report.status = SolveStatus::converged;
    if (r.empty() || stop.met(error) || report.iterations >= stop.max_iterations()) break;
    if (stop.out_of_time()) {
      report.status = SolveStatus::time_limit;
      break;
    }
    s.sweep(r);
    ++report.iterations;
    ++report.products;
    if (stop.judging()) error = s.error(r);
  }
  report.own_residual = stop.relative(error);
  return report;
}

}  // namespace signorini
