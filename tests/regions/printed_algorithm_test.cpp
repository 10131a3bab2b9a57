#include "regions/printed_algorithm.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "regions/graph_problems.h"

namespace signorini::printed_algorithm_test {
namespace {

ContactElements elements_of(const test::Graph& graph) {
  return contact_elements(test::problem_from(graph), RegionMode::points);
}

TEST(PrintedAlgorithm, LeavesRegionsApartThatALaterContactTies) {
  const auto elements = elements_of({2, {{0}, {1}, {0, 1}}, {}});
  EXPECT_EQ(printed_algorithm_labels(elements), (std::vector<Index>{0, 1, 0}));
  EXPECT_EQ(partition_elements(elements, RegionMode::points).label, (std::vector<Index>{0, 0, 0}));
}

TEST(PrintedAlgorithm, DependsOnTheOrderOfTheContacts) {
  const auto count = [](const test::Graph& graph) {
    const auto labels = printed_algorithm_labels(elements_of(graph));
    return *std::max_element(labels.begin(), labels.end()) + 1;
  };
  EXPECT_EQ(count({2, {{0}, {1}, {0, 1}}, {}}), 2);
  EXPECT_EQ(count({2, {{0, 1}, {0}, {1}}, {}}), 1);
}

// Every region that it finds lies inside a true one, so it can only find too many.
TEST(PrintedAlgorithm, NeverFindsFewerRegionsThanThereAreAndOftenMore) {
  Rng rng(31);
  int wrong = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const auto elements = elements_of(test::random_graph(40, 30, 0, rng));
    const auto printed = printed_algorithm_labels(elements);
    const auto truth = partition_elements(elements, RegionMode::points);
    for (std::size_t i = 0; i < printed.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (printed[i] != printed[j]) continue;
        EXPECT_EQ(truth.label[i], truth.label[j]);
      }
    }
    wrong += *std::max_element(printed.begin(), printed.end()) + 1 > truth.regions() ? 1 : 0;
  }
  EXPECT_GT(wrong, 50);  // 189 of 200 when written
}

}  // namespace
}  // namespace signorini::printed_algorithm_test
