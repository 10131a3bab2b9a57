#include "solvers/portfolio/velocity_step_cost.h"

#include <algorithm>
#include <vector>

#include "linalg/factor_count.h"

namespace signorini {

namespace {

constexpr Index kNode = 3;

using Entries = std::vector<Eigen::Triplet<double, Index>>;

void append_mass(const SparseRows& M, Entries& entries) {
  for (Index row = 0; row < M.rows(); ++row) {
    Index last = -1;
    for (SparseRows::InnerIterator entry(M, row); entry; ++entry) {
      const Index node = static_cast<Index>(entry.col()) / kNode;
      if (node != last) entries.emplace_back(row / kNode, node, 1.0);
      last = node;
    }
  }
}

void append_contacts(const SparseColumns& H, Entries& entries) {
  std::vector<Index> nodes;
  for (Index first = 0; first < H.cols(); first += 3) {
    nodes.clear();
    for (Index column = first; column < first + 3; ++column) {
      for (SparseColumns::InnerIterator entry(H, column); entry; ++entry)
        nodes.push_back(static_cast<Index>(entry.row()) / kNode);
    }
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    for (const Index i : nodes) {
      for (const Index j : nodes) entries.emplace_back(i, j, 1.0);
    }
  }
}

}  // namespace

double velocity_factor_products(const ContactProblem& problem) {
  Entries entries;
  append_mass(problem.M, entries);
  append_contacts(problem.H, entries);
  const Index nodes = problem.dofs() / kNode;
  SparseColumns pattern(nodes, nodes);
  pattern.setFromTriplets(entries.begin(), entries.end());
  return factor_products(pattern);
}

}  // namespace signorini
