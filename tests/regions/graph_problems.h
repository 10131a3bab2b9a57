#pragma once

#include <Eigen/SparseCore>
#include <algorithm>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "contact/contact_problem.h"
#include "regions/region_partition.h"

/// Problems with a prescribed graph: contact k touches the listed nodes, M couples the listed node pairs. And a plain graph
/// traversal over the same lists, which shares no code with the library.
namespace signorini::test {

struct Graph {
  Index nodes = 0;
  std::vector<std::vector<Index>> contacts;        ///< nodes of every contact; empty: both sides fixed
  std::vector<std::pair<Index, Index>> couplings;  ///< node pairs tied by M
};

/// Random full blocks of H, an SPD M that dominates on the diagonal, metadata with recognisable numbers.
inline ContactProblem problem_from(const Graph& graph, std::uint64_t seed = 1) {
  Rng rng(seed);
  const Index n = 3 * graph.nodes;
  const Index m = count(graph.contacts);
  std::vector<Eigen::Triplet<double, Index>> mass;
  std::vector<Eigen::Triplet<double, Index>> directions;
  std::vector<double> row_sum(n, 1.0);
  for (const auto& [i, j] : graph.couplings) {
    if (i == j) continue;
    for (Index c = 0; c < 3; ++c) {
      const double value = rng.uniform(-1.0, -0.5);
      mass.emplace_back(3 * i + c, 3 * j + c, value);
      mass.emplace_back(3 * j + c, 3 * i + c, value);
      row_sum[3 * i + c] -= value;
      row_sum[3 * j + c] -= value;
    }
  }
  for (Index i = 0; i < n; ++i) mass.emplace_back(i, i, row_sum[i] + rng.uniform());
  for (Index k = 0; k < m; ++k) {
    auto own = graph.contacts[k];
    std::sort(own.begin(), own.end());
    own.erase(std::unique(own.begin(), own.end()), own.end());
    for (const Index node : own) {
      for (Index c = 0; c < 9; ++c)
        directions.emplace_back(3 * node + c % 3, 3 * k + c / 3, rng.uniform(0.1, 1.0));
    }
  }
  ContactProblem problem;
  problem.M.resize(n, n);
  problem.M.setFromTriplets(mass.begin(), mass.end());
  problem.H.resize(n, 3 * m);
  problem.H.setFromTriplets(directions.begin(), directions.end());
  problem.f = Vector::NullaryExpr(n, [&] { return rng.uniform(-1.0, 1.0); });
  problem.w = Vector::NullaryExpr(3 * m, [&] { return rng.uniform(-1.0, 1.0); });
  problem.mu = Vector::NullaryExpr(m, [&] { return rng.uniform(0.1, 0.9); });
  return problem;
}

/// Components by breadth-first search over adjacency lists; label = rank of the smallest contact.
inline std::vector<Index> labels_by_traversal(const Graph& graph, bool with_mass) {
  std::vector<std::vector<Index>> contacts_at(graph.nodes);
  std::vector<std::vector<Index>> coupled(graph.nodes);
  for (Index k = 0; k < count(graph.contacts); ++k) {
    for (const Index node : graph.contacts[k]) contacts_at[node].push_back(k);
  }
  if (with_mass) {
    for (const auto& [i, j] : graph.couplings) {
      coupled[i].push_back(j);
      coupled[j].push_back(i);
    }
  }
  std::vector<Index> label(graph.contacts.size(), -1);
  std::vector<bool> seen(graph.nodes, false);
  Index regions = 0;
  for (std::size_t start = 0; start < graph.contacts.size(); ++start) {
    if (label[start] >= 0) continue;
    label[start] = regions;
    std::vector<Index> open;
    const auto enter = [&](Index node) {
      if (seen[node]) return;
      seen[node] = true;
      open.push_back(node);
    };
    for (const Index node : graph.contacts[start]) enter(node);
    while (!open.empty()) {
      const std::size_t node = open.back();
      open.pop_back();
      for (const Index other : coupled[node]) enter(other);
      for (const Index k : contacts_at[node]) {
        label[k] = regions;
        for (const Index other : graph.contacts[k]) enter(other);
      }
    }
    ++regions;
  }
  return label;
}

inline Graph random_graph(Index nodes, Index contacts, Index couplings, Rng& rng) {
  Graph graph{nodes, {}, {}};
  const auto node = [&] { return static_cast<Index>(rng.below(static_cast<std::uint64_t>(nodes))); };
  for (Index k = 0; k < contacts; ++k) {
    std::vector<Index> own;
    const auto degree = rng.below(5);  // 0: both sides fixed
    for (std::uint64_t i = 0; i < degree; ++i) own.push_back(node());
    graph.contacts.push_back(own);
  }
  for (Index i = 0; i < couplings; ++i) graph.couplings.emplace_back(node(), node());
  return graph;
}

}  // namespace signorini::test
