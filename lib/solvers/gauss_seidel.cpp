#include "solvers/gauss_seidel.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace signorini {
namespace {

double largest_eigenvalue(double a, double b, double c, double d) {
  return 0.5 * (a + d) + std::hypot(0.5 * (a - d), 0.5 * (b + c));
}

double clamp_to(double value, double bound) { return std::min(std::max(value, -bound), bound); }

/// Factor that brings a vector of squared length s onto the disc.
double disc_factor(double s, double bound) { return s > bound * bound ? bound / std::sqrt(s) : 1.0; }

}  // namespace

GaussSeidelData make_gauss_seidel_data(BlockSparseMatrix W, Vector q, Vector mu, FrictionLaw law, TangentStep tangent_step) {
  SIGNORINI_CHECK(W.block_rows == W.block_columns);
  SIGNORINI_CHECK(q.size() == 3 * static_cast<Eigen::Index>(W.block_rows) && mu.size() == W.block_rows);
  GaussSeidelData data;
  data.law = law;
  data.tangent_step = tangent_step;
  data.diagonal.resize(static_cast<std::size_t>(W.block_rows));
  data.tangent_stiffness.resize(W.block_rows);
  for (Index k = 0; k < W.block_rows; ++k) {
    const Matrix3 D = diagonal_block(W, k);
    data.diagonal[static_cast<std::size_t>(k)] = D;
    data.tangent_stiffness[k] = largest_eigenvalue(D(1, 1), D(1, 2), D(2, 1), D(2, 2));
  }
  data.W = std::move(W);
  data.q = std::move(q);
  data.mu = std::move(mu);
  return data;
}

double gauss_seidel_sweep(const GaussSeidelData& data, std::span<double> r) {
  SIGNORINI_CHECK(r.size() == static_cast<std::size_t>(data.q.size()));
  double largest = 0.0;
  for (Index k = 0; k < data.contacts(); ++k) {
    double* rk = r.data() + 3 * static_cast<std::size_t>(k);
    const Matrix3& D = data.diagonal[static_cast<std::size_t>(k)];
    if (!(D(0, 0) > 0.0)) {
      rk[0] = rk[1] = rk[2] = 0.0;
      continue;
    }
    // u_k = Σ_j W_kj r_j + q_k
    Vector3 u = data.q.segment<3>(3 * k);
    for (Index b = data.W.row_begin[static_cast<std::size_t>(k)]; b < data.W.row_begin[static_cast<std::size_t>(k) + 1]; ++b) {
      const Eigen::Map<const Vector3> rj(r.data() + 3 * static_cast<std::size_t>(data.W.column[static_cast<std::size_t>(b)]));
      u += Eigen::Map<const Matrix3>(data.W.block(b)) * rj;
    }
    const double r_N = std::max(0.0, rk[0] - u[0] / D(0, 0));
    const double d_N = r_N - rk[0];
    rk[0] = r_N;
    u += D.col(0) * d_N;
    const double bound = data.mu[k] * r_N;
    const double old1 = rk[1], old2 = rk[2];
    double correction = 0.0;
    if (data.law == FrictionLaw::pyramid || data.tangent_step == TangentStep::componentwise) {
      const bool clamped = data.law == FrictionLaw::pyramid;
      if (D(1, 1) > 0.0) rk[1] -= u[1] / D(1, 1);
      if (clamped) rk[1] = clamp_to(rk[1], bound);
      u += D.col(1) * (rk[1] - old1);
      if (D(2, 2) > 0.0) rk[2] -= u[2] / D(2, 2);
      if (clamped) rk[2] = clamp_to(rk[2], bound);
      if (!clamped) {
        const double factor = disc_factor(rk[1] * rk[1] + rk[2] * rk[2], bound);
        rk[1] *= factor;
        rk[2] *= factor;
      }
      const double c1 = (rk[1] - old1) * D(1, 1), c2 = (rk[2] - old2) * D(2, 2);
      correction = c1 * c1 + c2 * c2;
    } else {
      const double lambda = data.tangent_stiffness[k];
      const double step = lambda > 0.0 ? 1.0 / lambda : 0.0;
      rk[1] -= step * u[1];
      rk[2] -= step * u[2];
      const double factor = disc_factor(rk[1] * rk[1] + rk[2] * rk[2], bound);
      rk[1] *= factor;
      rk[2] *= factor;
      const double c1 = (rk[1] - old1) * lambda, c2 = (rk[2] - old2) * lambda;
      correction = c1 * c1 + c2 * c2;
    }
    const double c_N = d_N * D(0, 0);
    largest = std::max(largest, correction + c_N * c_N);
  }
  return std::sqrt(largest);
}

double alart_curnier_error(const GaussSeidelData& data, std::span<const double> r, std::span<double> u) {
  SIGNORINI_CHECK(r.size() == static_cast<std::size_t>(data.q.size()) && u.size() == r.size());
  multiply(data.W, r, u);
  double largest = 0.0;
  for (Index k = 0; k < data.contacts(); ++k) {
    const double* rk = r.data() + 3 * static_cast<std::size_t>(k);
    double* uk = u.data() + 3 * static_cast<std::size_t>(k);
    for (int i = 0; i < 3; ++i) uk[i] += data.q[3 * k + i];
    const double W_NN = data.diagonal[static_cast<std::size_t>(k)](0, 0);
    const double lambda = data.tangent_stiffness[k];
    if (!(W_NN > 0.0)) {
      const double violated = std::min(0.0, uk[0]);
      largest = std::max(largest, violated * violated);
      continue;
    }
    // e_N = (r_N − p_N) W_NN with p_N = max(0, r_N − u_N/W_NN), which is min(r_N W_NN, u_N)
    const double e_N = std::min(rk[0] * W_NN, uk[0]);
    const double bound = data.mu[k] * std::max(0.0, rk[0] - uk[0] / W_NN);
    const double step = lambda > 0.0 ? 1.0 / lambda : 0.0;
    double t1 = rk[1] - step * uk[1], t2 = rk[2] - step * uk[2];
    if (data.law == FrictionLaw::pyramid) {
      t1 = clamp_to(t1, bound);
      t2 = clamp_to(t2, bound);
    } else {
      const double factor = disc_factor(t1 * t1 + t2 * t2, bound);
      t1 *= factor;
      t2 *= factor;
    }
    const double e1 = (rk[1] - t1) * lambda, e2 = (rk[2] - t2) * lambda;
    largest = std::max(largest, e_N * e_N + e1 * e1 + e2 * e2);
  }
  return std::sqrt(largest);
}

}  // namespace signorini
