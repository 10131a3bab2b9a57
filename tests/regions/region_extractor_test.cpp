#include "regions/region_extractor.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>

#include "regions/graph_problems.h"

namespace signorini::region_extractor_test {
namespace {

using test::Graph;
using test::problem_from;
using test::random_graph;

// W and q by dense algebra, with no code of the library.
Matrix dense_delassus(const ContactProblem& problem) {
  const Matrix M(problem.M);
  const Matrix H(problem.H);
  return H.transpose() * M.llt().solve(H);
}
Vector dense_q(const ContactProblem& problem) {
  const Matrix M(problem.M);
  return Matrix(problem.H).transpose() * M.llt().solve(problem.f) + problem.w;
}

void expect_blocks_of(const ContactProblem& whole, const RegionPartition& partition) {
  const Matrix W = dense_delassus(whole);
  const Vector q = dense_q(whole);
  // Two Cholesky solves of matrices with condition below 1e3 and at most 200 rows: 200 · 1e3 · ε.
  const double tolerance = 200 * 1e3 * 2.2e-16;
  const RegionExtractor extractor(whole, partition);
  for (Index r = 0; r < partition.regions(); ++r) {
    const auto contacts = partition.region(r);
    const ContactProblem part = extractor.extract(r);
    ASSERT_EQ(part.contacts(), count(contacts));
    const Matrix W_r = dense_delassus(part);
    const Vector q_r = dense_q(part);
    for (Index i = 0; i < count(contacts); ++i) {
      EXPECT_EQ(part.mu[i], whole.mu[contacts[i]]);
      EXPECT_LE((q_r.segment<3>(3 * i) - q.segment<3>(3 * contacts[i])).norm(), tolerance);
      for (Index j = 0; j < count(contacts); ++j) {
        EXPECT_LE((W_r.block<3, 3>(3 * i, 3 * j) - W.block<3, 3>(3 * contacts[i], 3 * contacts[j])).norm(),
                  tolerance);
      }
    }
  }
}

TEST(RegionExtractor, PartsOfExplicitProblemsHaveTheBlocksOfW) {
  Rng rng(21);
  for (int trial = 0; trial < 30; ++trial) {
    const auto problem = problem_from(random_graph(25, 18, 0, rng), rng.next());
    expect_blocks_of(problem, partition_regions(problem, RegionMode::points));
    expect_blocks_of(problem, partition_regions(problem, RegionMode::islands));
  }
}

TEST(RegionExtractor, IslandsAndApproximatePointsOfImplicitProblemsHaveTheBlocksOfW) {
  Rng rng(22);
  for (int trial = 0; trial < 30; ++trial) {
    const auto problem = problem_from(random_graph(25, 18, 15, rng), rng.next());
    expect_blocks_of(problem, partition_regions(problem, RegionMode::islands));
    expect_blocks_of(problem, partition_regions(problem, RegionMode::points_approx));
    expect_blocks_of(problem, partition_regions(problem, RegionMode::none));
  }
}

TEST(RegionExtractor, ARegionKeepsOnlyTheNodesItNeeds) {
  // Node 1 is touched by nobody; bodies 0-1-2 and 3-4.
  const Graph graph{6, {{0}, {4}, {2}}, {{0, 1}, {1, 2}, {3, 4}}};
  const auto problem = problem_from(graph);
  const auto islands = partition_regions(problem, RegionMode::islands);
  const RegionExtractor extractor(problem, islands);
  const auto nodes = [&](Index r) {
    return std::vector<Index>(extractor.nodes(r).begin(), extractor.nodes(r).end());
  };
  EXPECT_EQ(nodes(0), (std::vector<Index>{0, 1, 2}));
  EXPECT_EQ(nodes(1), (std::vector<Index>{3, 4}));

  const auto loose = problem_from({6, {{5, 0}, {4}, {2}}, {}});
  const auto points = partition_regions(loose, RegionMode::points);
  const ContactProblem first = extract_region(loose, points, 0);
  EXPECT_EQ(first.dofs(), 6);
  EXPECT_EQ(first.M.coeff(3, 3), loose.M.coeff(15, 15));
  EXPECT_EQ(first.f[0], loose.f[0]);
  EXPECT_EQ(first.f[5], loose.f[17]);
}

TEST(RegionExtractor, MetadataFollowsItsContacts) {
  auto problem = problem_from({4, {{3}, {0, 1}, {3, 2}}, {}});
  const Index m = 3;
  problem.kind = ProblemKind::explicit_step;
  problem.dt = 0.25;
  problem.time = 1.5;
  problem.gap = Vector::LinSpaced(m, 10, 12);
  problem.frame = Matrix::Random(m, 9);
  problem.position = Matrix::Random(m, 3);
  problem.points.resize(m, 4);
  problem.points << 3, -1, -1, -1, 0, 1, -1, -1, 3, 2, -1, -1;
  problem.weights.resize(m, 4);
  problem.weights << 1, 0, 0, 0, 1, -1, 0, 0, 1, -1, 0, 0;
  problem.bodies.resize(m, 2);
  problem.bodies << 2, -1, 0, 0, 2, 1;
  problem.body_dofs = {0, 6, 9, 12};
  problem.warm_start = Vector::LinSpaced(3 * m, 0, 8);
  problem.features.resize(m, 2);
  problem.features << 9, 1, 9, 2, -3, -8;
  problem.node_numbers = {10, 20, 30, 40};
  problem.v_minus = Vector::LinSpaced(12, 100, 111);
  problem.start_states = {FrictionState::sliding, FrictionState::unknown, FrictionState::open};
  problem.start_bounds = (Vector(m) << 0.5, 0.0, 0.25).finished();

  const auto partition = partition_regions(problem, RegionMode::points);
  ASSERT_EQ(partition.label, (std::vector<Index>{0, 1, 0}));
  const ContactProblem part = extract_region(problem, partition, 0);
  EXPECT_EQ(part.kind, ProblemKind::explicit_step);
  EXPECT_EQ(part.dt, 0.25);
  EXPECT_EQ(part.time, 1.5);
  EXPECT_EQ(part.gap, (Vector(2) << 10, 12).finished());
  EXPECT_EQ(part.frame.row(1), problem.frame.row(2));
  EXPECT_EQ(part.position.row(1), problem.position.row(2));
  EXPECT_EQ(part.weights.row(1), problem.weights.row(2));
  EXPECT_EQ(part.warm_start, (Vector(6) << 0, 1, 2, 6, 7, 8).finished());
  // Nodes 2, 3 become 0, 1; bodies 1, 2 become 0, 1 and own one node each.
  EXPECT_EQ(part.points(0, 0), 1);
  EXPECT_EQ(part.points(0, 1), -1);
  EXPECT_EQ(part.points(1, 0), 1);
  EXPECT_EQ(part.points(1, 1), 0);
  EXPECT_EQ(part.bodies(0, 0), 1);
  EXPECT_EQ(part.bodies(0, 1), -1);
  EXPECT_EQ(part.bodies(1, 1), 0);
  EXPECT_EQ(part.body_dofs, (std::vector<Index>{0, 3, 6}));
  EXPECT_EQ(part.features, (Eigen::Matrix<Index, 2, 2>() << 9, 1, -3, -8).finished());
  EXPECT_EQ(part.node_numbers, (std::vector<Index>{30, 40}));
  EXPECT_EQ(part.v_minus, (Vector(6) << 106, 107, 108, 109, 110, 111).finished());
  EXPECT_EQ(part.start_states, (std::vector<FrictionState>{FrictionState::sliding, FrictionState::open}));
  EXPECT_EQ(part.start_bounds, (Vector(2) << 0.5, 0.25).finished());
}

/// Every entry of the starts is another number, so that one in a wrong place shows.
ContactProblem with_starts(ContactProblem problem) {
  const Index m = problem.contacts();
  problem.warm_start = Vector::LinSpaced(3 * m, 1, 3 * m);
  problem.v_minus = Vector::LinSpaced(problem.dofs(), 100, 99 + problem.dofs());
  problem.start_bounds = Vector::LinSpaced(m, 1000, 999 + m);
  for (Index k = 0; k < m; ++k) problem.start_states.push_back(static_cast<FrictionState>(k % 4 - 1));
  return problem;
}

// Nodes and contacts of the two regions interleave; every node touches a contact.
TEST(RegionExtractor, TheStartsOfTheRegionsPutTogetherAreThoseOfTheWhole) {
  const ContactProblem whole =
      with_starts(problem_from({6, {{0, 2}, {5, 3}, {4, 2}, {1, 5}, {0}, {3}, {2}}, {}}));
  const auto partition = partition_regions(whole, RegionMode::points);
  ASSERT_EQ(partition.label, (std::vector<Index>{0, 1, 0, 1, 0, 1, 0}));
  ContactProblem joined;
  joined.warm_start.setConstant(21, -1.0);
  joined.v_minus.setConstant(18, -1.0);
  joined.start_bounds.setConstant(7, -1.0);
  joined.start_states.assign(7, FrictionState::unknown);
  const RegionExtractor extractor(whole, partition);
  for (Index r = 0; r < partition.regions(); ++r) {
    const ContactProblem part = extractor.extract_system(r);
    EXPECT_FALSE(find_defect(part).has_value()) << *find_defect(part);
    ASSERT_EQ(part.warm_start.size(), 3 * part.contacts());
    ASSERT_EQ(part.v_minus.size(), part.dofs());
    ASSERT_EQ(part.start_bounds.size(), part.contacts());
    ASSERT_EQ(part.start_states.size(), partition.region(r).size());
    Index i = 0;
    for (const Index k : partition.region(r)) {
      joined.warm_start.segment<3>(3 * k) = part.warm_start.segment<3>(3 * i);
      joined.start_bounds[k] = part.start_bounds[i];
      joined.start_states[k] = part.start_states[i++];
    }
    i = 0;
    for (const Index node : extractor.nodes(r))
      joined.v_minus.segment<3>(3 * node) = part.v_minus.segment<3>(3 * i++);
  }
  EXPECT_EQ(joined.warm_start, whole.warm_start);
  EXPECT_EQ(joined.v_minus, whole.v_minus);
  EXPECT_EQ(joined.start_bounds, whole.start_bounds);
  EXPECT_EQ(joined.start_states, whole.start_states);
}

TEST(RegionExtractor, OfAProblemWithoutStartsTheRegionsHaveNone) {
  const ContactProblem whole = problem_from({3, {{0}, {1, 2}}, {}});
  const ContactProblem part =
      RegionExtractor(whole, partition_regions(whole, RegionMode::points)).extract_system(1);
  EXPECT_EQ(part.warm_start.size(), 0);
  EXPECT_EQ(part.v_minus.size(), 0);
  EXPECT_EQ(part.start_bounds.size(), 0);
  EXPECT_TRUE(part.start_states.empty());
}

TEST(RegionExtractor, ARegionThatMovesNothingIsAValidProblemWithUEqualW) {
  auto problem = problem_from({2, {{0}, {}, {1}}, {}});
  problem.v_minus = Vector::Ones(6);
  problem.start_states.assign(3, FrictionState::sticking);
  problem.start_bounds = Vector::Ones(3);
  const auto partition = partition_regions(problem, RegionMode::points);
  const ContactProblem part = extract_region(problem, partition, 1);
  EXPECT_EQ(part.v_minus, Vector::Zero(3)) << "the idle mass";
  EXPECT_EQ(part.contacts(), 1);
  EXPECT_TRUE(part.has_primal());
  EXPECT_EQ(part.H.nonZeros(), 0);
  EXPECT_EQ(part.w, Vector(problem.w.segment<3>(3)));
  EXPECT_EQ(dense_q(part), part.w);
  EXPECT_FALSE(find_defect(part).has_value());
}

TEST(RegionExtractor, DualPartsAreCutByRowsAndColumns) {
  const auto primal = problem_from({5, {{0}, {1}, {0}, {3, 4}, {1, 2}}, {}});
  ContactProblem dual;
  dual.W = Matrix(dense_delassus(primal)).sparseView();
  dual.W.makeCompressed();
  dual.q = dense_q(primal);
  dual.mu = primal.mu;
  dual.start_bounds = Vector::LinSpaced(5, 0.0, 4.0);
  const auto partition = partition_regions(dual, RegionMode::points);
  ASSERT_EQ(partition.label, (std::vector<Index>{0, 1, 0, 2, 1}));
  const ContactProblem part = extract_region(dual, partition, 1);
  EXPECT_FALSE(part.has_primal());
  ASSERT_EQ(part.W.rows(), 6);
  EXPECT_EQ(part.W.coeff(0, 4), dual.W.coeff(3, 13));
  EXPECT_EQ(part.W.coeff(5, 2), dual.W.coeff(14, 5));
  EXPECT_EQ(part.q[4], dual.q[13]);
  EXPECT_EQ(part.start_bounds, (Vector(2) << 1.0, 4.0).finished());
  EXPECT_EQ(part.v_minus.size(), 0);
  EXPECT_TRUE(part.start_states.empty());
}

}  // namespace
}  // namespace signorini::region_extractor_test
