#include "campaign/scale_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <random>

#include "campaign/shards.h"

namespace signorini {
namespace {

/// A uniform number in (0, 1): standard distributions differ between libraries.
double uniform(std::mt19937_64& random) {
  constexpr double kBits = 9007199254740992.0;  // 2^53
  return (static_cast<double>(random() >> 11U) + 0.5) / kBits;
}

struct Node {
  double free_at = 0.0;
  int number = 0;
  bool operator>(const Node& other) const {
    return free_at != other.free_at ? free_at > other.free_at : number > other.number;
  }
};

using Tasks = std::vector<std::vector<double>>;  ///< costs of the cells of each, s

Tasks tasks_of(std::span<const PlannedCell> cells, const ScaleModel& model) {
  Tasks tasks(static_cast<std::size_t>(model.shards));
  const std::vector<int> shard_of = assign_shards(cells, model.shards, model.unit);
  for (std::size_t i = 0; i < cells.size(); ++i)
    tasks[static_cast<std::size_t>(shard_of[i])].push_back(cells[i].seconds);
  return tasks;
}

class Simulation {
 public:
  Simulation(const Tasks& tasks, const ScaleModel& model, unsigned seed)
      : model_(model), random_(seed), tasks_(tasks) {
    for (int i = 0; i < model.nodes; ++i) slow_.push_back(uniform(random_) < model.slow_share);
  }

  ScaleResult run() {
    std::priority_queue<Node, std::vector<Node>, std::greater<>> nodes;
    for (int i = 0; i < model_.nodes; ++i) nodes.push({0.0, i});
    for (const std::vector<double>& task : tasks_) {
      if (task.empty()) continue;
      for (const double seconds : task) work_ += seconds;
      Node node = nodes.top();
      nodes.pop();
      node.free_at = end_of(task, node);
      result_.makespan = std::max(result_.makespan, node.free_at);
      nodes.push(node);
    }
    if (result_.makespan > 0.0) result_.efficiency = work_ / (model_.nodes * result_.makespan);
    return result_;
  }

 private:
  double next_failure(double now) {
    const double mean = 3600.0 * model_.failure_hours;
    return std::isfinite(mean) ? now - mean * std::log(uniform(random_))
                               : std::numeric_limits<double>::infinity();
  }

  /// When a task that the node takes now ends on it, restarts included.
  double end_of(const std::vector<double>& task, const Node& node) {
    const double factor = slow_[static_cast<std::size_t>(node.number)] ? model_.slow_factor : 1.0;
    double now = node.free_at;
    double failure = next_failure(now);
    now += model_.start_seconds;
    for (std::size_t i = 0; i < task.size();) {
      if (now + factor * task[i] <= failure) {
        now += factor * task[i++];
        continue;
      }
      ++result_.failures;
      now = std::max(now, failure) + model_.restart_seconds;
      failure = next_failure(now);
      now += model_.start_seconds;
    }
    return now;
  }

  const ScaleModel& model_;
  std::mt19937_64 random_;
  const Tasks& tasks_;
  std::vector<bool> slow_;
  double work_ = 0.0;
  ScaleResult result_;
};

double quantile(std::vector<double> values, double share) {
  const auto place = static_cast<std::ptrdiff_t>(
      std::min(share * static_cast<double>(values.size()), static_cast<double>(values.size()) - 1.0));
  std::nth_element(values.begin(), values.begin() + place, values.end());
  return values[static_cast<std::size_t>(place)];
}

}  // namespace

ScaleResult simulate_scale(std::span<const PlannedCell> estimates, const ScaleModel& model, unsigned seed) {
  return Simulation(tasks_of(estimates, model), model, seed).run();
}

ScaleSummary summarise_scale(std::span<const PlannedCell> estimates, const ScaleModel& model, int runs) {
  const Tasks tasks = tasks_of(estimates, model);
  std::vector<double> makespans, efficiencies, failures;
  for (int seed = 1; seed <= runs; ++seed) {
    const ScaleResult one = Simulation(tasks, model, static_cast<unsigned>(seed)).run();
    makespans.push_back(one.makespan);
    efficiencies.push_back(one.efficiency);
    failures.push_back(one.failures);
  }
  return {quantile(makespans, 0.5), quantile(makespans, 0.95), quantile(efficiencies, 0.5),
          quantile(failures, 0.5)};
}

}  // namespace signorini
