#include "bodies/neo_hookean.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <array>
#include <cmath>

namespace signorini {

namespace {

using Pair = std::array<int, 2>;
constexpr std::array<Pair, 3> kPairs{{{0, 1}, {0, 2}, {1, 2}}};

/// The point from which the energy is extended linearly; q = σ and t = 1 outside the extension.
struct Anchor {
  Vector3 q;
  double t;
  double log_J;
};

/// t with Π (1 + t d_i) = J₀, given that t = 1 is beyond it. Newton's iteration on the concave ln J, kept in
/// a bracket.
double crossing(const Vector3& d, double limit) {
  constexpr int kIterations = 100;
  // Convergence is quadratic with a factor of t Σ(d/q)²/|Σ d/q| < 1000 for J₀ > 0.1, so that after a step of
  // this size, relative to t, the next would be lost in rounding.
  constexpr double kLastStep = 1e-9;
  double low = 0.0;
  // ln J → −∞ where the first factor vanishes; beyond it there is nothing to look for.
  double high = d.minCoeff() < -1.0 ? -1.0 / d.minCoeff() : 1.0;
  double t = 0.5 * high;
  for (int i = 0; i < kIterations && low < high; ++i) {
    const Vector3 q = Vector3::Ones() + t * d;
    const double excess = std::log(q.prod() / limit);
    (excess > 0.0 ? low : high) = t;
    const double next = t - excess / d.cwiseQuotient(q).sum();
    if (std::abs(next - t) <= kLastStep * t) return next;
    const double middle = 0.5 * (low + high);
    if (middle == low || middle == high) return middle;
    t = next > low && next < high ? next : middle;
  }
  return t;
}

Anchor anchor_of(const NeoHookean& material, const Vector3& sigma) {
  const double J = sigma.prod();
  if (!(sigma.minCoeff() > 0.0 && J >= material.compression_limit)) {
    const Vector3 d = sigma - Vector3::Ones();
    const double t = crossing(d, material.compression_limit);
    return {Vector3::Ones() + t * d, t, std::log(material.compression_limit)};
  }
  return {sigma, 1.0, std::log(J)};
}

/// What the formulas of the extension share.
struct Extension {
  Vector3 e, m, a;
  double c, S, B;
  Extension(const NeoHookean& material, const Anchor& at)
      : e(at.q - Vector3::Ones()),
        m(at.q.cwiseInverse()),
        a(Vector3::Constant(material.mu)),
        c(material.mu - material.lambda * at.log_J) {
    a += c * m.cwiseAbs2();
    S = m.dot(e);
    B = a.dot(e.cwiseAbs2());
  }
  Vector3 turn() const { return a.cwiseProduct(e) - (B / S) * m; }
};

Vector3 gradient(const NeoHookean& material, const Anchor& at) {
  return material.mu * at.q - (material.mu - material.lambda * at.log_J) * at.q.cwiseInverse();
}

double density(const NeoHookean& material, const Anchor& at) {
  return 0.5 * material.mu * (at.q.squaredNorm() - 3.0) +
         at.log_J * (0.5 * material.lambda * at.log_J - material.mu);
}

/// t ∂P/∂q (I − e mᵀ/S) + ∂P/∂t (∂t/∂σ)ᵀ with ∂P/∂t = −w.
Matrix3 extended_diagonal(const Anchor& at, const Extension& x) {
  const double rest = 1.0 - at.t;
  const Vector3 slope = (-2.0 * x.c) * x.m.array().cube();                                  // da_i/dq_i
  const Vector3 grows = 2.0 * x.a.cwiseProduct(x.e) + slope.cwiseProduct(x.e.cwiseAbs2());  // dB/dq_i
  const Vector3 shifts = x.m - x.e.cwiseProduct(x.m.cwiseAbs2());                           // dS/dq_i
  Matrix3 by_q = (x.a + rest * (x.a + slope.cwiseProduct(x.e) + (x.B / x.S) * x.m.cwiseAbs2())).asDiagonal();
  by_q -= (rest / x.S) * x.m * (grows - (x.B / x.S) * shifts).transpose();
  const Matrix3 project = Matrix3::Identity() - x.e * x.m.transpose() / x.S;
  const Matrix3 H = at.t * by_q * project + (at.t * at.t / x.S) * x.turn() * x.m.transpose();
  return 0.5 * (H + H.transpose());
}

}  // namespace

namespace {

PrincipalStress stress_at(const NeoHookean& material, const Vector3& sigma, const Anchor& at) {
  PrincipalStress stress{density(material, at), gradient(material, at)};
  if (at.t == 1.0) return stress;
  stress.energy += stress.P.dot(sigma - at.q);
  stress.P += (1.0 - at.t) * Extension(material, at).turn();
  return stress;
}

}  // namespace

PrincipalStress principal_stress(const NeoHookean& material, const Vector3& sigma) {
  return stress_at(material, sigma, anchor_of(material, sigma));
}

PrincipalResponse principal_response(const NeoHookean& material, const Vector3& sigma) {
  const Anchor at = anchor_of(material, sigma);
  const Extension x(material, at);
  const bool extended = at.t != 1.0;
  PrincipalResponse result;
  result.stress = stress_at(material, sigma, at);
  PrincipalStiffness& stiffness = result.stiffness;
  if (extended) {
    stiffness.diagonal = extended_diagonal(at, x);
  } else {
    stiffness.diagonal = x.a.asDiagonal();
    stiffness.diagonal += material.lambda * x.m * x.m.transpose();
  }
  const Vector3& P = result.stress.P;
  for (int k = 0; k < 3; ++k) {
    const auto [i, j] = kPairs[k];
    const double mm = x.m[i] * x.m[j];
    stiffness.alpha[k] = material.mu + x.c * mm;
    if (!extended) {
      stiffness.beta[k] = material.mu - x.c * mm;
      continue;
    }
    stiffness.alpha[k] +=
        (1.0 - at.t) * (material.mu + x.c * mm * (x.m[i] + x.m[j] - 1.0) + (x.B / x.S) * mm);
    stiffness.alpha[k] *= at.t;
    stiffness.beta[k] = (P[i] + P[j]) / std::max(sigma[i] + sigma[j], kSmallestSum);
  }
  return result;
}

PrincipalStiffness clamped(const PrincipalStiffness& stiffness) {
  PrincipalStiffness result = stiffness;
  result.alpha = stiffness.alpha.cwiseMax(0.0);
  result.beta = stiffness.beta.cwiseMax(0.0);
  // A factor that exists costs less than the eigenvalues, and is there in almost every state.
  if (Eigen::LLT<Matrix3>(stiffness.diagonal).info() == Eigen::Success) return result;
  const Eigen::SelfAdjointEigenSolver<Matrix3> eigen(stiffness.diagonal);
  const Matrix3& Q = eigen.eigenvectors();
  const Matrix3 H = Q * eigen.eigenvalues().cwiseMax(0.0).asDiagonal() * Q.transpose();
  result.diagonal = 0.5 * (H + H.transpose());
  return result;
}

}  // namespace signorini
