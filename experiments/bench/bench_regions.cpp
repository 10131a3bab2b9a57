#include <benchmark/benchmark.h>

#include <map>
#include <memory>

#include "base/rng.h"
#include "contact/planted_problem.h"
#include "regions/incremental_partition.h"
#include "regions/printed_algorithm.h"
#include "regions/region_extractor.h"

// Region separation: union-find straight from the matrices beside Algorithm 1 as printed, cutting out the
// regions' problems, and following the regions over frames beside a full rebuild. Times per contact are in
// the counter `per_contact`.

namespace signorini {
namespace {

constexpr int kContactsPerRegion = 50;

const ContactProblem& planted(Index contacts) {
  static std::map<Index, std::unique_ptr<ContactProblem>> cache;
  auto& problem = cache[contacts];
  if (!problem) {
    PlantedOptions options;
    options.contacts = contacts;
    options.regions = std::max(1, contacts / kContactsPerRegion);
    problem = std::make_unique<ContactProblem>(make_planted_problem(options).problem);
  }
  return *problem;
}

void count_contacts(benchmark::State& state, Index contacts) {
  state.SetComplexityN(contacts);
  state.counters["per_contact"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * contacts,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void separate(benchmark::State& state, RegionMode mode) {
  const auto contacts = static_cast<Index>(state.range(0));
  const ContactProblem& problem = planted(contacts);
  Index regions = 0;
  for (auto _ : state) {
    const RegionPartition partition = partition_regions(problem, mode);
    regions = partition.regions();
    benchmark::DoNotOptimize(partition.label.data());
  }
  state.counters["regions"] = regions;
  count_contacts(state, contacts);
}
BENCHMARK_CAPTURE(separate, points, RegionMode::points)
    ->RangeMultiplier(10)
    ->Range(1000, 1000000)
    ->Complexity();
BENCHMARK_CAPTURE(separate, islands, RegionMode::islands)
    ->RangeMultiplier(10)
    ->Range(1000, 1000000)
    ->Complexity();

void printed_algorithm(benchmark::State& state) {
  const auto contacts = static_cast<Index>(state.range(0));
  const ContactElements elements = contact_elements(planted(contacts), RegionMode::points);
  for (auto _ : state) benchmark::DoNotOptimize(printed_algorithm_labels(elements).data());
  count_contacts(state, contacts);
}
BENCHMARK(printed_algorithm)->Arg(1000)->Arg(3000)->Arg(10000)->Arg(30000)->Complexity();

void extract_all(benchmark::State& state) {
  const auto contacts = static_cast<Index>(state.range(0));
  const ContactProblem& problem = planted(contacts);
  const RegionPartition partition = partition_regions(problem, RegionMode::points);
  for (auto _ : state) {
    const RegionExtractor extractor(problem, partition);
    for (Index i = 0; i < extractor.regions(); ++i) benchmark::DoNotOptimize(extractor.extract(i).f.data());
  }
  count_contacts(state, contacts);
}
BENCHMARK(extract_all)->RangeMultiplier(10)->Range(1000, 100000)->Complexity();

/// Two frames of 10⁵ contacts that differ in `percent` of them; the differing ones lie in whole regions side
/// by side
/// (`local`) or anywhere.
struct FramePair {
  std::vector<std::uint64_t> keys[2];
  ContactElements elements[2];
};
FramePair make_frames(double percent, bool local) {
  const Index contacts = 100000;
  const ContactProblem& problem = planted(contacts);
  const auto all = contact_elements(problem, RegionMode::points);
  FramePair pair;
  Rng rng(17);
  for (Index k = 0; k < contacts; ++k) {
    // A differing contact is missing from one of the two frames.
    const bool differs = local ? k < percent / 100 * contacts : rng.uniform() < percent / 100;
    const std::size_t missing = differs ? rng.below(2) : 2;
    for (std::size_t f = 0; f < 2; ++f) {
      if (f == missing) continue;
      const auto own = all.of(k);
      pair.keys[f].push_back(static_cast<std::uint64_t>(k));  // ascending, as the steppers' keys mostly are
      pair.elements[f].element.insert(pair.elements[f].element.end(), own.begin(), own.end());
      pair.elements[f].begin.push_back(count(pair.elements[f].element));
    }
  }
  return pair;
}

void follow(benchmark::State& state, bool local) {
  const FramePair pair = make_frames(static_cast<double>(state.range(0)), local);
  IncrementalPartition regions(RegionMode::points);
  regions.update(pair.keys[0], pair.elements[0]);
  std::size_t f = 1;
  for (auto _ : state) {
    benchmark::DoNotOptimize(regions.update(pair.keys[f], pair.elements[f]).label.data());
    f = 1 - f;
  }
  count_contacts(state, pair.elements[0].contacts());
}
BENCHMARK_CAPTURE(follow, local_churn_percent, true)->Arg(0)->Arg(1)->Arg(5)->Arg(20)->Arg(50);
BENCHMARK_CAPTURE(follow, spread_churn_percent, false)->Arg(1)->Arg(5)->Arg(20);

/// The same frames from scratch: from the element lists, as `follow` reads them.
void rebuild(benchmark::State& state) {
  const FramePair pair = make_frames(static_cast<double>(state.range(0)), true);
  Index count = 0;
  for (const ContactElements& elements : pair.elements) {
    for (const Index element : elements.element) count = std::max(count, element + 1);
  }
  std::size_t f = 1;
  for (auto _ : state) {
    benchmark::DoNotOptimize(partition_elements(pair.elements[f], RegionMode::points, count).label.data());
    f = 1 - f;
  }
  count_contacts(state, pair.elements[0].contacts());
}
BENCHMARK(rebuild)->Arg(5);

/// What a frame costs before it can be followed: keys from the mass points, element lists from H.
void keys(benchmark::State& state) {
  const ContactProblem& problem = planted(100000);
  for (auto _ : state) benchmark::DoNotOptimize(contact_keys(problem).data());
  count_contacts(state, 100000);
}
BENCHMARK(keys);
void elements(benchmark::State& state) {
  const ContactProblem& problem = planted(100000);
  for (auto _ : state) benchmark::DoNotOptimize(contact_elements(problem, RegionMode::points).element.data());
  count_contacts(state, 100000);
}
BENCHMARK(elements);

}  // namespace
}  // namespace signorini

BENCHMARK_MAIN();
