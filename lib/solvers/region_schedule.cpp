#include "solvers/region_schedule.h"

#include <algorithm>
#include <numeric>

#include "regions/contact_graph.h"

namespace signorini {

RegionSchedule schedule_regions(std::span<const double> costs, int threads) {
  RegionSchedule schedule;
  schedule.order.resize(costs.size());
  std::iota(schedule.order.begin(), schedule.order.end(), Index{0});
  const auto cost = [&](Index region) { return costs[region]; };
  std::stable_sort(schedule.order.begin(), schedule.order.end(),
                   [&](Index a, Index b) { return cost(a) > cost(b); });

  const double total = std::accumulate(costs.begin(), costs.end(), 0.0);
  const double own_task = total / (4.0 * threads);
  const double batch = total / (16.0 * threads);
  schedule.task_begin.push_back(0);
  double filled = 0.0;
  for (std::size_t i = 0; i < schedule.order.size(); ++i) {
    filled += cost(schedule.order[i]);
    if (cost(schedule.order[i]) >= own_task || filled >= batch || i + 1 == schedule.order.size()) {
      schedule.task_begin.push_back(i + 1);
      filled = 0.0;
    }
  }
  return schedule;
}

double predicted_cost(const ContactProblem& region) {
  const double contacts = region.contacts();
  if (region.has_dual()) return std::max(contacts, static_cast<double>(region.W.nonZeros()) / 9.0);
  if (find_mass_coupling(region)) return contacts * contacts;
  std::vector<double> at_node(node_count(region), 0.0);
  with_node_size(region, [&](auto size) {
    for (Index k = 0; k < region.contacts(); ++k) {
      Index last = -1;
      visit_contact_nodes<size>(region, k, [&](Index node) {
        if (node > last) at_node[node] += 1.0;
        last = std::max(last, node);
      });
    }
  });
  double blocks = 0.0;
  for (const double n : at_node) blocks += n * n;
  return std::max(contacts, blocks);
}

}  // namespace signorini
