#include "regions/region_partition.h"

#include <algorithm>

#include "regions/contact_graph.h"

namespace signorini {

Index RegionPartition::largest() const {
  Index most = 0;
  for (Index i = 0; i < regions(); ++i) most = std::max(most, count(region(i)));
  return most;
}

RegionPartition partition_from_labels(RegionMode mode, std::vector<Index> label, Index regions) {
  RegionPartition partition;
  partition.mode = mode;
  partition.label = std::move(label);
  list_regions(partition, regions);
  return partition;
}

void list_regions(RegionPartition& partition, Index regions) {
  // Counting sort: contacts are met in ascending order, so every list ascends. begin[l + 1] is the next free place of
  // region l while its contacts are put, and its end afterwards.
  std::vector<Index>& begin = partition.region_begin;
  begin.assign(regions + 2, 0);
  const std::span<const Index> label = partition.label;
  Index* const place = begin.data();
  for (const Index l : label) ++place[l + 2];
  for (std::size_t i = 2; i < begin.size(); ++i) place[i] += place[i - 1];
  partition.contacts.resize(label.size());
  Index* const contacts = partition.contacts.data();
  for (Index k = 0; k < count(label); ++k) contacts[place[label[k] + 1]++] = k;
  begin.pop_back();
}

namespace {

/// Numbers the sets by their smallest contact. `anchor`: an element of each contact; −1: a region of its own.
RegionPartition number_regions(RegionMode mode, UnionFind& sets, std::vector<Index> anchor) {
  std::vector<Index> label_of_root(sets.size(), -1);
  Index regions = 0;
  for (Index& element : anchor) {
    if (element < 0) {
      element = regions++;
      continue;
    }
    Index& number = label_of_root[sets.find(element)];
    if (number < 0) number = regions++;
    element = number;
  }
  return partition_from_labels(mode, std::move(anchor), regions);
}

}  // namespace

RegionPartition partition_regions(const ContactProblem& problem, RegionMode mode) {
  const Index m = problem.contacts();
  if (mode == RegionMode::none) {
    return partition_from_labels(mode, std::vector<Index>(m, 0), m > 0 ? 1 : 0);
  }
  if (mode == RegionMode::points) {
    if (const auto coupling = find_mass_coupling(problem)) {
      throw_usage(
          "regions 'points': M couples mass points {} and {}, so the split would be inexact; use 'islands' "
          "(exact), or "
          "'points-approx' to study the error",
          coupling->row_node, coupling->column_node);
    }
  }
  const Index nodes = problem.has_primal() ? node_count(problem) : 0;
  const bool approximate =
      (mode == RegionMode::points_approx || mode == RegionMode::points_inner) && problem.has_primal();
  const bool use_delassus = problem.has_dual() && !approximate;
  UnionFind sets(use_delassus ? nodes + m : nodes);
  std::vector<Index> anchor = connect_nodes_by_contacts(problem, sets);
  const bool by_mass = mode == RegionMode::islands || mode == RegionMode::automatic;
  if (by_mass && problem.has_primal()) connect_nodes_by_mass(problem, sets);
  if (use_delassus) {
    for (Index k = 0; k < m; ++k) {
      Index& element = anchor[k];
      if (element >= 0) sets.unite(element, nodes + k);
      element = nodes + k;
    }
    connect_contacts_by_delassus(problem, nodes, sets);
  }
  return number_regions(mode, sets, std::move(anchor));
}

RegionPartition join_small_regions(const RegionPartition& partition, Index least) {
  std::vector<Index> label(partition.label.size());
  Index groups = 0, open = -1, held = 0;
  for (Index i = 0; i < partition.regions(); ++i) {
    const std::span<const Index> region = partition.region(i);
    const bool small = count(region) < least;
    if (!small || open < 0) {
      if (small) {
        open = groups;
        held = 0;
      }
      for (const Index k : region) label[k] = groups;
      ++groups;
    } else {
      for (const Index k : region) label[k] = open;
    }
    if (!small) continue;
    held += count(region);
    if (held >= least) open = -1;
  }
  return partition_from_labels(partition.mode, std::move(label), groups);
}

bool is_exact(const ContactProblem& problem, RegionMode mode) {
  switch (mode) {
    case RegionMode::none:
    case RegionMode::islands:
    case RegionMode::automatic:
    case RegionMode::points_inner:
      return true;
    case RegionMode::points:
      return !find_mass_coupling(problem);
    case RegionMode::points_approx:
      // Every mass-point region lies inside one island, so equal numbers mean equal partitions.
      return partition_regions(problem, mode).regions() ==
             partition_regions(problem, RegionMode::islands).regions();
  }
  return false;
}

}  // namespace signorini
