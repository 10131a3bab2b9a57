#include "regions/contact_elements.h"

#include <algorithm>
#include <bit>

#include "base/check.h"
#include "base/rng.h"
#include "regions/contact_graph.h"

namespace signorini {

namespace {

/// The smallest node of every mechanical body, per node.
std::vector<Index> body_of_node(const ContactProblem& problem) {
  const Index nodes = node_count(problem);
  UnionFind bodies(nodes);
  connect_nodes_by_mass(problem, bodies);
  std::vector<Index> smallest(nodes, -1);
  std::vector<Index> body(nodes);
  for (Index i = 0; i < nodes; ++i) {
    Index& name = smallest[bodies.find(i)];
    if (name < 0) name = i;
    body[i] = name;
  }
  return body;
}

}  // namespace

ContactElements contact_elements(const ContactProblem& problem, RegionMode mode) {
  if (!problem.has_primal() && problem.contacts() > 0) {
    throw_usage(
        "contact elements: the problem knows only W, so its contacts have no mass points to follow over "
        "time");
  }
  ContactElements out;
  out.begin.reserve(problem.contacts() + 1);
  const bool islands = mode == RegionMode::islands;
  const bool numbered = !problem.node_numbers.empty();
  const std::vector<Index> body = islands ? body_of_node(problem) : std::vector<Index>{};
  with_node_size(problem, [&](auto size) {
    for (Index k = 0; k < problem.contacts(); ++k) {
      const std::ptrdiff_t start = out.element.size();
      visit_contact_nodes<size>(problem, k, [&](Index node) {
        const Index name = islands ? body[node] : node;
        out.element.push_back(numbered ? problem.node_numbers[name] : name);
      });
      std::sort(out.element.begin() + start, out.element.end());
      out.element.erase(std::unique(out.element.begin() + start, out.element.end()), out.element.end());
      out.begin.push_back(count(out.element));
    }
  });
  return out;
}

RegionPartition partition_elements(const ContactElements& elements, RegionMode mode, Index count) {
  if (count < 0)
    count = elements.element.empty()
                ? 0
                : *std::max_element(elements.element.begin(), elements.element.end()) + 1;
  UnionFind sets(count);
  for (Index k = 0; k < elements.contacts(); ++k) {
    const auto own = elements.of(k);
    for (std::size_t i = 1; i < own.size(); ++i) sets.unite(own[0], own[i]);
  }
  std::vector<Index> label_of_root(count, -1);
  std::vector<Index> label(elements.contacts());
  Index regions = 0;
  for (Index k = 0; k < elements.contacts(); ++k) {
    const auto own = elements.of(k);
    if (own.empty()) {
      label[k] = regions++;
      continue;
    }
    Index& number = label_of_root[sets.find(own[0])];
    if (number < 0) number = regions++;
    label[k] = number;
  }
  return partition_from_labels(mode, std::move(label), regions);
}

namespace {

std::vector<std::uint64_t> feature_keys(const ContactProblem& problem) {
  std::vector<std::uint64_t> keys;
  for (Index k = 0; k < problem.contacts(); ++k) {
    const bool edges = problem.features(k, 0) < 0;
    const auto number = [&](Index side) {
      const Index feature = problem.features(k, side);
      return static_cast<std::uint64_t>(edges ? -1 - feature : feature);
    };
    keys.push_back((edges ? std::uint64_t{1} << 63 : 0) | number(0) << 32 | number(1));
  }
  return keys;
}

}  // namespace

std::vector<std::uint64_t> contact_keys(const ContactProblem& problem) {
  const Index m = problem.contacts();
  if (m > 0 && problem.features.rows() == m) return feature_keys(problem);
  if (problem.points.rows() != m) {
    throw_usage(
        "contact keys: the problem tells neither what touches ('features') nor its mass points ('points')");
  }
  const auto hash = [&](Index k, std::uint64_t rank) {
    std::uint64_t value = rank;
    for (Index c = 0; c < problem.points.cols(); ++c) {
      value = Rng(value, static_cast<std::uint64_t>(static_cast<std::int64_t>(problem.points(k, c)))).next();
    }
    return value;
  };
  // Ranks of contacts with the same points, in an open-addressed table at most half full.
  struct Slot {
    std::uint64_t hash = 0;
    std::uint64_t count = 0;
  };
  std::vector<std::uint64_t> keys(m);
  std::vector<Slot> slots(std::bit_ceil(2 * keys.size() + 1));
  for (Index k = 0; k < m; ++k) {
    const std::uint64_t first = hash(k, 0);
    std::size_t place = first & (slots.size() - 1);
    while (slots[place].count > 0 && slots[place].hash != first) place = (place + 1) & (slots.size() - 1);
    slots[place].hash = first;
    const std::uint64_t rank = slots[place].count++;
    keys[k] = rank == 0 ? first : hash(k, rank);
  }
  return keys;
}

}  // namespace signorini
