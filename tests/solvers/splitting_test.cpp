// Mass splitting: an iteration is that of the split bodies, energy never grows without friction, and the bits do not depend
// on threads. Nesterov's acceleration follows the published recurrence.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "contact/delassus_operator.h"
#include "contact/pile_problem.h"
#include "contact/planted_problem.h"
#include "contact/problem_zoo.h"
#include "contact/residuals.h"
#include "linalg/random_blocks.h"
#include "solvers/accelerated/nesterov_sweeps.h"
#include "solvers/registry.h"
#include "solvers/splitting/split_sweep.h"

namespace signorini::splitting_test {
namespace {

constexpr double kEps = 2.220446049250313e-16;

ContactProblem net(int contacts, std::uint64_t seed = 7) {
  PlantedOptions options;
  options.contacts = contacts;
  options.sharing = 0.3;
  options.seed = seed;
  return make_planted_problem(options).problem;
}

ContactProblem pile(PileKind kind, int contacts, double mu) {
  PileOptions options;
  options.of = kind;
  options.contacts = contacts;
  options.mu = mu;
  options.seed = 3;
  return make_pile_problem(options);
}

class Iterates : public IterationObserver {
 public:
  void on_iteration(int /*iteration*/, std::span<const double> r, std::string_view) override {
    all.emplace_back(Eigen::Map<const Vector>(r.data(), static_cast<Eigen::Index>(r.size())));
  }
  std::vector<Vector> all;
};

SolveReport solve(const OptionMap& options, const ContactProblem& problem, const StopRule& stop,
                  std::vector<double>& r, TaskArena* arena = nullptr, IterationObserver* observer = nullptr) {
  const std::unique_ptr<Solver> solver = make_solver("mass-splitting", options);
  solver->use_arena(arena);
  solver->prepare(problem);
  r.assign(3 * static_cast<std::size_t>(problem.contacts()), 0.0);
  return solver->solve(r, stop, observer);
}

StopRule fixed(int iterations) {
  StopRule stop;
  stop.fixed_iterations = true;
  stop.max_iterations = iterations;
  return stop;
}

GaussSeidelData on_bodies(const ContactProblem& problem, FrictionLaw law) {
  return make_gauss_seidel_data(make_body_rows(problem), problem.mu, law, TangentChoice::automatic);
}

/// The paper's iteration with bodies that are really split: every part takes the impulse of its contact alone, then all
/// parts of a body take their mean velocity. Bodies are the mass points of a net.
struct SplitBodies {
  explicit SplitBodies(const ContactProblem& problem)
      : H(problem.H), mass(Matrix(problem.M).diagonal()), v(problem.f.cwiseQuotient(mass)), w(problem.w) {
    parts = Vector::Zero(mass.size());
    for (Eigen::Index k = 0; k < w.size() / 3; ++k)
      for (Eigen::Index p = 0; p < mass.size() / 3; ++p)
        if (!block(p, k).isZero(0.0)) parts.segment<3>(3 * p).array() += 1.0;
  }
  Matrix3 block(Eigen::Index point, Eigen::Index k) const { return H.block<3, 3>(3 * point, 3 * k); }

  /// Cone. Updates r and v.
  void iterate(const Vector& mu, Vector& r) {
    Vector moved = Vector::Zero(v.size());  // sum over the parts of what they gain
    for (Eigen::Index k = 0; k < mu.size(); ++k) {
      const Matrix Hk = H.middleCols<3>(3 * k);
      const Matrix3 S = Hk.transpose() * parts.cwiseQuotient(mass).asDiagonal() * Hk;
      Vector3 rk = r.segment<3>(3 * k), u = Hk.transpose() * v + w.segment<3>(3 * k);
      rk[0] = std::max(0.0, rk[0] - u[0] / S(0, 0));
      u += S.col(0) * (rk[0] - r[3 * k]);
      const double step =
          S.bottomRightCorner<2, 2>().selfadjointView<Eigen::Lower>().eigenvalues().maxCoeff();
      rk.tail<2>() -= u.tail<2>() / step;
      const double length = rk.tail<2>().norm(), bound = mu[k] * rk[0];
      if (length > bound) rk.tail<2>() *= bound / length;
      moved += parts.cwiseQuotient(mass).asDiagonal() * (Hk * (rk - r.segment<3>(3 * k)));
      r.segment<3>(3 * k) = rk;
    }
    for (Eigen::Index i = 0; i < v.size(); ++i)
      if (parts[i] > 0.0) v[i] += moved[i] / parts[i];
  }

