#pragma once

#include <algorithm>
#include <optional>
#include <type_traits>
#include <vector>

#include "contact/contact_problem.h"
#include "linalg/union_find.h"

/// The graph behind regions and islands, read straight from the matrices.
///
/// Elements 0 … N−1 are the node blocks of the primal part (none for a dual-only problem); with a dual part the contacts
/// follow as N … N+m−1.
///
///     contact k – node i    when the columns of contact k in H have a non-zero entry in the rows of node i
///     node i    – node j    when M has a non-zero entry between them                            (islands only)
///     contact k – contact l when W has a non-zero entry in its block (k, l)                     (dual part)
///
/// Entries that are stored but zero connect nothing: FCLib files store whole blocks.
namespace signorini {

/// Number of node blocks; 0 for a dual-only problem.
inline Index node_count(const ContactProblem& problem) { return problem.dofs() / problem.node_size(); }

/// call(std::integral_constant<Index, 3>) or call(std::integral_constant<Index, 1>): a division by a known number in loops.
template <class Call>
decltype(auto) with_node_size(const ContactProblem& problem, Call&& call) {
  if (problem.node_size() == 3) return call(std::integral_constant<Index, 3>{});
  return call(std::integral_constant<Index, 1>{});
}

/// visit(node) for every node that contact k touches; a node may be visited up to three times (once per direction).
template <Index kNodeSize, class Visit>
void visit_contact_nodes(const ContactProblem& problem, Index k, Visit&& visit) {
  const Index* const begin = problem.H.outerIndexPtr() + 3 * k;
  const Index* const row = problem.H.innerIndexPtr();
  const double* const value = problem.H.valuePtr();
  // The three columns mostly hold the same rows; then one without zeros names every node.
  Index end = begin[3];
  const Index count = begin[1] - begin[0];
  if (begin[2] - begin[1] == count && end - begin[2] == count &&
      std::equal(row + begin[0], row + begin[1], row + begin[1]) &&
      std::equal(row + begin[0], row + begin[1], row + begin[2]) &&
      std::find(value + begin[0], value + begin[1], 0.0) == value + begin[1]) {
    end = begin[1];
  }
  Index last = -1;
  for (Index e = begin[0]; e < end; ++e) {
    const Index node = row[e] / kNodeSize;
    if (node == last || value[e] == 0.0) continue;
    visit(node);
    last = node;
  }
}

/// Two node blocks that M couples.
struct MassCoupling {
  Index row_node = 0;
  Index column_node = 0;
};
/// The first non-zero entry of M outside its diagonal node blocks, if any.
std::optional<MassCoupling> find_mass_coupling(const ContactProblem& problem);

/// Unites the nodes of every contact. Returns one node of each contact, −1 where both sides are fixed.
std::vector<Index> connect_nodes_by_contacts(const ContactProblem& problem, UnionFind& sets);
void connect_nodes_by_mass(const ContactProblem& problem, UnionFind& sets);
/// W's blocks; contact k is element `first_contact` + k.
void connect_contacts_by_delassus(const ContactProblem& problem, Index first_contact, UnionFind& sets);

}  // namespace signorini
