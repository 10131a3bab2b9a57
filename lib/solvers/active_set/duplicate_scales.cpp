#include "solvers/active_set/duplicate_scales.h"

#include <algorithm>
#include <cmath>

namespace signorini {

namespace {

/// Weights of a contact on its node blocks: ±‖h_i‖ with the sign of h_i·n.
struct Weights {
  Vector3 normal = Vector3::Zero();
  std::vector<std::pair<Index, double>> nodes;  // ascending
};

Weights weights_of(const DirectionRows& H, Index k) {
  std::vector<std::pair<Index, Vector3>> h;
  for (Index e = H.begin[k]; e < H.begin[k + 1]; ++e) {
    const Index dof = H.dof[e];
    if (h.empty() || h.back().first != dof / 3) h.emplace_back(dof / 3, Vector3::Zero());
    h.back().second[dof % 3] = H.coefficient[3 * e];
  }
  Weights weights;
  double largest = 0.0;
  for (const auto& [node, value] : h) {
    if (value.norm() <= largest) continue;
    largest = value.norm();
    weights.normal = value / largest;
  }
  for (const auto& [node, value] : h) weights.nodes.emplace_back(node, value.dot(weights.normal));
  return weights;
}

/// |n_a·n_b| Π (1 − |w_ai − w_bi|) over the union of the nodes; n = ±the direction of the largest block.
double similarity(const Weights& a, const Weights& b) {
  const double cosine = a.normal.dot(b.normal);
  const double sign = cosine < 0.0 ? -1.0 : 1.0;
  double product = std::abs(cosine);
  std::size_t i = 0, j = 0;
  while (i < a.nodes.size() || j < b.nodes.size()) {
    double difference = 0.0;
    const bool first = j == b.nodes.size() || (i < a.nodes.size() && a.nodes[i].first <= b.nodes[j].first);
    const bool second = i == a.nodes.size() || (j < b.nodes.size() && b.nodes[j].first <= a.nodes[i].first);
    if (first) difference += a.nodes[i++].second;
    if (second) difference -= sign * b.nodes[j++].second;
    product *= std::max(0.0, 1.0 - std::abs(difference));
  }
  return product;
}

}  // namespace

std::vector<double> duplicate_scales(const PrimalSystem& system) {
  const std::size_t m = system.contacts();
  std::vector<double> Z(m, 1.0);
  if (system.couples_by_nodes()) return Z;
  std::vector<char> rigid(system.inverse.size(), 0);
  for (const PrimalSystem::Pair& pair : system.pairs) rigid[pair.first] = rigid[pair.second] = 1;
  std::vector<Weights> weights(m);
  for (std::size_t k = 0; k < m; ++k) weights[k] = weights_of(system.H, static_cast<Index>(k));
  const auto all_rigid = [&](const Weights& w) {
    return std::all_of(w.nodes.begin(), w.nodes.end(),
                       [&](const auto& node) { return rigid[node.first] != 0; });
  };
  const auto same_nodes = [](const Weights& a, const Weights& b) {
    return std::equal(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(),
                      [](const auto& x, const auto& y) { return x.first == y.first; });
  };
  for (std::size_t k = 0; k < m; ++k) {
    const bool body = all_rigid(weights[k]);
    for (Index b = system.W_D.row_begin[k]; b < system.W_D.row_begin[k + 1]; ++b) {
      const std::size_t l = system.W_D.column[b];
      if (l == k) continue;
      const bool pair = body && all_rigid(weights[l]) && same_nodes(weights[k], weights[l]);
      Z[k] += pair ? 1.0 : similarity(weights[k], weights[l]);
    }
  }
  return Z;
}

}  // namespace signorini
