#include "regions/incremental_partition.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <set>

#include "base/check.h"
#include "contact/planted_problem.h"
#include "regions/graph_problems.h"

namespace signorini::incremental_partition_test {
namespace {

struct Frame {
  std::vector<std::uint64_t> keys;
  std::vector<std::vector<Index>> contacts;

  ContactElements elements() const {
    ContactElements out;
    for (auto own : contacts) {
      std::sort(own.begin(), own.end());
      own.erase(std::unique(own.begin(), own.end()), own.end());
      out.element.insert(out.element.end(), own.begin(), own.end());
      out.begin.push_back(count(out.element));
    }
    return out;
  }
  void add(std::uint64_t key, std::vector<Index> own) {
    keys.push_back(key);
    contacts.push_back(std::move(own));
  }
  void remove(std::size_t i) {
    keys.erase(keys.begin() + i);
    contacts.erase(contacts.begin() + i);
  }
};

const RegionPartition& update(IncrementalPartition& regions, const Frame& frame) {
  return regions.update(frame.keys, frame.elements());
}

std::vector<std::uint64_t> names(const IncrementalPartition& regions) {
  return {regions.names().begin(), regions.names().end()};
}

TEST(IncrementalPartition, AnAddedContactJoinsTwoRegionsAndTheLargerGivesItsName) {
  IncrementalPartition regions(RegionMode::points);
  Frame frame;
  frame.add(10, {0});
  frame.add(11, {1});
  frame.add(12, {1, 2});
  EXPECT_EQ(update(regions, frame).label, (std::vector<Index>{0, 1, 1}));
  EXPECT_EQ(names(regions), (std::vector<std::uint64_t>{0, 1}));
  EXPECT_EQ(regions.churn().born, 2);
  frame.add(13, {0, 1});
  EXPECT_EQ(update(regions, frame).label, (std::vector<Index>{0, 0, 0, 0}));
  EXPECT_EQ(names(regions), (std::vector<std::uint64_t>{1}));
  EXPECT_EQ(regions.churn().merged, 1);
  EXPECT_EQ(regions.churn().added, 1);
  EXPECT_EQ(regions.churn().torn, 0);
  EXPECT_EQ(regions.birth_frames()[0], 1U);
}

TEST(IncrementalPartition, ARemovedContactSplitsItsRegionAndTheLargerPartKeepsTheName) {
  IncrementalPartition regions(RegionMode::points);
  Frame frame;
  frame.add(1, {0, 1});
  frame.add(2, {1, 2});  // the bridge
  frame.add(3, {2, 3});
  frame.add(4, {3});
  frame.add(5, {7});
  update(regions, frame);
  EXPECT_EQ(names(regions), (std::vector<std::uint64_t>{0, 1}));
  frame.remove(1);
  EXPECT_EQ(update(regions, frame).label, (std::vector<Index>{0, 1, 1, 2}));
  EXPECT_EQ(names(regions), (std::vector<std::uint64_t>{2, 0, 1}));
  EXPECT_EQ(regions.churn().split, 1);
  EXPECT_EQ(regions.churn().torn, 1);
  EXPECT_EQ(regions.churn().reunited, 3);
  EXPECT_EQ(regions.birth_frames()[0], 2U);
  EXPECT_EQ(regions.birth_frames()[1], 1U);
}

TEST(IncrementalPartition, EqualGiftsGoToTheSmallerName) {
  IncrementalPartition regions(RegionMode::points);
  Frame frame;
  frame.add(1, {0});
  frame.add(2, {1});
  update(regions, frame);
  std::swap(frame.keys[0], frame.keys[1]);
  std::swap(frame.contacts[0], frame.contacts[1]);
  frame.add(3, {0, 1});
  EXPECT_EQ(update(regions, frame).regions(), 1);
  EXPECT_EQ(names(regions), (std::vector<std::uint64_t>{0}));
}

TEST(IncrementalPartition, AnUnchangedFrameCostsNothingAndKeepsEverything) {
  IncrementalPartition regions(RegionMode::points);
  Frame frame;
  frame.add(1, {0, 1});
  frame.add(2, {});
  frame.add(3, {5});
  const auto before = update(regions, frame).label;
  EXPECT_EQ(update(regions, frame).label, before);
  EXPECT_EQ(regions.churn().kept, 3);
  EXPECT_EQ(regions.churn().added + regions.churn().removed + regions.churn().reunited, 0);
  EXPECT_EQ(names(regions), (std::vector<std::uint64_t>{0, 1, 2}));
}

TEST(IncrementalPartition, AReusedKeyWithOtherElementsIsAnotherContact) {
  IncrementalPartition regions(RegionMode::points);
  Frame frame;
  frame.add(1, {0, 1});
  frame.add(2, {1, 2});
  frame.add(3, {4});
  update(regions, frame);
  frame.contacts[1] = {4};
  EXPECT_EQ(update(regions, frame).label, (std::vector<Index>{0, 1, 1}));
  EXPECT_EQ(regions.churn().removed, 1);
  EXPECT_EQ(regions.churn().added, 1);
  frame.remove(1);
  update(regions, frame);
  frame.add(2, {0, 4});  // the key comes back
  EXPECT_EQ(update(regions, frame).label, (std::vector<Index>{0, 0, 0}));
}

TEST(IncrementalPartition, AKeyThatNamesTwoContactsIsRefusedAndTheHistoryForgotten) {
  for (const bool known : {false, true}) {
    IncrementalPartition regions(RegionMode::points);
    Frame frame;
    if (known) {
      frame.add(9, {0});
      update(regions, frame);
      frame.add(9, {0});
    } else {
      frame.add(9, {0});
      frame.add(9, {1});
    }
    EXPECT_THROW(update(regions, frame), UsageError);
    frame = {};
    frame.add(4, {2});
    EXPECT_EQ(update(regions, frame).label, (std::vector<Index>{0}));
    EXPECT_EQ(regions.churn().added, 1);
  }
}

// Contacts come, go, come back under old keys, change their elements and their order; after every frame the labels are those
// of a plain graph traversal, and the counts of the churn are those of the key sets.
class IncrementalPartitionRandom : public ::testing::TestWithParam<int> {};

TEST_P(IncrementalPartitionRandom, EqualsAFullRebuildAfterEveryFrame) {
  const int trial = GetParam();
  Rng rng(static_cast<std::uint64_t>(100 + trial));
  IncrementalPartition regions(RegionMode::points);
  const Index nodes = trial % 3 == 0 ? 12 : 40;
  const std::uint64_t key_range = trial % 2 == 0 ? 30 : 1000000;
  Frame frame;
  std::map<std::uint64_t, std::vector<Index>> before;
  std::set<std::uint64_t> names_ever;
  for (int step = 0; step < 1500; ++step) {
    const auto changes = step % 50 == 0 ? rng.below(20) : rng.below(4);
    for (std::uint64_t c = 0; c < changes; ++c) {
      const bool shrink = frame.keys.size() > 25 || (rng.uniform() < 0.5 && !frame.keys.empty());
      if (shrink) {
        frame.remove(rng.below(frame.keys.size()));
      } else {
        const std::uint64_t key = rng.below(key_range);
        if (std::find(frame.keys.begin(), frame.keys.end(), key) != frame.keys.end()) continue;
        std::vector<Index> own;
        const auto degree = rng.below(4);
        for (std::uint64_t i = 0; i < degree; ++i) {
          own.push_back(static_cast<Index>(rng.below(static_cast<std::uint64_t>(nodes))));
        }
        frame.add(key, own);
      }
    }
    if (step % 7 == 0 && frame.keys.size() > 1) {
      const std::size_t i = rng.below(frame.keys.size());
      const std::size_t j = rng.below(frame.keys.size());
      std::swap(frame.keys[i], frame.keys[j]);
      std::swap(frame.contacts[i], frame.contacts[j]);
    }
    if (step % 400 == 399) frame = {};

    const auto& partition = update(regions, frame);
    ASSERT_EQ(partition.label, test::labels_by_traversal({nodes, frame.contacts, {}}, false))
        << "step " << step;
    Index next = 0;
    for (Index r = 0; r < partition.regions(); ++r) {
      for (const Index k : partition.region(r)) ASSERT_EQ(partition.label[k], r);
      next += count(partition.region(r));
    }
    ASSERT_EQ(next, count(frame.keys));

    std::map<std::uint64_t, std::vector<Index>> now;
    const auto elements = frame.elements();
    for (Index i = 0; i < count(frame.keys); ++i) {
      const auto own = elements.of(i);
      now[frame.keys[i]] = {own.begin(), own.end()};
    }
    Index kept = 0;
    for (const auto& [key, own] : now) {
      const auto found = before.find(key);
      kept += found != before.end() && found->second == own ? 1 : 0;
    }
    ASSERT_EQ(regions.churn().kept, kept);
    ASSERT_EQ(regions.churn().added, count(now) - kept);
    ASSERT_EQ(regions.churn().removed, count(before) - kept);
    before = now;

    const auto names = regions.names();
    const std::set<std::uint64_t> distinct(names.begin(), names.end());
    ASSERT_EQ(count(distinct), partition.regions());
    for (std::size_t r = 0; r < names.size(); ++r) {
      // A name never comes back once it is gone: new ones are new.
      const bool fresh = regions.birth_frames()[r] == regions.frame();
      ASSERT_EQ(fresh, names_ever.insert(names[r]).second);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sequences, IncrementalPartitionRandom, ::testing::Range(0, 6));

/// Contacts at nodes 2, {1, 5} and 3 of six; M couples 1–2 and 4–5; node i is number 10 + i of the scene.
ContactProblem problem_with_numbers() {
  auto problem = test::problem_from({6, {{2}, {5, 1}, {3}}, {{1, 2}, {4, 5}}});
  for (Index i = 0; i < 6; ++i) problem.node_numbers.push_back(10 + i);
  return problem;
}

TEST(ContactElements, IslandsAreNamedByTheSmallestNodeOfTheBody) {
  const auto problem = test::problem_from({6, {{2}, {5, 1}, {3}, {}}, {{1, 2}, {4, 5}}});
  const auto points = contact_elements(problem, RegionMode::points);
  const auto islands = contact_elements(problem, RegionMode::islands);
  const auto list = [](std::span<const Index> own) { return std::vector<Index>(own.begin(), own.end()); };
  EXPECT_EQ(list(points.of(1)), (std::vector<Index>{1, 5}));
  EXPECT_EQ(list(islands.of(0)), (std::vector<Index>{1}));
  EXPECT_EQ(list(islands.of(1)), (std::vector<Index>{1, 4}));
  EXPECT_TRUE(islands.of(3).empty());
  EXPECT_EQ(partition_elements(islands, RegionMode::islands).label,
            partition_regions(problem, RegionMode::islands).label);
}

TEST(ContactElements, ADualProblemHasNone) {
  ContactProblem dual;
  dual.W.resize(3, 3);
  dual.W.setIdentity();
  dual.q = Vector::Zero(3);
  dual.mu = Vector::Zero(1);
  EXPECT_THROW(contact_elements(dual, RegionMode::points), UsageError);
  EXPECT_THROW(contact_keys(dual), UsageError);
}

TEST(ContactKeys, NameContactsByTheirPointsAndTellRepeatsApart) {
  ContactProblem problem;
  problem.mu = Vector::Zero(5);
  problem.points.resize(5, 4);
  problem.points << 1, 2, 3, 4, 4, 3, 2, 1, 1, 2, 3, 4, 7, -1, -1, -1, 7, -1, -1, -1;
  const auto keys = contact_keys(problem);
  EXPECT_EQ(std::set<std::uint64_t>(keys.begin(), keys.end()).size(), 5U);
  // The same points in another frame, at another place, have the same key.
  ContactProblem later;
  later.mu = Vector::Zero(2);
  later.points.resize(2, 4);
  later.points << 7, -1, -1, -1, 1, 2, 3, 4;
  const auto again = contact_keys(later);
  EXPECT_EQ(again[0], keys[3]);
  EXPECT_EQ(again[1], keys[0]);
}

TEST(ContactKeys, AreTheFeaturesWhereTheProblemTellsThem) {
  ContactProblem problem;
  problem.mu = Vector::Zero(4);
  problem.features.resize(4, 2);
  problem.features << 3, 9, 3, 2147483647, -1, -2, -2147483648, -2147483648;
  const auto keys = contact_keys(problem);
  EXPECT_EQ(keys[0], (std::uint64_t{3} << 32) + 9);
  EXPECT_EQ(keys[2], (std::uint64_t{1} << 63) + 1);
  EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
  EXPECT_EQ(std::set<std::uint64_t>(keys.begin(), keys.end()).size(), 4U);
}

TEST(ContactElements, GoByTheNumbersOfTheSceneWhereTheProblemTellsThem) {
  auto problem = problem_with_numbers();
  const auto points = contact_elements(problem, RegionMode::points);
  const auto islands = contact_elements(problem, RegionMode::islands);
  EXPECT_EQ(points.element, (std::vector<Index>{12, 11, 15, 13}));
  EXPECT_EQ(islands.element, (std::vector<Index>{11, 11, 14, 13}));
}

// A planted net whose contacts leave and return: keys from the points, elements from H.
TEST(ContactKeys, FollowRealContactsOverFrames) {
  PlantedOptions options;
  options.contacts = 60;
  options.regions = 5;
  const auto whole = make_planted_problem(options).problem;
  const auto all_keys = contact_keys(whole);
  const auto all = contact_elements(whole, RegionMode::points);
  IncrementalPartition regions(RegionMode::points);
  Rng rng(5);
  for (int step = 0; step < 100; ++step) {
    Frame frame;
    for (Index k = 0; k < whole.contacts(); ++k) {
      const auto own = all.of(k);
      if (rng.uniform() < 0.8) frame.add(all_keys[k], {own.begin(), own.end()});
    }
    const auto elements = frame.elements();
    EXPECT_EQ(regions.update(frame.keys, elements).label,
              partition_elements(elements, RegionMode::points).label);
  }
}

}  // namespace
}  // namespace signorini::incremental_partition_test
