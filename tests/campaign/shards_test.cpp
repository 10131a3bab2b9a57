#include "campaign/shards.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "base/check.h"

namespace signorini::shards_test {
namespace {

std::vector<CostedWork> some_work(int pieces, unsigned seed) {
  std::mt19937 random(seed);
  std::lognormal_distribution<double> seconds(0.0, 1.5);
  std::vector<CostedWork> work;
  for (int i = 0; i < pieces; ++i) work.push_back({fmt::format("w{}", i), seconds(random)});
  return work;
}

std::vector<double> loads(const std::vector<CostedWork>& work, const std::vector<int>& shard_of, int shards) {
  std::vector<double> load(static_cast<std::size_t>(shards), 0.0);
  for (std::size_t i = 0; i < work.size(); ++i)
    load.at(static_cast<std::size_t>(shard_of[i])) += work[i].seconds;
  return load;
}

TEST(Shards, NoLoadExceedsTheFairShareByMoreThanTheCostliestPieceAndTheSlack) {
  for (const int shards : {1, 2, 3, 7, 16, 100}) {
    for (const int pieces : {0, 1, 5, 200, 1000}) {
      const std::vector<CostedWork> work = some_work(pieces, static_cast<unsigned>(shards + pieces));
      double total = 0.0, costliest = 0.0;
      for (const CostedWork& one : work) {
        total += one.seconds;
        costliest = std::max(costliest, one.seconds);
      }
      const std::vector<double> load = loads(work, assign_shards(work, shards), shards);
      // when the last piece came to a shard, its load was at most the least one (at most the fair share) and the slack
      EXPECT_LE(*std::ranges::max_element(load), 1.05 * total / shards + costliest + 1e-9 * total)
          << shards << " shards, " << pieces << " pieces";
    }
  }
}

/// As many as --shard allows: every pair of them was hashed once.
TEST(Shards, ManyMoreThanPiecesCostNoMoreThanTheyNeed) {
  const std::vector<CostedWork> work = some_work(1000, 5);
  const std::vector<int> shard_of = assign_shards(work, 1'000'000);
  EXPECT_TRUE(std::ranges::all_of(shard_of, [](int shard) { return shard >= 0 && shard < 1'000'000; }));
  EXPECT_EQ(shard_of, assign_shards(work, 999'999));
}

TEST(Shards, DependOnNamesAndCostsAloneNotOnTheOrder) {
  const std::vector<CostedWork> work = some_work(300, 4);
  const std::vector<int> shard_of = assign_shards(work, 8);
  std::vector<std::size_t> order(work.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937 random(1);
  std::ranges::shuffle(order, random);
  std::vector<CostedWork> shuffled;
  for (const std::size_t i : order) shuffled.push_back(work[i]);
  const std::vector<int> again = assign_shards(shuffled, 8);
  for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(again[i], shard_of[order[i]]);
}

TEST(Shards, EqualCostsThatAreFewFollowTheHashSoThatOneMoreMovesFew) {
  // 1000 pieces of one cost on 4 shards: 12 of them are 5 % of a fair share, so the hash decides among nearly all shards
  std::vector<CostedWork> work;
  for (int i = 0; i < 1000; ++i) work.push_back({fmt::format("w{:04}", i), 1.0});
  const std::vector<int> before = assign_shards(work, 4);
  work.push_back({"w0500b", 1.0});
  const std::vector<int> after = assign_shards(work, 4);
  int moved = 0;
  for (std::size_t i = 0; i < before.size(); ++i) moved += before[i] != after[i] ? 1 : 0;
  EXPECT_LT(moved, 250);  // without the hash, all 500 behind it would move
}

TEST(Shards, ThoseThatOneCostlyPieceFillsComeFirst) {
  std::vector<CostedWork> work = some_work(100, 9);
  double total = 0.0;
  for (const CostedWork& one : work) total += one.seconds;
  work.push_back({"large", total});
  work.push_back({"larger", 2.0 * total});
  const std::vector<int> shard_of = assign_shards(work, 10);
  EXPECT_EQ(shard_of[101], 0);
  EXPECT_EQ(shard_of[100], 1);
}

TEST(Shards, CellsOfASnapshotStayTogetherByUnitSnapshotOnly) {
  std::vector<PlannedCell> cells;
  for (int step = 0; step < 10; ++step) {
    for (const char* solver : {"pgs", "nsgs", "pcg"}) {
      PlannedCell one;
      one.experiment = "e";
      one.cell = {"f.h5", fmt::format("{:06}", step), 10, solver, "", solver, 1e-6};
      one.seconds = 1.0 + step;
      cells.push_back(one);
    }
  }
  const std::vector<int> whole = assign_shards(cells, 4, ShardUnit::snapshot);
  for (std::size_t i = 0; i < cells.size(); ++i) EXPECT_EQ(whole[i], whole[i / 3 * 3]);
  const std::vector<int> single = assign_shards(cells, 4, ShardUnit::cell);
  std::set<std::pair<std::string, int>> places;  // a snapshot and one of its shards
  for (std::size_t i = 0; i < cells.size(); ++i) places.insert({cells[i].cell.step, single[i]});
  EXPECT_GT(places.size(), 10U);
}

TEST(Shards, TextIsIOfN) {
  EXPECT_EQ(parse_shard("1/1").shards, 1);
  EXPECT_EQ(parse_shard("3/8").shard, 2);
  EXPECT_EQ(parse_shard("8/8").shard, 7);
  for (const char* wrong :
       {"", "3", "0/8", "9/8", "-1/8", "1/0", "1/2/3", "a/b", "1.0/2", "1/10000000", "1/ "}) {
    try {
      parse_shard(wrong);
      ADD_FAILURE() << wrong;
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find("--shard"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace signorini::shards_test
