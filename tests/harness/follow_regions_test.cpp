#include "harness/follow_regions.h"

#include <gtest/gtest.h>

#include "base/check.h"
#include "base/rng.h"
#include "contact/planted_problem.h"
#include "regions/region_extractor.h"

namespace signorini::follow_regions_test {
namespace {

/// A net whose contacts and mass points have numbers of the scene.
ContactProblem numbered_net(double stiffness) {
  PlantedOptions options;
  options.contacts = 60;
  options.regions = 6;
  options.stiffness = stiffness;
  ContactProblem net = make_planted_problem(options).problem;
  net.features.resize(net.contacts(), 2);
  for (Index k = 0; k < net.contacts(); ++k) net.features.row(k) << 3 * k, k;
  for (Index i = 0; i < net.dofs() / 3; ++i) net.node_numbers.push_back(7 * i);
  return net;
}

/// Some of its contacts as a problem of its own, with mass points renumbered as the steppers do.
ContactProblem some_of(const ContactProblem& net, double share, Rng& rng) {
  std::vector<Index> label;
  for (Index k = 0; k < net.contacts(); ++k) label.push_back(rng.uniform() < share ? 0 : 1);
  return extract_region(net, partition_from_labels(RegionMode::points_approx, std::move(label), 2), 0);
}

TEST(RegionFollower, MovesOnAsARebuildWouldAndCountsWhatChanged) {
  for (const RegionMode mode : {RegionMode::points, RegionMode::islands}) {
    const ContactProblem net = numbered_net(mode == RegionMode::islands ? 50.0 : 0.0);
    Rng rng(3);
    RegionFollower follower(mode, {1, 1e-6});
    follower.start(some_of(net, 0.8, rng));
    for (int step = 0; step < 20; ++step) {
      const ContactProblem now = step == 10 ? ContactProblem() : some_of(net, 0.8, rng);
      const FollowRow row = follower.next(now);
      EXPECT_TRUE(row.same) << step;
      EXPECT_EQ(row.contacts, now.contacts());
      EXPECT_EQ(row.churn.kept + row.churn.added, now.contacts());
      if (step == 10) {
        EXPECT_EQ(row.churn.share(), 1.0);
      } else if (mode == RegionMode::points) {
        EXPECT_EQ(row.regions, partition_regions(now, RegionMode::points_approx).regions());
      }
      EXPECT_GT(row.rebuild_seconds, 0.0);
      EXPECT_GT(row.update_seconds, 0.0);
    }
  }
}

TEST(RegionFollower, ContactsWithoutFeaturesOrNumbersCannotBeFollowed) {
  ContactProblem net = numbered_net(0.0);
  net.node_numbers.clear();
  RegionFollower follower(RegionMode::points, {1, 1e-6});
  EXPECT_THROW(follower.start(net), UsageError);
  net = numbered_net(0.0);
  net.features.resize(0, 2);
  EXPECT_THROW(follower.start(net), UsageError);
}

TEST(RegionFollower, OfSeveralSolvesOfAStepTheLastCounts) {
  EXPECT_EQ(last_solves({"000001", "000001.2", "000001.10", "000002", "000004.2"}),
            (std::vector<std::string>{"000001.10", "000002", "000004.2"}));
  EXPECT_EQ(step_of_frame("000120.2"), 120);
}

TEST(RegionFollower, RowsHaveTheCellsOfTheirHeader) {
  FollowRow row;
  row.file = "a.h5";
  row.step = "000002";
  row.same = true;
  const std::string head = follow_header(), line = follow_line(row);
  EXPECT_EQ(std::count(head.begin(), head.end(), ','), std::count(line.begin(), line.end(), ','));
  EXPECT_NE(line.find(",1,"), std::string::npos);
}

}  // namespace
}  // namespace signorini::follow_regions_test
