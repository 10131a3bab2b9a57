// `auto`: what it chooses, and that what it chose arrives.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/rng.h"
#include "contact/pile_problem.h"
#include "contact/planted_problem.h"
#include "contact/problem_zoo.h"
#include "contact/residuals.h"
#include "record/fclib_file.h"
#include "scene/scene.h"
#include "solvers/portfolio/residual_bound.h"
#include "solvers/portfolio/sweep_record.h"
#include "solvers/portfolio/velocity_step_cost.h"
#include "solvers/region_solver.h"
#include "solvers/registry.h"

namespace signorini::auto_test {
namespace {

ContactProblem reference(const char* name) {
  const std::filesystem::path folder =
      std::filesystem::path(SIGNORINI_SOURCE_DIR) / "configs" / "problems" / "reference";
  return read_fclib(folder / (std::string(name) + ".hdf5")).problem;
}

struct Answer {
  std::vector<double> r;
  SolveReport report;
  double residual = 0.0;
};

Answer solved(Solver& solver, const ContactProblem& problem, double residual) {
  solver.prepare(problem);
  Answer answer;
  answer.r.assign(3 * static_cast<std::size_t>(problem.contacts()), 0.0);
  StopRule stop;
  stop.residual = residual;
  stop.max_iterations = 100000;
  answer.report = solver.solve(answer.r, stop, nullptr);
  answer.residual = Referee(problem).measure(answer.r, solver.common().spec()).residual;
  return answer;
}

/// Courses of bricks with gaps under tilted gravity.
PileOptions tilted_bricks() {
  PileOptions pile;
  pile.of = PileKind::bricks;
  pile.left_out = 0.3;
  pile.mu = 0.5;
  pile.tilt_deg = 10.0;
  return pile;
}

TEST(Auto, SaysWhatItUsed) {
  const auto solver = make_solver("auto");
  EXPECT_EQ(solved(*solver, reference("expl"), 1e-6).report.message, "impulses");
  EXPECT_EQ(solved(*solver, zoo::specimen("h5_anisotropic_dual").problem, 1e-6).report.message, "impulses");
}

TEST(Auto, SolvesTheReferenceProblemsToAnyTolerance) {
  for (const char* name : {"expl", "f2", "f3", "f4", "fE", "net0", "net1", "net3"}) {
    const ContactProblem problem = reference(name);
    for (const double residual : {1e-3, 1e-6, 1e-10}) {
      const auto solver = make_solver("auto");
      const Answer answer = solved(*solver, problem, residual);
      EXPECT_EQ(enum_name(answer.report.status), "converged") << name << " to " << residual;
      EXPECT_LE(answer.residual, residual) << name;
    }
  }
}

/// Every island of an implicit problem is solved on W cut from one assembly or apart: both arrive.
TEST(Auto, SolvesIslandsApart) {
  for (const char* name : {"expl", "fE"}) {
    const ContactProblem problem = reference(name);
    const auto solver = make_region_solver("auto", {}, {RegionMode::islands, 1});
    const Answer answer = solved(*solver, problem, 1e-8);
    EXPECT_EQ(enum_name(answer.report.status), "converged") << name;
    EXPECT_LE(answer.residual, 1e-8) << name;
  }
}

/// Sweeps alone contract here by 1 − 10⁻⁶ each (zoo: heavy_stack): Newton steps take over.
TEST(Auto, TakesNewtonStepsWhereSweepsDoNotArrive) {
  const auto solver = make_solver("auto");
  const Answer answer = solved(*solver, zoo::specimen("stack_mass_ratio_1e6").problem, 1e-8);
  EXPECT_EQ(enum_name(answer.report.status), "converged");
  EXPECT_LT(answer.report.iterations, 2000);
}

/// Contacts that repeat others between heavy and light points: steps on impulses stay above the tolerance that convex steps on
/// velocities lead to. (Of seeds 1 to 8 one needs no such steps, and one, 7, does not arrive in 100,000 iterations.)
TEST(Auto, TakesConvexStepsWhereStepsOnImpulsesDoNotArrive) {
  for (const std::uint64_t seed : {1U, 4U, 8U}) {
    const PlantedOptions options{
        .contacts = 60, .mass_ratio = 1e4, .sharing = 0.8, .duplicates = 10, .seed = seed};
    const ContactProblem problem = make_planted_problem(options).problem;
    const auto solver = make_solver("auto");
    const Answer answer = solved(*solver, problem, 1e-10);
    EXPECT_EQ(enum_name(answer.report.status), "converged") << seed;
    EXPECT_LE(answer.residual, 1e-10) << seed;
    EXPECT_EQ(answer.report.message, "both") << seed;
  }
}

/// Six times as many rows as dofs, as in a stack of rigid bodies that touch at many corners: systems on velocities are a sixth of
/// those on impulses, and their steps arrive where accelerated sweeps do not. (No solver here arrives on seed 1.)
TEST(Auto, TakesStepsOnVelocitiesFirstWhereTheirSystemsAreMuchSmaller) {
  for (const std::uint64_t seed : {2U, 3U, 4U}) {
    const PlantedOptions options{.contacts = 120, .mass_ratio = 1e3, .sharing = 0.85, .seed = seed};
    const ContactProblem problem = make_planted_problem(options).problem;
    ASSERT_GT(3 * problem.contacts(), 2 * problem.dofs());
    const auto solver = make_solver("auto");
    const Answer answer = solved(*solver, problem, 1e-8);
    EXPECT_EQ(enum_name(answer.report.status), "converged") << seed;
    EXPECT_LE(answer.residual, 1e-8) << seed;
    EXPECT_EQ(answer.report.message, "both") << seed;
    EXPECT_GT(answer.report.phase_iterations[1], 0) << seed;
    EXPECT_LT(answer.report.counters.factorisations, 400) << seed;
    EXPECT_LT(answer.report.iterations, 20000) << seed;  // sweeps alone: more than 500,000
  }
}

/// Soft bodies whose W is cheap to form, half as many contacts again as points allow: sweeps come first, and where they would
/// take long, Newton steps on velocities follow, which cost less than those on impulses.
TEST(Auto, LeavesSlowSweepsOnSoftBodiesForStepsOnVelocities) {
  for (const double stiffness : {0.1, 3.0, 100.0}) {
    for (const std::uint64_t seed : {2U, 3U}) {
      const PlantedOptions options{.contacts = 150,
                                   .stiffness = stiffness,
                                   .mass_ratio = 1e2,
                                   .sharing = 0.6,
                                   .duplicates = 5,
                                   .seed = seed};
      const ContactProblem problem = make_planted_problem(options).problem;
      const auto solver = make_solver("auto");
      const Answer answer = solved(*solver, problem, 1e-10);
      EXPECT_EQ(enum_name(answer.report.status), "converged") << stiffness << ", " << seed;
      EXPECT_LE(answer.residual, 1e-10) << stiffness << ", " << seed;
      EXPECT_EQ(answer.report.message, "both") << stiffness << ", " << seed;
      EXPECT_GT(answer.report.phase_iterations[0], 0) << stiffness << ", " << seed;
      EXPECT_GT(answer.report.phase_iterations[1], 0) << stiffness << ", " << seed;
      EXPECT_LT(answer.report.iterations, 400) << stiffness << ", " << seed;
    }
  }
}

PlantedProblem soft_bodies(std::uint64_t seed, int contacts = 40) {
  const PlantedOptions options{.contacts = contacts, .stiffness = 3.0, .sharing = 0.3, .seed = seed};
  return make_planted_problem(options);
}

/// What is stated without a factor of M is never below what the referee finds with one.
TEST(ResidualBound, IsAboveTheReferee) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const PlantedProblem planted = soft_bodies(seed);
    const ContactProblem& problem = planted.problem;
    PrimalSystem system;
    system.prepare(problem, FrictionLaw::cone, Judge::own, nullptr);
    ResidualBound bound;
    ASSERT_TRUE(bound.prepare(system, problem.f, nullptr));
    const Referee referee(problem);
    EXPECT_LE(bound.least_scale(), referee.velocity_scale());
    for (const double wrong : {1e-1, 1e-4, 1e-8}) {
      Vector r = planted.r;
      for (Eigen::Index i = 0; i < r.size(); ++i)
        r[i] *= 1.0 + wrong * std::sin(static_cast<double>(i * seed));
      Vector v = Vector::Zero(static_cast<Eigen::Index>(system.size()));
      const double true_residual = referee.measure(span_of(r), {}).residual;
      const double stated =
          bound.measure(span_of(r), span_of(v), true_residual * referee.velocity_scale(), 5000, nullptr);
      EXPECT_GE(stated, true_residual * bound.least_scale()) << "seed " << seed << ", wrong by " << wrong;
      EXPECT_LT(stated, 1e3 * true_residual * referee.velocity_scale() * bound.condition());
    }
  }
}

