#include "campaign/shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "base/check.h"
#include "base/digest.h"
#include "base/text.h"

namespace signorini {
namespace {

constexpr double kSlack = 0.05;  ///< of a fair share
constexpr std::size_t kShardsPerPiece = 16;

std::uint64_t preference(const std::string& name, std::size_t shard) {
  return digest_of(fmt::format("{}\x1f{}", name, shard));
}

/// Shards that single costly pieces fill above the fair share and the slack come first, the fullest at the head: where there are
/// more shards than nodes, schedulers start them in this order. The others keep theirs.
std::vector<int> places_of(const std::vector<double>& load, double fair) {
  std::vector<std::size_t> order(load.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto overfull = [&](std::size_t shard) { return load[shard] > (1.0 + kSlack) * fair; };
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return (overfull(a) ? load[a] : 0.0) > (overfull(b) ? load[b] : 0.0);
  });
  std::vector<int> place(load.size());
  for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<int>(i);
  return place;
}

}  // namespace

std::vector<int> assign_shards(std::span<const CostedWork> work, int most_shards) {
  // every piece prefers one shard of all: with far more shards than pieces the others would only cost time
  const int shards = static_cast<int>(std::min(static_cast<std::size_t>(most_shards),
                                               std::max(kShardsPerPiece * work.size(), std::size_t{1})));
  std::vector<std::size_t> order(work.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&work](std::size_t a, std::size_t b) {
    return work[a].seconds != work[b].seconds ? work[a].seconds > work[b].seconds
                                              : work[a].name < work[b].name;
  });
  double total = 0.0;
  for (const std::size_t i : order)
    total += work[i].seconds;  // in the order of costs: the same for any input order
  const double slack = kSlack * total / shards;
  std::vector<double> load(static_cast<std::size_t>(shards), 0.0);
  std::vector<int> shard_of(work.size(), 0);
  for (const std::size_t i : order) {
    const double least = *std::ranges::min_element(load);
    std::size_t chosen = load.size();
    std::uint64_t best = 0;
    for (std::size_t shard = 0; shard < load.size(); ++shard) {
      if (load[shard] > least + slack) continue;
      const std::uint64_t wish = preference(work[i].name, shard);
      if (chosen == load.size() || wish > best) {
        chosen = shard;
        best = wish;
      }
    }
    load[chosen] += work[i].seconds;
    shard_of[i] = static_cast<int>(chosen);
  }
  const std::vector<int> place = places_of(load, total / shards);
  for (int& shard : shard_of) shard = place[static_cast<std::size_t>(shard)];
  return shard_of;
}

std::vector<int> assign_shards(std::span<const PlannedCell> cells, int shards, ShardUnit unit) {
  std::vector<CostedWork> work;
  std::map<std::string, std::size_t> number;
  std::vector<std::size_t> work_of;
  for (const PlannedCell& one : cells) {
    const std::string name =
        unit == ShardUnit::cell ? cell_key(one.experiment, one.cell)
                                : fmt::format("{}\x1f{}\x1f{}", one.experiment, one.cell.file, one.cell.step);
    const auto [found, fresh] = number.emplace(name, work.size());
    if (fresh) work.push_back({name, 0.0});
    work[found->second].seconds += one.seconds;
    work_of.push_back(found->second);
  }
  const std::vector<int> shard_of = assign_shards(work, shards);
  std::vector<int> out;
  out.reserve(cells.size());
  for (const std::size_t i : work_of) out.push_back(shard_of[i]);
  return out;
}

ShardChoice parse_shard(const std::string& text) {
  const std::vector<std::string> words = split(text, '/');
  const auto wrong = [&text]() -> ShardChoice {
    throw_usage("--shard {}: must look like I/N with 1 <= I <= N, e.g. --shard 1/8", text);
  };
  if (words.size() != 2) return wrong();
  try {
    const long long shard = parse_integer(words[0], "--shard"), shards = parse_integer(words[1], "--shard");
    constexpr long long kMost = 1000000;
    if (shard < 1 || shards < shard || shards > kMost) return wrong();
    return {static_cast<int>(shard - 1), static_cast<int>(shards)};
  } catch (const UsageError&) {
    return wrong();
  }
}

}  // namespace signorini
