#include "linalg/connected_components.h"

#include <gtest/gtest.h>

#include <deque>

#include "linalg/random_blocks.h"
#include "linalg/union_find.h"

namespace signorini::connected_components_test {
namespace {

TEST(UnionFind, JoinsAndFindsAlongAnAdversarialChain) {
  constexpr Index n = 100000;
  UnionFind sets(n);
  for (Index i = n - 1; i > 0; --i) EXPECT_TRUE(sets.unite(i, i - 1));
  EXPECT_FALSE(sets.unite(0, n - 1));
  for (Index i = 0; i < n; ++i) ASSERT_EQ(sets.find(i), sets.find(0));
}

/// Labels by breadth-first search from the smallest unlabelled node.
std::vector<Index> searched_labels(const Matrix& A, Index node_size) {
  const auto n = static_cast<Index>(A.rows()) / node_size;
  std::vector<Index> label(n, -1);
  Index count = 0;
  for (Index start = 0; start < n; ++start) {
    if (label[start] >= 0) continue;
    std::deque<Index> open{start};
    label[start] = count;
    while (!open.empty()) {
      const Index i = open.front();
      open.pop_front();
      for (Index j = 0; j < n; ++j) {
        const bool joined = !A.block(i * node_size, j * node_size, node_size, node_size).isZero(0.0) ||
                            !A.block(j * node_size, i * node_size, node_size, node_size).isZero(0.0);
        if (joined && label[j] < 0) {
          label[j] = count;
          open.push_back(j);
        }
      }
    }
    ++count;
  }
  return label;
}

TEST(ConnectedComponents, EqualBreadthFirstSearchOnRandomUnsymmetricPatterns) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const SparseRows A = test::random_rows(30, 30, 0.8, false, seed);
    const std::vector<Index> expected = searched_labels(Matrix(A), 3);
    EXPECT_EQ(connected_components(A, 3).label, expected);
    EXPECT_EQ(connected_components(to_blocks(A)).label, expected);
    EXPECT_EQ(connected_components(A, 1).label, searched_labels(Matrix(A), 1));
  }
}

TEST(ConnectedComponents, StoredZerosJoinNothingAndSingleNodesCount) {
  SparseRows A(4, 4);
  A.insert(0, 3) = 0.0;
  A.insert(2, 0) = 1.0;
  A.makeCompressed();
  const Components components = connected_components(A, 1);
  EXPECT_EQ(components.count, 3);
  EXPECT_EQ(components.label, (std::vector<Index>{0, 1, 0, 2}));
  EXPECT_EQ(connected_components(SparseRows(0, 0), 3).count, 0);
}

}  // namespace
}  // namespace signorini::connected_components_test
