#include "regions/contact_blocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "contact/delassus_operator.h"
#include "contact/planted_problem.h"
#include "regions/contact_neighbours.h"

// Blocks cover all contacts, keep their sizes, lie together in the graph and are cut where few links are.

namespace signorini::contact_blocks_test {
namespace {

using Edges = std::vector<std::pair<Index, Index>>;

/// W with blocks of size `value` where contacts are linked, the unit on the diagonal.
BlockSparseMatrix linked(Index contacts, const Edges& edges, double value = 0.1) {
  std::vector<Eigen::Triplet<double, Index>> entries;
  for (Index i = 0; i < 3 * contacts; ++i) entries.emplace_back(i, i, 1.0);
  for (const auto& [k, l] : edges) {
    for (Index i = 0; i < 3; ++i) {
      entries.emplace_back(3 * k + i, 3 * l + i, value);
      entries.emplace_back(3 * l + i, 3 * k + i, value);
    }
  }
  SparseRows rows(3 * contacts, 3 * contacts);
  rows.setFromTriplets(entries.begin(), entries.end());
  return to_blocks(rows);
}

/// n × n contacts, each linked to the four beside it.
Edges grid(Index n) {
  Edges edges;
  for (Index y = 0; y < n; ++y) {
    for (Index x = 0; x < n; ++x) {
      if (x + 1 < n) edges.emplace_back(y * n + x, y * n + x + 1);
      if (y + 1 < n) edges.emplace_back(y * n + x, (y + 1) * n + x);
    }
  }
  return edges;
}

std::vector<Index> sizes(const ContactBlocks& blocks) {
  std::vector<Index> size(blocks.blocks, 0);
  for (const Index b : blocks.block_of) ++size[b];
  return size;
}

TEST(ContactNeighbours, AreThoseOfWInBothDirectionsWithoutTheContactItself) {
  // 0 – 1 stored as (0, 1) alone, 2 alone.
  SparseRows rows(9, 9);
  rows.setIdentity();
  rows.coeffRef(0, 4) = 0.5;
  const ContactNeighbours graph = neighbours_by_delassus(to_blocks(rows));
  EXPECT_TRUE(std::ranges::equal(graph.of(0), std::vector<Index>{1}));
  EXPECT_TRUE(std::ranges::equal(graph.of(1), std::vector<Index>{0}));
  EXPECT_TRUE(graph.of(2).empty());
}

TEST(ContactNeighbours, StrengthComparesABlockWithTheDiagonal) {
  // ‖W_01‖ = 0.1 ‖W_00‖: √3 · 0.1 over √3 · 1.
  const BlockSparseMatrix W = linked(2, {{0, 1}}, 0.1);
  EXPECT_EQ(neighbours_by_delassus(W, 0.099).of(0).size(), 1U);
  EXPECT_EQ(neighbours_by_delassus(W, 0.101).of(0).size(), 0U);
}

TEST(ContactNeighbours, OfSlotsAreThoseOfTheDelassusOperator) {
  PlantedOptions options;
  options.contacts = 200;
  options.sharing = 0.3;
  const ContactProblem problem = make_planted_problem(options).problem;
  // H in blocks: M is diagonal, so W_kl is stored exactly where k and l touch one point.
  const BlockSparseMatrix J = to_blocks(SparseRows(problem.H.transpose()));
  const ContactNeighbours by_slots = neighbours_by_slots(J);
  const ContactNeighbours by_W = neighbours_by_delassus(assemble_reduced(problem).W);
  EXPECT_EQ(by_slots.begin, by_W.begin);
  EXPECT_EQ(by_slots.neighbour, by_W.neighbour);
}

TEST(FirstFitColours, SeparateNeighboursWithFewColours) {
  const ContactNeighbours graph = neighbours_by_delassus(linked(100, grid(10)));
  const std::vector<Index> colour = first_fit_colours(graph);
  for (Index k = 0; k < 100; ++k)
    for (const Index l : graph.of(k)) EXPECT_NE(colour[k], colour[l]);
  EXPECT_EQ(*std::max_element(colour.begin(), colour.end()), 1) << "a grid numbered by rows takes two";
}

TEST(GrowBlocks, ChainIsCutIntoPiecesOfNeighbours) {
  Edges edges;
  for (Index k = 0; k < 9; ++k) edges.emplace_back(k, k + 1);
  const ContactNeighbours chain = neighbours_by_delassus(linked(10, edges));
  const ContactBlocks blocks = grow_blocks(chain, 5);
  EXPECT_EQ(blocks.blocks, 2);
  EXPECT_EQ(blocks.block_of, (std::vector<Index>{0, 0, 0, 0, 0, 1, 1, 1, 1, 1}));
  EXPECT_EQ(cut_links(chain, blocks), 1);
}

TEST(GrowBlocks, OfAGridAreConnectedFullAndCompact) {
  const Index n = 40, size = 64;
  const ContactNeighbours graph = neighbours_by_delassus(linked(n * n, grid(n)));
  const ContactBlocks grown = grow_blocks(graph, size);
  for (const Index s : sizes(grown)) EXPECT_LE(s, size);
  const ContactBlocks blocks = join_small_blocks(graph, grown, size / 4, size + size / 2);
  for (const Index s : sizes(blocks)) {
    EXPECT_GE(s, size / 4);
    EXPECT_LE(s, size + size / 2);
  }
  // Squares of 8 × 8 cut 2/8 of the links of a square's contacts, a quarter on either side counted: 1/8 of all. Stripes of
  // one row would cut half. Compact: nearer to squares than to stripes.
  const double share = static_cast<double>(cut_links(graph, blocks)) / static_cast<double>(2 * n * (n - 1));
  EXPECT_LT(share, 0.25);
  EXPECT_GT(share, 0.0);
}

TEST(GrowBlocks, EveryContactHasABlockAlsoWithoutLinks) {
  const ContactNeighbours graph = neighbours_by_delassus(linked(7, {{0, 1}}));
  const ContactBlocks blocks = join_small_blocks(graph, grow_blocks(graph, 4), 4, 8);
  EXPECT_EQ(blocks.blocks, 6);
  EXPECT_EQ(blocks.block_of[0], blocks.block_of[1]);
  const std::vector<Index> size = sizes(blocks);
  EXPECT_EQ(std::accumulate(size.begin(), size.end(), Index{0}), 7);
}

TEST(GrowBlocks, OfNoContactsAreNone) {
  EXPECT_EQ(grow_blocks(neighbours_by_delassus(linked(0, {})), 10).blocks, 0);
}

}  // namespace
}  // namespace signorini::contact_blocks_test