  Matrix H;
  Vector mass, v, w, parts;
};

TEST(SplitSweep, IsTheIterationOfBodiesThatAreReallySplit) {
  const ContactProblem problem = net(40);
  const GaussSeidelData data = on_bodies(problem, FrictionLaw::cone);
  SplitSweep sweep;
  sweep.prepare(data);
  SplitBodies bodies(problem);
  EXPECT_GE(bodies.parts.maxCoeff(), 3.0) << "the net has to share points";
  Vector r = Vector::Zero(3 * problem.contacts()), expected = r, change = r;
  for (int i = 0; i < 20; ++i) {
    sweep.step(span_of(change), span_of(r), span_of(change), nullptr);
    bodies.iterate(problem.mu, expected);
    // u is a sum of some ten terms here and is carried along from iteration to iteration there
    ASSERT_LE((r - expected).norm(), 1e3 * kEps * (i + 1) * expected.norm()) << i;
  }
  EXPECT_GT(expected.norm(), 0.0);
}

/// Two contacts carry one mass, at the same place: each gets half of what stops it, at once. Gauss–Seidel gives it all to the
/// first, Jacobi without splitting twice as much as is needed.
TEST(SplitSweep, SharesALoadAmongContactsInOneIteration) {
  zoo::PointWorld world;
  world.mass = {4.0};
  world.free_velocity = {Vector3(0.0, 0.0, -2.0)};
  world.contacts = {{0, -1, zoo::floor_frame(), 0.5}, {0, -1, zoo::floor_frame(), 0.5}};
  const ContactProblem problem = world.build();
  std::vector<double> r;
  solve({{"outer", "none"}}, problem, fixed(1), r);
  EXPECT_EQ(r, (std::vector<double>{4.0, 0.0, 0.0, 4.0, 0.0, 0.0}));
}

/// ½ rᵀWr + qᵀr of every iterate, which never becomes larger.
std::vector<double> energies(const ContactProblem& problem, int iterations) {
  const ReducedProblem reduced = assemble_reduced(problem);
  const Matrix W = to_scalar(reduced.W);
  Iterates seen;
  std::vector<double> r, energy{0.0};
  solve({{"outer", "none"}}, problem, fixed(iterations), r, nullptr, &seen);
  for (const Vector& iterate : seen.all) {
    energy.push_back(0.5 * iterate.dot(W * iterate) + reduced.q.dot(iterate));
    EXPECT_LE(energy.back(), energy[energy.size() - 2] + 1e3 * kEps * std::abs(energy.back()));
  }
  return energy;
}

TEST(SplitSweep, NeverRaisesTheEnergyOfPilesWithoutFriction) {
  for (const PileKind kind : {PileKind::spheres, PileKind::bricks, PileKind::sphere_tower})
    EXPECT_LT(energies(pile(kind, 200, 0.0), 50).back(), 0.0);
}

TEST(MassSplitting, MeetsTheResidualOfTheRefereeUnderEitherLaw) {
  for (const char* law : {"cone", "pyramid"}) {
    const LawSpec spec{parse_enum<FrictionLaw>(law, "law"), PyramidFrame::fixed};
    for (const char* outer : {"none", "nesterov", "nncg", "anderson"}) {
      const ContactProblem problem = net(60);
      std::vector<double> r;
      const SolveReport report = solve({{"outer", outer}, {"law", law}}, problem, {.residual = 1e-6}, r);
      EXPECT_EQ(report.status, SolveStatus::converged) << outer << ", " << law;
      EXPECT_LE(Referee(problem).measure(r, spec).residual, 1e-6 * (1 + 1e-6)) << outer << ", " << law;
    }
  }
}

TEST(MassSplitting, BitsDoNotDependOnThreads) {
  const ContactProblem problem = pile(PileKind::spheres, 3000, 0.3);
  for (const char* outer : {"none", "nesterov", "nncg", "anderson"}) {
    std::vector<double> alone;
    solve({{"outer", outer}}, problem, fixed(30), alone);
    for (const int threads : {1, 2, 4, 8, 16}) {
      TaskArena arena(threads);
      std::vector<double> shared;
      solve({{"outer", outer}}, problem, fixed(30), shared, &arena);
      EXPECT_EQ(shared, alone) << threads << " threads, outer = " << outer;
    }
  }
}

TEST(MassSplitting, AllContactsAreOneStage) {
  const ContactProblem problem = pile(PileKind::spheres, 3000, 0.3);
  const std::unique_ptr<Solver> solver = make_solver("mass-splitting");
  solver->prepare(problem);
  const auto contacts = static_cast<double>(problem.contacts());
  EXPECT_EQ(solver->work_and_span(1).work, contacts);
  EXPECT_LE(solver->work_and_span(1024).span, static_cast<double>(SweepStages::kPiece));
}

/// Where W takes the place of bodies: two equal contacts in each of whose rows W has both.
TEST(SplitSweep, TakesTheBlocksOfARowWhereBodiesAreNotKnown) {
  Matrix W = Matrix::Identity(6, 6);
  W.block<3, 3>(0, 3) = W.block<3, 3>(3, 0) = Matrix3::Identity();
  const ContactProblem problem =
      zoo::make_dual(W, zoo::vector_of({-4, 0, 0, -4, 0, 0}), zoo::vector_of({0.5, 0.5}));
  std::vector<double> r;
  solve({{"outer", "none"}}, problem, fixed(1), r);
  EXPECT_EQ(r, (std::vector<double>{2.0, 0.0, 0.0, 2.0, 0.0, 0.0}));
}

TEST(SplitSweep, NeverRaisesTheEnergyOfElasticBodies) {
  PlantedOptions options;
  options.contacts = 60;
  options.stiffness = 5.0;
  ContactProblem problem = make_planted_problem(options).problem;
  problem.mu.setZero();
  const std::vector<double> energy = energies(problem, 50);
  EXPECT_LT(energy.back(), 0.0);
}

// ---- Nesterov's acceleration

/// r → r − ω (A r − b): a gradient step, in the Euclidean metric.
class GradientStep : public SweepMap {
 public:
  GradientStep(Vector A, Vector b, double omega) : A_(std::move(A)), b_(std::move(b)), omega_(omega) {}
  SweepStep step(std::span<const double> along, std::span<double> r, std::span<double> change,
                 TaskArena* /*arena*/) override {
    SweepStep step;
    for (std::size_t i = 0; i < r.size(); ++i) {
      const auto at = static_cast<Eigen::Index>(i);
      const double p = along[i], d = -omega_ * (A_[at] * r[i] - b_[at]);
      change[i] = d;
      r[i] += d;
      step.square += d * d;
      step.along += d * p;
    }
    return step;
  }