/// The ranges of the true masses hold every error that a mass inside of them gives.
TEST(ResidualBound, HoldsForEveryMassOfTheRange) {
  Rng rng(7);
  for (int trial = 0; trial < 20000; ++trial) {
    const double low = std::pow(10.0, rng.uniform(-3.0, 0.0)), wide = std::pow(10.0, rng.uniform(0.0, 3.0));
    const InverseMass least{low, low * rng.uniform(0.5, 2.0)};
    const InverseMassRange range{least, {wide * least.normal, wide * least.tangent}};
    const double share = rng.uniform(0.0, 1.0), other = rng.uniform(0.0, 1.0);
    const InverseMass inside{least.normal * std::pow(wide, share), least.tangent * std::pow(wide, other)};
    const double small = std::pow(10.0, rng.uniform(-6.0, 0.0)), mu = rng.uniform(0.0, 1.0);
    double r[3], u[3], exact[3];
    const double slack = 1e-2 * small;
    for (int i = 0; i < 3; ++i) {
      r[i] = rng.uniform(-1.0, 1.0);
      u[i] = small * rng.uniform(-1.0, 1.0);
      exact[i] = u[i] + slack * rng.uniform(-0.57, 0.57);
    }
    if (trial % 2 == 0) r[0] = std::abs(r[0]);
    for (const FrictionLaw law : {FrictionLaw::cone, FrictionLaw::pyramid})
      EXPECT_GE(bound_contact_error(law, range, mu, r, u, slack) * (1.0 + 1e-12),
                contact_error(law, inside, mu, r, exact));
  }
}

