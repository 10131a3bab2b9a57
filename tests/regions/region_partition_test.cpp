#include "regions/region_partition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "regions/graph_problems.h"

namespace signorini::region_partition_test {
namespace {

using test::Graph;
using test::labels_by_traversal;
using test::problem_from;
using test::random_graph;

TEST(RegionPartition, ContactsOnAThenBThenBothAreOneRegion) {
  const auto problem = problem_from({2, {{0}, {1}, {0, 1}}, {}});
  const auto partition = partition_regions(problem, RegionMode::points);
  EXPECT_EQ(partition.regions(), 1);
  EXPECT_EQ(partition.label, (std::vector<Index>{0, 0, 0}));
  EXPECT_EQ(partition.largest(), 3);
}

TEST(RegionPartition, LabelsAreRanksOfTheSmallestContactAndListsAscend) {
  const auto problem = problem_from({4, {{3}, {1}, {0, 3}, {2}, {1}, {0}}, {}});
  const auto partition = partition_regions(problem, RegionMode::points);
  EXPECT_EQ(partition.label, (std::vector<Index>{0, 1, 0, 2, 1, 0}));
  EXPECT_EQ(partition.region_begin, (std::vector<Index>{0, 3, 5, 6}));
  EXPECT_EQ(partition.contacts, (std::vector<Index>{0, 2, 5, 1, 4, 3}));
}

TEST(RegionPartition, ModeNoneIsOneRegionOfEverything) {
  const auto problem = problem_from({3, {{0}, {1}, {2}}, {}});
  const auto partition = partition_regions(problem, RegionMode::none);
  EXPECT_EQ(partition.regions(), 1);
  EXPECT_EQ(partition.contacts, (std::vector<Index>{0, 1, 2}));
}

TEST(RegionPartition, ZeroContactsGiveZeroRegions) {
  const auto problem = problem_from({3, {}, {{0, 1}}});
  for (const auto mode : {RegionMode::none, RegionMode::islands, RegionMode::points_approx}) {
    const auto partition = partition_regions(problem, mode);
    EXPECT_EQ(partition.regions(), 0);
    EXPECT_EQ(partition.largest(), 0);
    EXPECT_TRUE(partition.contacts.empty());
  }
}

// Boxes on a common floor: the floor owns no columns of H, so only the feet's own nodes count.
TEST(RegionPartition, AFixedFloorMergesNothing) {
  const auto problem = problem_from({4, {{0}, {1}, {2}, {3}}, {}});
  EXPECT_EQ(partition_regions(problem, RegionMode::points).regions(), 4);
}

TEST(RegionPartition, AContactOfTwoFixedBodiesIsItsOwnRegion) {
  const auto problem = problem_from({2, {{0}, {}, {0, 1}, {}}, {}});
  EXPECT_EQ(partition_regions(problem, RegionMode::points).label, (std::vector<Index>{0, 1, 0, 2}));
  EXPECT_EQ(partition_regions(problem, RegionMode::islands).label, (std::vector<Index>{0, 1, 0, 2}));
}

TEST(RegionPartition, StoredZerosConnectNothing) {
  auto problem = problem_from({3, {{0, 1}, {1, 2}, {2}}, {{0, 2}}});
  for (Index j = 3; j < 6; ++j) {
    for (SparseColumns::InnerIterator entry(problem.H, j); entry; ++entry) {
      if (entry.row() / 3 == 1) entry.valueRef() = 0.0;  // contact 1 lets go of node 1
    }
  }
  EXPECT_EQ(partition_regions(problem, RegionMode::points_approx).label, (std::vector<Index>{0, 1, 1}));
  EXPECT_EQ(partition_regions(problem, RegionMode::islands).regions(), 1);
  for (Index i = 0; i < problem.dofs(); ++i) {
    for (SparseRows::InnerIterator entry(problem.M, i); entry; ++entry) {
      if (entry.row() / 3 != entry.col() / 3) entry.valueRef() = 0.0;
    }
  }
  EXPECT_EQ(partition_regions(problem, RegionMode::points).label, (std::vector<Index>{0, 1, 1}));
  EXPECT_EQ(partition_regions(problem, RegionMode::islands).label, (std::vector<Index>{0, 1, 1}));
}

TEST(RegionPartition, PointsAreRefusedOnACoupledMassWithAWayOut) {
  const auto problem = problem_from({3, {{0}, {1}}, {{1, 2}}});
  try {
    partition_regions(problem, RegionMode::points);
    FAIL() << "accepted";
  } catch (const UsageError& error) {
    const std::string text = error.what();
    for (const char* part : {"mass points 1 and 2", "'islands'", "'points-approx'"}) {
      EXPECT_NE(text.find(part), std::string::npos) << text;
    }
  }
}

TEST(RegionPartition, AContactAndItsBodyAreOneIslandWithEveryOtherContactOfTheBody) {
  // Two bodies 0-1-2 and 3-4, both on the floor; the last contact ties nothing new.
  const Graph graph{5, {{0}, {2}, {4}, {3}, {0, 2}}, {{0, 1}, {1, 2}, {3, 4}}};
  const auto problem = problem_from(graph);
  EXPECT_EQ(partition_regions(problem, RegionMode::islands).label, (std::vector<Index>{0, 0, 1, 1, 0}));
  EXPECT_EQ(partition_regions(problem, RegionMode::points_approx).label, (std::vector<Index>{0, 0, 1, 2, 0}));
}

RegionPartition of_sizes(const std::vector<Index>& sizes) {
  std::vector<Index> label;
  for (Index i = 0; i < count(sizes); ++i) label.insert(label.end(), sizes[i], i);
  return partition_from_labels(RegionMode::islands, std::move(label), count(sizes));
}

TEST(RegionPartition, SmallRegionsAreJoinedUntilTheyHoldEnoughTogether) {
  const RegionPartition joined = join_small_regions(of_sizes({2, 5, 1, 2, 4, 1, 1}), 4);
  EXPECT_EQ(joined.label, (std::vector<Index>{0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 2, 2, 2, 2, 3, 3}));
  EXPECT_EQ(joined.regions(), 4);  // 2 + 1 + 2, 5, 4 and the last two, which stay below
}

TEST(RegionPartition, JoiningLeavesTheListsInOrderAndNothingOut) {
  Rng rng(11);
  for (int trial = 0; trial < 100; ++trial) {
    const Graph graph = random_graph(60, static_cast<Index>(rng.below(60)), 10, rng);
    const ContactProblem problem = problem_from(graph, rng.next());
    const RegionPartition islands = partition_regions(problem, RegionMode::islands);
    const auto least = static_cast<Index>(1 + rng.below(12));
    const RegionPartition joined = join_small_regions(islands, least);
    Index next = 0, below = 0;
    for (Index i = 0; i < joined.regions(); ++i) {
      ASSERT_FALSE(joined.region(i).empty());
      EXPECT_TRUE(std::is_sorted(joined.region(i).begin(), joined.region(i).end()));
      EXPECT_GE(joined.region(i).front(), next);  // numbered by the smallest contact
      next = joined.region(i).front();
      below += count(joined.region(i)) < least ? 1 : 0;
    }
    EXPECT_LE(below, 1);
    for (Index i = 0; i < islands.regions(); ++i) {
      for (const Index k : islands.region(i))
        EXPECT_EQ(joined.label[k], joined.label[islands.region(i).front()]);
    }
    if (least == 1) {
      EXPECT_EQ(joined.label, islands.label);
    }
    EXPECT_EQ(partition_regions(problem, RegionMode::automatic).label, islands.label);
  }
}

TEST(RegionPartition, ExactnessIsSaidForEveryMode) {
  const auto explicit_step = problem_from({3, {{0}, {1}}, {}});
  const auto separate = problem_from({3, {{0}, {1}}, {{1, 2}}});  // coupled, but no two contacts through it
  const auto joined = problem_from({3, {{0}, {1}}, {{0, 2}, {1, 2}}});
  for (const auto mode :
       {RegionMode::none, RegionMode::points, RegionMode::islands, RegionMode::points_approx}) {
    EXPECT_TRUE(is_exact(explicit_step, mode));
  }
  EXPECT_FALSE(is_exact(separate, RegionMode::points));
  EXPECT_TRUE(is_exact(separate, RegionMode::points_approx));
  EXPECT_FALSE(is_exact(joined, RegionMode::points_approx));
  EXPECT_TRUE(is_exact(joined, RegionMode::islands));
  EXPECT_TRUE(is_exact(joined, RegionMode::automatic));
  EXPECT_TRUE(is_exact(joined, RegionMode::none));
}

ContactProblem dual_problem(Index m, const std::vector<std::pair<Index, Index>>& blocks) {
  ContactProblem problem;
  std::vector<Eigen::Triplet<double, Index>> entries;
  for (Index i = 0; i < 3 * m; ++i) entries.emplace_back(i, i, 2.0);
  for (const auto& [k, l] : blocks) entries.emplace_back(3 * k + 1, 3 * l + 2, 0.25);
  problem.W.resize(3 * m, 3 * m);
  problem.W.setFromTriplets(entries.begin(), entries.end());
  problem.q = Vector::Constant(3 * m, -1.0);
  problem.mu = Vector::Constant(m, 0.5);
  return problem;
}

TEST(RegionPartition, ADualProblemIsSplitByTheBlocksOfW) {
  const auto problem = dual_problem(5, {{3, 1}, {4, 0}});  // one triangle only: W need not be symmetric
  for (const auto mode : {RegionMode::points, RegionMode::islands, RegionMode::points_approx}) {
    EXPECT_EQ(partition_regions(problem, mode).label, (std::vector<Index>{0, 1, 2, 1, 0}));
    EXPECT_TRUE(is_exact(problem, mode));
  }
}

TEST(RegionPartition, AStoredWJoinsWhatThePrimalPartLeavesApart) {
  auto problem = problem_from({2, {{0}, {1}}, {}});
  const auto dual = dual_problem(2, {{0, 1}});
  problem.W = dual.W;
  problem.q = dual.q;
  EXPECT_EQ(partition_regions(problem, RegionMode::points).regions(), 1);
  EXPECT_EQ(partition_regions(problem, RegionMode::islands).regions(), 1);
}

TEST(RegionPartition, EqualsPlainGraphTraversalOnRandomGraphs) {
  Rng rng(7);
  for (int trial = 0; trial < 400; ++trial) {
    const auto nodes = static_cast<Index>(1 + rng.below(60));
    const auto contacts = static_cast<Index>(rng.below(60));
    const auto couplings = static_cast<Index>(trial % 2 == 0 ? 0 : rng.below(40));
    const Graph graph = random_graph(nodes, contacts, couplings, rng);
    const auto problem = problem_from(graph, rng.next());
    SCOPED_TRACE(trial);
    EXPECT_EQ(partition_regions(problem, RegionMode::islands).label, labels_by_traversal(graph, true));
    EXPECT_EQ(partition_regions(problem, RegionMode::points_approx).label, labels_by_traversal(graph, false));
    if (couplings == 0) {
      EXPECT_EQ(partition_regions(problem, RegionMode::points).label, labels_by_traversal(graph, false));
    }
  }
}

TEST(RegionPartition, EveryMassPointRegionLiesInsideOneIsland) {
  Rng rng(8);
  for (int trial = 0; trial < 200; ++trial) {
    const Graph graph = random_graph(40, 40, 20, rng);
    const auto problem = problem_from(graph, rng.next());
    const auto regions = partition_regions(problem, RegionMode::points_approx);
    const auto islands = partition_regions(problem, RegionMode::islands);
    EXPECT_LE(islands.regions(), regions.regions());
    for (Index r = 0; r < regions.regions(); ++r) {
      const std::size_t first = regions.region(r).front();
      for (const Index k : regions.region(r)) {
        EXPECT_EQ(islands.label[k], islands.label[first]);
      }
    }
  }
}

// Orders that make naive linking deep: one long chain met forwards, backwards, from both ends, and in doubling steps.
TEST(RegionPartition, AdversarialChainsAreOneRegion) {
  constexpr Index kLinks = 20000;
  const auto chain = [](auto order) {
    Graph graph{kLinks + 1, {}, {}};
    for (Index i = 0; i < kLinks; ++i) graph.contacts.push_back({order(i), order(i) + 1});
    return problem_from(graph);
  };
  const auto forwards = [](Index i) { return i; };
  const auto backwards = [](Index i) { return kLinks - 1 - i; };
  const auto both_ends = [](Index i) { return i % 2 == 0 ? i / 2 : kLinks - 1 - i / 2; };
  const auto strided = [](Index i) {
    return static_cast<Index>((static_cast<std::int64_t>(i) * 7919) % kLinks);
  };
  EXPECT_EQ(partition_regions(chain(forwards), RegionMode::points).regions(), 1);
  EXPECT_EQ(partition_regions(chain(backwards), RegionMode::points).regions(), 1);
  EXPECT_EQ(partition_regions(chain(both_ends), RegionMode::points).regions(), 1);
  EXPECT_EQ(partition_regions(chain(strided), RegionMode::points).regions(), 1);
}

TEST(RegionPartition, PermutingTheContactsPermutesTheRegions) {
  Rng rng(9);
  for (int trial = 0; trial < 50; ++trial) {
    const Graph graph = random_graph(50, 50, 0, rng);
    std::vector<std::size_t> order(graph.contacts.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
    Graph permuted{graph.nodes, {}, {}};
    for (const std::size_t k : order) permuted.contacts.push_back(graph.contacts[k]);
    const auto before = partition_regions(problem_from(graph), RegionMode::points).label;
    const auto after = partition_regions(problem_from(permuted), RegionMode::points).label;
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (std::size_t j = 0; j < order.size(); ++j) {
        EXPECT_EQ(after[i] == after[j], before[order[i]] == before[order[j]]);
      }
    }
  }
}

}  // namespace
}  // namespace signorini::region_partition_test
