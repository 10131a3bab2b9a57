#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "contact/contact_problem.h"
#include "regions/region_partition.h"

/// What a contact holds on to, as lists that outlive the matrices of one frame.
namespace signorini {

/// Elements of contact k: `element[begin[k]] … element[begin[k+1] − 1]`, ascending and distinct.
struct ContactElements {
  std::vector<Index> begin{0};
  std::vector<Index> element;

  Index contacts() const { return count(begin) - 1; }
  std::span<const Index> of(Index k) const {
    const std::size_t first = begin[k];
    const std::size_t last = begin[k + 1];
    return std::span<const Index>(element).subspan(first, last - first);
  }
};

/// points: the nodes with a non-zero entry in the contact's columns of H. islands: the mechanical bodies (connected
/// components of M, each named by its smallest node) of those nodes. Nodes go by their numbers in the scene where the problem
/// tells them (`node_numbers`), else by their place in the problem, which changes from frame to frame. Needs a primal part;
/// throws `UsageError` without.
ContactElements contact_elements(const ContactProblem& problem, RegionMode mode);

/// Contacts that share an element, directly or through others, are one region. `count`: more than the largest element; it is
/// looked for when negative.
RegionPartition partition_elements(const ContactElements& elements, RegionMode mode, Index count = -1);

/// Keys that name a contact over time. Where the problem tells the features that touch, they are the key, exactly: a vertex
/// keeps its key while it slides over one face. Vertices and faces come before edges and keys ascend with the numbers of the
/// features, so that contacts in the order of the steppers are nearly sorted by key.
/// Else hashes of the four mass points and, where several contacts have the same four, of their rank among those: two
/// different contacts of a frame share a key with probability m²/2⁶⁵. Throws `UsageError` when the problem has neither.
std::vector<std::uint64_t> contact_keys(const ContactProblem& problem);

}  // namespace signorini