/// Where bodies deform, the least of three numbers of operations is that of the method which is taken.
TEST(Auto, SaysWhyItChose) {
  const auto solver = make_solver("auto");
  EXPECT_EQ(solver->choice(zoo::specimen("h5_anisotropic_dual").problem), "the problem has no M");
  EXPECT_EQ(solver->choice(reference("expl")).find("no body deforms, "), 0U)
      << solver->choice(reference("expl"));
  for (const int contacts : {20, 1500}) {
    const ContactProblem problem = soft_bodies(3, contacts).problem;
    const std::string why = solver->choice(problem);
    double impulses = 0.0, velocities = 0.0, factorless = 0.0;
    ASSERT_EQ(
        std::sscanf(why.c_str(),
                    "operations expected: on impulses %lf, on velocities %lf, without a factor of M %lf",
                    &impulses, &velocities, &factorless),
        3)
        << why;
    const std::string used = solved(*solver, problem, 1e-3).report.message;
    EXPECT_EQ(used, contacts == 20 ? "impulses" : "no factor");
    EXPECT_EQ(impulses < std::min(velocities, factorless), used == "impulses") << why;
    EXPECT_EQ(factorless < std::min(impulses, velocities), used == "no factor") << why;
  }
}

/// Answers of the way without a factor pass the referee; again, and on any number of threads, with the same bits.
TEST(Auto, NeedsNoFactorWhereBodiesAreLarge) {
  for (const double residual : {1e-4, 1e-6}) {
    const ContactProblem problem = soft_bodies(3, 1500).problem;
    std::vector<double> first;
    for (const int threads : {1, 2, 4}) {
      TaskArena arena(threads);
      const auto solver = make_solver("auto");
      solver->use_arena(&arena);
      for (int again = 0; again < 2; ++again) {
        const Answer answer = solved(*solver, problem, residual);
        EXPECT_EQ(enum_name(answer.report.status), "converged");
        EXPECT_EQ(answer.report.message, "no factor");
        EXPECT_LE(answer.residual, residual);
        EXPECT_LE(answer.residual, answer.report.own_residual);
        if (first.empty()) first = answer.r;
        EXPECT_EQ(answer.r, first) << threads << " threads";
      }
    }
  }
}

TEST(SweepRecord, TellsTheRateOfAGeometricSequence) {
  SweepRecord record;
  record.begin(1.0);
  double error = 1.0;
  for (int sweep = 0; sweep < 20; ++sweep) record.add(error *= 0.5);
  EXPECT_NEAR(record.rate(), std::log(2.0), 1e-12);
  EXPECT_NEAR(record.left(error / 1024.0), 10.0, 1e-9);
  EXPECT_EQ(record.left(error), 0.0);
  SweepRecord still;
  still.begin(1.0);
  for (int sweep = 0; sweep < 20; ++sweep) still.add(1.0);
  EXPECT_TRUE(std::isinf(still.left(0.5)));
}

/// Beyond what it keeps one by one the rate is still that of the last half.
TEST(SweepRecord, ForgetsTheBeginningOfALongLeg) {
  SweepRecord record;
  record.begin(1.0);
  double error = 1.0;
  for (int sweep = 0; sweep < 1000; ++sweep) record.add(error *= 0.999);
  for (int sweep = 0; sweep < 2000; ++sweep) record.add(error *= 0.99);
  EXPECT_NEAR(record.rate(), -std::log(0.99), 1e-12);
  EXPECT_EQ(record.sweeps(), 3000);
  const double fallen = std::log(1.0 / error);
  for (int sweep = 0; sweep < 4000; ++sweep) record.add(error);
  EXPECT_EQ(record.rate(), 0.0);
  EXPECT_NEAR(record.best_rate(), fallen / 7000.0, 1e-12);
}

