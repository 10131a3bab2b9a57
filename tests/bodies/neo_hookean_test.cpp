#include "bodies/neo_hookean.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>
#include <Eigen/LU>
#include <cmath>
#include <limits>

#include "base/rng.h"
#include "bodies/element_kernels.h"
#include "bodies/signed_svd.h"

namespace signorini::neo_hookean_test {
namespace {

constexpr double kEps = 2.22e-16;
const NeoHookean kLaw{1.0, 1.5, 0.7};

/// Sorted singular values of one kind of state, away from the kink of P at J = 0.7 by more than the steps of
/// the differences below.
enum class State { stretched, equal_pair, compressed, flat, inverted };
Vector3 random_sigma(Rng& rng, State state) {
  while (true) {
    Vector3 s;
    switch (state) {
      case State::stretched:
        s << rng.uniform(0.8, 2.0), rng.uniform(0.8, 2.0), rng.uniform(0.8, 2.0);
        break;
      case State::equal_pair:
        s << rng.uniform(0.3, 2.0), 0.0, rng.uniform(0.3, 2.0);
        s[1] = s[0] * (1.0 + 1e-9 * rng.uniform(-1.0, 1.0));
        break;
      case State::compressed:
        s << rng.uniform(0.1, 1.5), rng.uniform(0.1, 1.0), rng.uniform(0.1, 0.8);
        break;
      case State::flat:
        s << rng.uniform(0.5, 1.5), rng.uniform(0.2, 1.5), rng.uniform(-0.01, 0.01);
        break;
      case State::inverted:
        s << rng.uniform(0.2, 2.0), rng.uniform(0.2, 2.0), rng.uniform(-1.5, -0.01);
        break;
    }
    std::sort(s.data(), s.data() + 3, [](double a, double b) { return std::abs(a) > std::abs(b); });
    if (s[2] < 0.0 || s[1] > 0.0) s[0] = std::abs(s[0]), s[1] = std::abs(s[1]);
    if (state == State::inverted) s[2] = -std::abs(s[2]);
    const bool in_kind = state == State::stretched || state == State::equal_pair || s.prod() < 0.68;
    if (in_kind && std::abs(s.prod() - 0.7) > 0.02 && s[1] + s[2] > 2.0 * kSmallestSum) return s;
  }
}
constexpr State kStates[] = {State::stretched, State::equal_pair, State::compressed, State::flat,
                             State::inverted};

/// Central difference with the error that halving its step shows: truncation 4/3 of the gap between steps 2h
/// and h over 4, ten times that for safety, and rounding of values of size `size`.
struct Difference {
  double value, error;
};
template <class Function>
Difference central(Function f, double h, double size) {
  const double fine = (f(h) - f(-h)) / (2.0 * h);
  const double coarse = (f(2.0 * h) - f(-2.0 * h)) / (4.0 * h);
  return {fine, 3.0 * std::abs(coarse - fine) + 100 * kEps * size / h};
}

TEST(NeoHookean, StressIsTheGradientOfTheEnergy) {
  Rng rng(1);
  for (const State state : kStates) {
    for (int k = 0; k < 200; ++k) {
      const Vector3 s = random_sigma(rng, state);
      const PrincipalStress stress = principal_stress(kLaw, s);
      for (Index i = 0; i < 3; ++i) {
        const auto energy = [&](double h) { return principal_stress(kLaw, s + h * Vector3::Unit(i)).energy; };
        const Difference d = central(energy, 1e-4, 1.0 + std::abs(stress.energy));
        EXPECT_NEAR(stress.P[i], d.value, d.error) << s.transpose();
        EXPECT_LT(d.error, 1e-4 * (1.0 + stress.P.norm())) << "the difference proves nothing";
      }
    }
  }
}

TEST(NeoHookean, StiffnessIsTheGradientOfTheStress) {
  Rng rng(2);
  for (const State state : kStates) {
    for (int k = 0; k < 200; ++k) {
      const Vector3 s = random_sigma(rng, state);
      const PrincipalStress stress = principal_stress(kLaw, s);
      const PrincipalStiffness stiffness = principal_response(kLaw, s).stiffness;
      for (Index i = 0; i < 3; ++i) {
        for (Index j = 0; j < 3; ++j) {
          const auto P = [&](double h) { return principal_stress(kLaw, s + h * Vector3::Unit(j)).P[i]; };
          const Difference d = central(P, 1e-4, 1.0 + stress.P.norm());
          EXPECT_NEAR(stiffness.diagonal(i, j), d.value, d.error) << s.transpose();
          EXPECT_LT(d.error, 1e-4 * (1.0 + stiffness.diagonal.norm())) << "the difference proves nothing";
        }
      }
    }
  }
}

TEST(NeoHookean, AlphaAndBetaAreTheQuotientsWithTheirLimit) {
  Rng rng(3);
  for (const State state : kStates) {
    for (int k = 0; k < 200; ++k) {
      const Vector3 s = random_sigma(rng, state);
      const Vector3 P = principal_stress(kLaw, s).P;
      const PrincipalStiffness stiffness = principal_response(kLaw, s).stiffness;
      const double rounding = 300 * kEps * (1.0 + P.norm() + stiffness.diagonal.norm());
      Index pair = 0;
      for (Index i = 0; i < 3; ++i) {
        for (Index j = i + 1; j < 3; ++j, ++pair) {
          const double gap = s[i] - s[j];
          if (std::abs(gap) > 1e-3) {
            EXPECT_NEAR(stiffness.alpha[pair], (P[i] - P[j]) / gap, rounding / std::abs(gap))
                << s.transpose();
          } else if (std::abs(gap) < 1e-8) {
            // The limit for equal values is H_ii − H_ij; the next term is of the size of the gap.
            const double limit = stiffness.diagonal(i, i) - stiffness.diagonal(i, j);
            EXPECT_NEAR(stiffness.alpha[pair], limit,
                        rounding + 100 * std::abs(gap) * (1.0 + std::abs(limit)))
                << s.transpose();
          }
          EXPECT_NEAR(stiffness.beta[pair], (P[i] + P[j]) / (s[i] + s[j]), rounding / (s[i] + s[j]))
              << s.transpose();
        }
      }
    }
  }
}

TEST(NeoHookean, IsAtRestAtTheIdentityWithTheLinearModuli) {
  const PrincipalStress stress = principal_stress(kLaw, Vector3::Ones());
  EXPECT_EQ(stress.energy, 0.0);
  EXPECT_EQ(stress.P.norm(), 0.0);
  const PrincipalStiffness stiffness = principal_response(kLaw, Vector3::Ones()).stiffness;
  const Matrix3 expected = 2.0 * kLaw.mu * Matrix3::Identity() + Matrix3::Constant(kLaw.lambda);
  EXPECT_EQ(stiffness.diagonal, expected);
  EXPECT_EQ(stiffness.alpha, Vector3::Constant(2.0 * kLaw.mu));
  EXPECT_EQ(stiffness.beta, Vector3::Zero());  // turning costs nothing
}

TEST(NeoHookean, EnergyAndStressMeetAtTheLimitAndTheCurvatureAlongTheRayVanishesBelow) {
  Rng rng(4);
  for (int k = 0; k < 100; ++k) {
    const Vector3 s = random_sigma(rng, k % 2 == 0 ? State::compressed : State::inverted);
    // Find the limit on the ray by bisection, independent of the code under test.
    const Vector3 d = s - Vector3::Ones();
    double low = 0.0, high = std::min(1.0, -1.0 / d.minCoeff());
    for (int i = 0; i < 200; ++i) {
      const double t = 0.5 * (low + high);
      ((Vector3::Ones() + t * d).prod() > 0.7 ? low : high) = t;
    }
    const double step = 1e-9;
    const PrincipalStress above = principal_stress(kLaw, Vector3::Ones() + (low - step) * d);
    const PrincipalStress below = principal_stress(kLaw, Vector3::Ones() + (low + step) * d);
    const double change = 2.0 * step * d.norm();
    // Curvature there: at most μ (1 + 1/q²) + λ (…)/q², q ≥ 0.7/4 because σ ≤ 2.
    EXPECT_NEAR(above.energy, below.energy, change * (1.0 + above.P.norm()));
    EXPECT_LT((above.P - below.P).norm(), change * 300.0);
    // The energy is linear along the ray: third point on the line of the other two.
    const double near = principal_stress(kLaw, Vector3::Ones() + (low + 0.1 * (1.0 - low)) * d).energy;
    const double far = principal_stress(kLaw, s).energy;
    const double mid = principal_stress(kLaw, Vector3::Ones() + (low + 0.55 * (1.0 - low)) * d).energy;
    EXPECT_NEAR(mid, 0.5 * (near + far), 1000 * kEps * (1.0 + std::abs(far)));
    const PrincipalStiffness stiffness = principal_response(kLaw, s).stiffness;
    EXPECT_NEAR(d.dot(stiffness.diagonal * d), 0.0,
                1000 * kEps * stiffness.diagonal.norm() * d.squaredNorm());
  }
}

TEST(NeoHookean, CompressionAlwaysPushesBack) {
  // Along any ray into compression and inversion the energy rises: the extension cannot be slipped under.
  Rng rng(5);
  for (int k = 0; k < 500; ++k) {
    const Vector3 s = random_sigma(rng, k % 2 == 0 ? State::flat : State::inverted);
    const PrincipalStress stress = principal_stress(kLaw, s);
    EXPECT_GT(stress.P.dot(s - Vector3::Ones()), 0.0) << s.transpose();
    EXPECT_GT(stress.energy, 0.0);
  }
}

Matrix random_spd_free(Rng& rng) {
  Matrix3 M;
  for (Index k = 0; k < 9; ++k) M(k % 3, k / 3) = rng.uniform(-1.0, 1.0);
  return M + M.transpose();
}

TEST(NeoHookean, ClampingSetsNegativeEigenvaluesToZero) {
  Rng rng(6);
  int changed = 0;
  for (int k = 0; k < 200; ++k) {
    PrincipalStiffness stiffness;
    stiffness.diagonal = random_spd_free(rng);
    stiffness.alpha << rng.uniform(-1, 1), 0.5, -2.0;
    stiffness.beta << rng.uniform(-1, 1), -0.5, 0.0;
    const PrincipalStiffness result = clamped(stiffness);
    const Eigen::SelfAdjointEigenSolver<Matrix3> before(stiffness.diagonal);
    const Eigen::SelfAdjointEigenSolver<Matrix3> after(result.diagonal);
    const double size = stiffness.diagonal.norm();
    EXPECT_GT(after.eigenvalues()[0], -20 * kEps * size);
    // The nearest one differs by the negative part: ‖·‖² = Σ min(0, eigenvalue)².
    EXPECT_NEAR((result.diagonal - stiffness.diagonal).norm(), before.eigenvalues().cwiseMin(0.0).norm(),
                50 * kEps * size);
    EXPECT_EQ(result.alpha, stiffness.alpha.cwiseMax(0.0));
    EXPECT_EQ(result.beta, stiffness.beta.cwiseMax(0.0));
    changed += result.diagonal == stiffness.diagonal ? 0 : 1;
  }
  EXPECT_GT(changed, 20);
  EXPECT_LT(changed, 200);
}

TEST(NeoHookean, NothingIsNotANumberForAnyFiniteStretches) {
  for (const double limit : {0.05, 0.7, 0.99}) {
    const NeoHookean law{1.0, 1.5, limit};
    for (const Vector3& s :
         {Vector3(0, 0, 0), Vector3(1, 0, 0), Vector3(1, 1, 0), Vector3(1, 1, -1), Vector3(1e8, 1e8, -1e8),
          Vector3(1e8, 0, 0), Vector3(1e-8, 1e-8, -1e-8), Vector3(1e8, 1e-8, 1e-8), Vector3(1, 1, limit),
          Vector3(1, 1, std::nextafter(limit, 0.0)), Vector3(1e-300, 1e-300, 1e-300), Vector3(3, 2, -2)}) {
      const PrincipalStress stress = principal_stress(law, s);
      const PrincipalStiffness stiffness = clamped(principal_response(law, s).stiffness);
      EXPECT_TRUE(std::isfinite(stress.energy) && stress.P.allFinite()) << s.transpose();
      EXPECT_TRUE(stiffness.diagonal.allFinite() && stiffness.alpha.allFinite() && stiffness.beta.allFinite())
          << s.transpose();
    }
  }
}

// --- the same in F: one element ---

const ElementMaterial kElement{ElasticModel::neo_hookean, 1.0, 1.5, 0.7};
// Of dynamic size: fixed ones of 9 and 12 unroll into a quarter of a minute of compiling.
using MatrixX = Eigen::MatrixXd;

Matrix3 rest_inverse() {
  Matrix3 D;
  D << 1.1, 0.2, 0.1, 0.1, 1.2, 0.3, 0.0, 0.1, 0.9;
  return D.inverse();
}

Matrix3 stress(const Matrix3& F) { return element_response(kElement, F, rest_inverse(), 1.0, nullptr).P; }

Matrix3 random_rotation(Rng& rng) {
  return Eigen::Quaterniond(rng.normal(), rng.normal(), rng.normal(), rng.normal())
      .normalized()
      .toRotationMatrix();
}

/// ∂P/∂F by central differences, with a bound of its error in the Frobenius norm.
MatrixX stress_derivative(const Matrix3& F, double& error) {
  const auto derivative = [&F](double h) {
    MatrixX C(9, 9);
    for (Index k = 0; k < 9; ++k) {
      Matrix3 d = Matrix3::Zero();
      d(k % 3, k / 3) = h;
      const Matrix3 column = (stress(F + d) - stress(F - d)) / (2.0 * h);
      C.col(k) = Eigen::Map<const Eigen::Matrix<double, 9, 1>>(column.data());
    }
    return C;
  };
  const MatrixX fine = derivative(1e-5);
  error = 3.0 * (derivative(2e-5) - fine).norm() + 100 * kEps * (1.0 + stress(F).norm()) / 1e-5;
  return fine;
}

MatrixX stiffness(const Matrix3& F) {
  std::vector<double> factors(stiffness_factors(kElement.model));
  element_response(kElement, F, rest_inverse(), 1.0, factors.data());
  MatrixX K(12, 12);
  BlockRow row;
  for (int i = 0; i < 4; ++i) {
    stiffness_row(kElement, factors.data(), i, row);
    for (int j = 0; j < 4; ++j) K.block<3, 3>(3 * i, 3 * j) = row[j];
  }
  return K;
}

TEST(NeoHookeanElement, StiffnessIsTheProjectedDerivativeOfTheStress) {
  // vec(F) = B x with vec column by column: F_ak = Σ_i x_i[a] b_i[k].
  MatrixX B = MatrixX::Zero(9, 12);
  const Matrix3 inverse = rest_inverse();
  for (Index k = 0; k < 3; ++k) {
    for (Index i = 1; i < 4; ++i) {
      B.block<3, 3>(3 * k, 3 * i) = inverse(i - 1, k) * Matrix3::Identity();
      B.block<3, 3>(3 * k, 0) -= inverse(i - 1, k) * Matrix3::Identity();
    }
  }
  Rng rng(7);
  int untouched = 0, projected = 0;
  for (const State state : kStates) {
    for (int k = 0; k < 100; ++k) {
      const Vector3 s = random_sigma(rng, state);
      const Matrix3 F = random_rotation(rng) * s.asDiagonal() * random_rotation(rng).transpose();
      double error = 0.0;
      const MatrixX C = stress_derivative(F, error);
      const Eigen::SelfAdjointEigenSolver<MatrixX> eigen(0.5 * (C + C.transpose()));
      const MatrixX positive = eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(0.0).asDiagonal() *
                               eigen.eigenvectors().transpose();
      (eigen.eigenvalues()[0] > -error ? untouched : projected) += 1;
      // Projecting does not enlarge differences; ‖BᵀXB‖ ≤ ‖B‖² ‖X‖.
      const MatrixX K = stiffness(F);
      EXPECT_LT((K - B.transpose() * positive * B).norm(), B.squaredNorm() * error) << s.transpose();
      EXPECT_LT(error, 1e-3 * (1.0 + C.norm())) << "the difference proves nothing";
      EXPECT_TRUE(K == K.transpose());
      const Eigen::SelfAdjointEigenSolver<MatrixX> psd(K, Eigen::EigenvaluesOnly);
      EXPECT_GT(psd.eigenvalues()[0], -100 * kEps * K.norm()) << s.transpose();
    }
  }
  EXPECT_GT(untouched, 50);
  EXPECT_GT(projected, 100);
}

TEST(NeoHookeanElement, StressIsTheGradientOfTheEnergyAndTurnsWithTheElement) {
  Rng rng(8);
  for (const State state : kStates) {
    for (int k = 0; k < 100; ++k) {
      const Vector3 s = random_sigma(rng, state);
      const Matrix3 F = random_rotation(rng) * s.asDiagonal() * random_rotation(rng).transpose();
      const Matrix3 P = stress(F);
      const auto energy = [](const Matrix3& G) {
        return element_response(kElement, G, rest_inverse(), 1.0, nullptr).density;
      };
      for (Index i = 0; i < 9; ++i) {
        Matrix3 unit = Matrix3::Zero();
        unit(i % 3, i / 3) = 1.0;
        const Difference d = central([&](double h) { return energy(F + h * unit); }, 1e-4, 1.0 + energy(F));
        EXPECT_NEAR(P(i % 3, i / 3), d.value, d.error);
        EXPECT_LT(d.error, 1e-3 * (1.0 + P.norm())) << "the difference proves nothing";
      }
      const Matrix3 Q = random_rotation(rng);
      const double size = 1000 * kEps * (1.0 + principal_response(kLaw, s).stiffness.diagonal.norm());
      EXPECT_LT((stress(Q * F) - Q * P).norm(), size / (s[1] + s[2]));
      EXPECT_LT((stress(F * Q) - P * Q).norm(), size / (s[1] + s[2]));  // isotropic
    }
  }
}

TEST(NeoHookeanElement, NothingIsNotANumberForFlatAndInvertedElements) {
  Rng rng(9);
  for (int k = 0; k < 500; ++k) {
    Matrix3 F;
    for (Index i = 0; i < 9; ++i) F(i % 3, i / 3) = rng.uniform(-1.0, 1.0);
    if (k % 5 == 1) F.col(2) = F.col(0) + F.col(1);
    if (k % 5 == 2) F = F.col(0) * F.col(1).transpose();
    if (k % 5 == 3) F = -random_rotation(rng);
    if (k % 5 == 4) F *= 1e-20;
    EXPECT_TRUE(stress(F).allFinite());
    EXPECT_TRUE(stiffness(F).allFinite());
  }
  EXPECT_TRUE(stress(Matrix3::Zero()).allFinite());
  EXPECT_TRUE(stiffness(Matrix3::Zero()).allFinite());
}

}  // namespace
}  // namespace signorini::neo_hookean_test
