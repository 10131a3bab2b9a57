// The pieces that solvers are made of: the exact one-contact solution, the tangent cone, the full pattern.
#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"
#include "linalg/block_sparse_matrix.h"
#include "solvers/cg/tangent_cone.h"
#include "solvers/dense_pattern.h"
#include "solvers/relaxation/one_contact.h"

namespace signorini::contact_pieces_test {
namespace {

constexpr double kEps = 2.220446049250313e-16;

Matrix3 random_spd(Rng& rng, double condition) {
  Matrix3 B;
  for (int i = 0; i < 9; ++i) B.data()[i] = rng.normal();
  const Matrix3 scale = Vector3(1.0, std::sqrt(condition), 1.0 / std::sqrt(condition)).asDiagonal();
  return scale * (B * B.transpose() + 0.05 * Matrix3::Identity()) * scale;
}

/// Largest violation of Signorini's and Coulomb's laws in m/s.
double violation(FrictionLaw law, double mu, const Matrix3& D, const Vector3& b, const Vector3& r) {
  const Vector3 u = D * r + b;
  double worst = std::abs(std::min(D(0, 0) * r[0], u[0]));  // 0 ≤ r_N ⊥ u_N ≥ 0
  const double bound = mu * r[0];
  if (law == FrictionLaw::cone) {
    const double length = r.tail<2>().norm();
    worst = std::max(worst, D(0, 0) * (length - bound));
    const double slip = u.tail<2>().norm();
    // ‖u_T‖ r_T = −μ r_N u_T, and no slip inside
    const double opposite = (slip * r.tail<2>() + bound * u.tail<2>()).norm();
    if (bound > 0.0) worst = std::max(worst, opposite / bound);
    return worst;
  }
  for (int j = 1; j < 3; ++j) {
    worst = std::max(worst, D(j, j) * (std::abs(r[j]) - bound));
    // u_j > 0 needs r_j = −bound, u_j < 0 needs r_j = +bound
    worst = std::max(worst, std::min(std::max(0.0, u[j]), D(j, j) * (r[j] + bound)));
    worst = std::max(worst, std::min(std::max(0.0, -u[j]), D(j, j) * (bound - r[j])));
  }
  return worst;
}

TEST(OneContact, SatisfiesTheLawForRandomContacts) {
  Rng rng(4);
  for (const FrictionLaw law : {FrictionLaw::cone, FrictionLaw::pyramid}) {
    for (int trial = 0; trial < 2000; ++trial) {
      const Matrix3 D = random_spd(rng, trial % 2 == 0 ? 1.0 : 10.0);
      const Vector3 b(rng.normal(), 3.0 * rng.normal(), 3.0 * rng.normal());
      const double mu = rng.uniform(0.0, 0.8);
      const Vector3 r = solve_one_contact(law, mu, D, b);
      ASSERT_TRUE(r.allFinite());
      // A strong coupling D_NT can make the three-body system of a slipping pyramid singular; cond(D) ≤ 1e5
      // bounds the rest.
      EXPECT_LE(violation(law, mu, D, b, r), 1e5 * kEps * (b.norm() + (D * r).norm())) << trial;
    }
  }
}

TEST(OneContact, TakesOffWithoutAnImpulse) {
  EXPECT_EQ(solve_one_contact(FrictionLaw::cone, 0.5, Matrix3::Identity(), {0.0, 1.0, 2.0}), Vector3::Zero());
  EXPECT_EQ(solve_one_contact(FrictionLaw::pyramid, 0.5, Matrix3::Identity(), {0.1, 1.0, 2.0}),
            Vector3::Zero());
}

ContactFace face_at(FrictionLaw law, double mu, const double* r, const double* rho) {
  return with_law(law, [&](auto type) { return face_of<decltype(type)>(mu, r, rho); });
}

void project(FrictionLaw law, double mu, std::uint8_t slides, const double* S, double* r) {
  with_law(law, [&](auto type) { project_impulse<decltype(type)>(mu, slides, S, r); });
}

TEST(TangentCone, SplitsEveryDirectionIntoTheConeAndItsPolar) {
  Rng rng(8);
  for (const FrictionLaw law : {FrictionLaw::cone, FrictionLaw::pyramid}) {
    for (int trial = 0; trial < 1000; ++trial) {
      const double mu = 0.6;
      double r[3] = {trial % 5 == 0 ? 0.0 : rng.uniform(0.0, 2.0), 3.0 * rng.normal(), 3.0 * rng.normal()};
      const double S[2] = {0.0, 0.0};
      project(law, mu, 0, S, r);  // most of them lie on the boundary
      const double rho[3] = {rng.normal(), rng.normal(), rng.normal()};
      const ContactFace face = face_at(law, mu, r, rho);
      double inner = 0.0;
      double scale = 0.0;
      for (int i = 0; i < 3; ++i) {
        inner += face.g[i] * (rho[i] - face.g[i]);
        scale += rho[i] * rho[i];
      }
      EXPECT_NEAR(inner, 0.0, 8.0 * kEps * scale) << trial;  // Moreau: g ⊥ ϱ − g
      // g points into the set: a short step along it leaves by second order only
      double stepped[3];
      double back[3];
      const double t = 1e-6;
      for (int i = 0; i < 3; ++i) stepped[i] = back[i] = r[i] + (i == 0 ? 0.0 : t * face.g[i]);
      project(law, mu, 0, S, back);
      EXPECT_NEAR(std::hypot(stepped[1] - back[1], stepped[2] - back[2]), 0.0, 1e-9) << trial;
    }
  }
}

TEST(TangentCone, SlidingImpulsesFollowTheirBound) {
  const double r[3] = {2.0, 0.6, 0.8};  // on the disc of radius 0.5·2
  const double outward[3] = {0.3, 3.0, 4.0};
  const ContactFace face = face_of<FrictionCone>(0.5, r, outward);
  EXPECT_EQ(face.slides, 1);
  EXPECT_NEAR(face.S[0], 0.3, 4 * kEps);
  EXPECT_NEAR(face.S[1], 0.4, 4 * kEps);
  EXPECT_NEAR(face.curvature, 5.0, 16 * kEps);  // ‖u_T‖/(μ r_N)
  EXPECT_NEAR(face.g[1], 0.0, 8 * kEps);
  double moved[3] = {3.0, 0.9, 1.1};
  project_impulse<FrictionCone>(0.5, 1, face.S, moved);
  EXPECT_NEAR(std::hypot(moved[1], moved[2]), 1.5, 4 * kEps);
}

TEST(TangentCone, WithoutNormalImpulseThereIsNoFriction) {
  const double r[3] = {0.0, 0.0, 0.0};
  const double rho[3] = {-1.0, 5.0, -5.0};
  for (const FrictionLaw law : {FrictionLaw::cone, FrictionLaw::pyramid}) {
    const ContactFace face = face_at(law, 0.5, r, rho);
    for (const double g : face.g) EXPECT_EQ(g, 0.0);
    EXPECT_FALSE(face.pressed);
  }
}

TEST(DensePattern, KeepsTheMatrixAndStoresEveryBlockOfAGroup) {
  Matrix A = Matrix::Zero(12, 12);
  A.diagonal().setOnes();
  A.block<3, 3>(0, 6).setConstant(2.0);
  A.block<3, 3>(6, 0).setConstant(2.0);
  const BlockSparseMatrix W = to_blocks(SparseRows(A.sparseView()));
  const BlockSparseMatrix full = fill_pattern(W);
  EXPECT_EQ(full.blocks(), 16);
  EXPECT_EQ(Matrix(to_scalar(full)), A);
  const std::vector<Index> label{0, 1, 0, 1};
  const BlockSparseMatrix grouped = fill_pattern(W, label);
  EXPECT_EQ(grouped.blocks(), 8);
  EXPECT_EQ(Matrix(to_scalar(grouped)), A);
}

}  // namespace
}  // namespace signorini::contact_pieces_test