/// A tower of n spheres on a floor: two node blocks each, of which the one at the end has 3 below it and the next 2.
TEST(VelocityStepCost, CountsTheFactorOfATower) {
  PileOptions tower;
  tower.of = PileKind::sphere_tower;
  tower.contacts = 40;
  const ContactProblem problem = make_pile_problem(tower);
  ASSERT_EQ(problem.dofs(), 6 * 40);
  EXPECT_EQ(velocity_factor_products(problem), 13.0 * 39.0 + 1.0);
}

/// A snapshot of a stack of rigid bodies on which sweeps stand still with an estimated error just below the tolerance and a
/// measured one just above it: they have not arrived, and other steps must follow.
TEST(Auto, LeavesSweepsWhoseEstimateAloneMeetsTheTolerance) {
  RecordRequest request;
  request.scene_path = SIGNORINI_SOURCE_DIR "/configs/scenes/rigidstack.toml";
  request.size = SceneSize::quick;
  SceneRun run(request);
  ContactProblem problem;
  while (problem.contacts() == 0 && run.steps_taken() < 130)
    run.advance([](const std::string& id) { return id == "000130"; },
                [&](const Frame& frame) { problem = frame.problem; });
  ASSERT_EQ(problem.contacts(), 92);
  for (const double tolerance : {1e-6, 3e-7, 1e-7, 3e-8}) {
    const auto solver = make_solver("auto");
    const Answer answer = solved(*solver, problem, tolerance);
    EXPECT_EQ(enum_name(answer.report.status), "converged") << tolerance;
    EXPECT_LE(answer.residual, tolerance);
    EXPECT_LT(answer.report.iterations, 5000) << tolerance;
  }
}

/// Sweeps on this stack stand still for a hundred sweeps, and steps on velocities from there go astray; each costs no more than
/// what the other has.
TEST(Auto, TakesTurnsOnStacks) {
  const ContactProblem problem = make_pile_problem(tilted_bricks());
  const auto solver = make_solver("auto");
  const Answer answer = solved(*solver, problem, 1e-4);
  EXPECT_EQ(enum_name(answer.report.status), "converged");
  EXPECT_LE(answer.residual, 1e-4);
  EXPECT_LE(answer.report.counters.factorisations, 20);
  EXPECT_LE(answer.report.iterations, 2000);
}

/// Courses of bricks, of which only W is known: sweeps alone take several times as long. Inner sweeps of subdomains are counted as
/// sweeps over contacts, not as iterations.
TEST(Auto, SolvesSubdomainsWhereSweepsAreSlow) {
  PileOptions pile;
  pile.of = PileKind::bricks;
  pile.contacts = 1500;
  pile.mu = 0.8;
  const ContactProblem problem = make_pile_problem(pile);
  StopRule stop;
  stop.residual = 1e-8;
  stop.max_iterations = 10000;
  std::vector<double> expected;
  for (const int threads : {1, 2, 4}) {
    TaskArena arena(threads);
    const auto solver = make_solver("auto");
    solver->use_arena(threads == 1 ? nullptr : &arena);
    solver->prepare_island(assemble_reduced(problem, nullptr), problem.mu);
    std::vector<double> r(3 * static_cast<std::size_t>(problem.contacts()), 0.0);
    const SolveReport report = solver->solve(r, stop, nullptr);
    EXPECT_EQ(enum_name(report.status), "converged");
    EXPECT_GT(report.counters.contact_sweeps, report.iterations);
    if (threads == 1) {
      expected = r;
      EXPECT_LE(Referee(problem).measure(r, solver->common().spec()).residual, 1e-8);
    }
    EXPECT_EQ(expected, r) << threads << " threads";
  }
}

/// On 23,390 contacts conjugate gradients over rows of bodies arrive before another accelerator has a turn: the answer is that
/// of `nncg`, bit for bit. With a leg of Anderson's method after 40 sweeps it takes 480 sweeps instead of 240.
TEST(Auto, StaysWithConjugateGradientsOnManyContacts) {
  PileOptions pile = tilted_bricks();
  pile.contacts = 22000;
  const ContactProblem problem = make_pile_problem(pile);
  const auto solver = make_solver("auto");
  const auto alone = make_solver("nncg", {{"matrix", "bodies"}, {"order", "coloured"}});
  const Answer answer = solved(*solver, problem, 1e-3), expected = solved(*alone, problem, 1e-3);
  EXPECT_EQ(enum_name(answer.report.status), "converged");
  EXPECT_LE(answer.residual, 1e-3);
  EXPECT_EQ(answer.report.counters.contact_sweeps, expected.report.counters.contact_sweeps);
  EXPECT_EQ(answer.r, expected.r);
}

}  // namespace
}  // namespace signorini::auto_test
