#include "regions/contact_graph.h"

namespace signorini {

std::optional<MassCoupling> find_mass_coupling(const ContactProblem& problem) {
  return with_node_size(problem, [&](auto size) -> std::optional<MassCoupling> {
    for (Index i = 0; i < problem.dofs(); ++i) {
      const Index node = i / size;
      for (SparseRows::InnerIterator entry(problem.M, i); entry; ++entry) {
        if (entry.index() == i) continue;
        const Index other = entry.index() / size;
        if (other != node && entry.value() != 0.0) return MassCoupling{node, other};
      }
    }
    return std::nullopt;
  });
}

std::vector<Index> connect_nodes_by_contacts(const ContactProblem& problem, UnionFind& sets) {
  std::vector<Index> anchor(problem.contacts(), -1);
  if (!problem.has_primal()) return anchor;
  with_node_size(problem, [&](auto size) {
    for (Index k = 0; k < problem.contacts(); ++k) {
      Index first = -1;
      visit_contact_nodes<size>(problem, k, [&](Index node) {
        if (first < 0) {
          first = node;
        } else if (node != first) {
          sets.unite(first, node);
        }
      });
      anchor[k] = first;
    }
  });
  return anchor;
}

void connect_nodes_by_mass(const ContactProblem& problem, UnionFind& sets) {
  with_node_size(problem, [&](auto size) {
    for (Index i = 0; i < problem.dofs(); ++i) {
      const Index node = i / size;
      Index last = node;
      for (SparseRows::InnerIterator entry(problem.M, i); entry; ++entry) {
        const Index other = entry.index() / size;
        if (other == last || entry.value() == 0.0) continue;
        sets.unite(node, other);
        last = other;
      }
    }
  });
}

void connect_contacts_by_delassus(const ContactProblem& problem, Index first_contact, UnionFind& sets) {
  for (Index i = 0; i < problem.W.rows(); ++i) {
    const Index k = i / 3;
    Index last = k;
    for (SparseRows::InnerIterator entry(problem.W, i); entry; ++entry) {
      const Index l = entry.index() / 3;
      if (l == last || entry.value() == 0.0) continue;
      sets.unite(first_contact + k, first_contact + l);
      last = l;
    }
  }
}

}  // namespace signorini