 private:
  Vector A_, b_;  ///< diagonal, right-hand side
  double omega_;
};

/// r_{i+1} = G(y_i), y_i = r_i + β_i (r_i − r_{i−1}); t = 1 again where (y_i − r_{i+1})·(r_{i+1} − r_i) > 0.
TEST(NesterovSweeps, FollowsThePublishedRecurrence) {
  constexpr int n = 6;
  const Vector A = zoo::vector_of({1.0, 0.5, 0.1, 0.03, 0.01, 0.003}), b = test::random_vector(n, 4);
  GaussSeidelData data;
  data.contact.resize(n / 3);
  GradientStep map(A, b, 1.0);
  NesterovSweeps sweeps;
  sweeps.prepare(data, map);
  sweeps.start();
  Vector r = Vector::Zero(n), now = r, before = r;
  double t = 1.0;
  int restarts = 0;
  for (int i = 0; i < 300; ++i) {
    sweeps.step(span_of(r));
    const double next = 0.5 * (1.0 + std::sqrt(1.0 + 4.0 * t * t));
    const Vector y = now + (t - 1.0) / next * (now - before);
    const Vector after = y - (A.cwiseProduct(y) - b);
    const bool restart = (y - after).dot(after - now) > 0.0;
    restarts += restart ? 1 : 0;
    before = restart ? after : now;
    now = after;
    t = restart ? 1.0 : next;
    ASSERT_LE((r - now).norm(), 1e4 * kEps * now.norm()) << i;  // sums in another order, 300 of them
  }
  EXPECT_GT(restarts, 0);
  EXPECT_EQ(sweeps.restarts(), restarts);
  // 300 plain steps leave e^−0.9 of the slowest component
  EXPECT_LE((r - b.cwiseQuotient(A)).norm(), 1e-3 * r.norm());
}

}  // namespace
}  // namespace signorini::splitting_test
