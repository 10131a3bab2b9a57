#include <benchmark/benchmark.h>

#include <array>
#include <map>
#include <memory>

#include "collision/contact_finder.h"
#include "interleaved.h"
#include "ring_pile.h"

// Detection in piles of rings (144 faces each; 120 of them are the scene of Verschoor and Jalba 2019, Table
// 1) from 10³ to 10⁶ faces, over a floor of two triangles or of as many small ones as the pile has. One
// detection is what a step with one collision check needs: candidates, tolerance pairs, crossings. Every
// iteration runs one thread and two threads in turn; of every number the least over the iterations counts.
// Counters:
//
//   ms, ms_2threads   one detection with one thread, with two
//   two_threads_faster   the ratio of the two
//   ms_candidates, ms_proximity, ms_crossings   its parts, one thread
//   ns_per_face, pairs_per_face, near_per_ring, crossing_per_ring
//
// scripts/benchmarks draws them and fits the growth.

namespace signorini {
namespace {

constexpr double kStep = 1e-3;       // s
constexpr double kTolerance = 1e-3;  // m
constexpr Index kFacesPerRing = 144;

const bench::RingPile& pile(Index rings, Index floor_cells) {
  static std::map<std::array<Index, 2>, std::unique_ptr<bench::RingPile>> cache;
  auto& entry = cache[{rings, floor_cells}];
  if (!entry) entry = std::make_unique<bench::RingPile>(bench::ring_pile(rings, floor_cells));
  return *entry;
}

/// A finder that follows the pile to and fro between two states a step apart.
class Detection {
 public:
  Detection(const bench::RingPile& rings, BroadPhase phase, int threads, bool keep_candidates = false)
      : pile_(rings),
        arena_(threads),
        finder_(rings.surface,
                {.tolerance = kTolerance, .broad_phase = phase, .keep_candidates = keep_candidates}) {
    x_[0] = rings.x;
    for (std::size_t i = 0; i < rings.x.size(); ++i) x_[1].push_back(rings.x[i] + kStep * rings.v[i]);
    reversed_ = rings.v;
    for (Vector3& v : reversed_) v = -v;
  }

  void run() {
    const auto& from = x_[turn_ % 2];
    finder_.update_candidates(arena_, from, turn_ % 2 == 0 ? pile_.v : reversed_, kStep);
    finder_.proximity(arena_, from, near_);
    finder_.crossings(arena_, from, x_[(turn_ + 1) % 2], {}, crossing_);
    ++turn_;
  }
  /// Seconds of the three calls in the state that is next.
  std::array<double, 3> run_in_parts() {
    using Clock = std::chrono::steady_clock;
    const auto seconds = [](auto&& work) {
      const auto start = Clock::now();
      work();
      return std::chrono::duration<double>(Clock::now() - start).count();
    };
    const auto& from = x_[turn_ % 2];
    const std::array<double, 3> parts{
        seconds(
            [&] { finder_.update_candidates(arena_, from, turn_ % 2 == 0 ? pile_.v : reversed_, kStep); }),
        seconds([&] { finder_.proximity(arena_, from, near_); }),
        seconds([&] { finder_.crossings(arena_, from, x_[(turn_ + 1) % 2], {}, crossing_); })};
    ++turn_;
    return parts;
  }
  CandidateCounts candidates() const { return finder_.candidates(); }
  std::size_t near() const { return near_.size(); }
  std::size_t crossing() const { return crossing_.size(); }

 private:
  const bench::RingPile& pile_;
  TaskArena arena_;
  ContactFinder finder_;
  std::array<std::vector<Vector3>, 2> x_;
  std::vector<Vector3> reversed_;
  std::vector<SurfaceContact> near_, crossing_;
  std::size_t turn_ = 0;
};

enum class Floor { large, small };

using Parts = std::array<double, 3>;  ///< seconds: candidates, tolerance pairs, crossings

/// The least of every part on its own: noise of the machine only ever adds.
void keep_least(Parts& least, double& least_sum, const Parts& parts) {
  for (std::size_t i = 0; i < parts.size(); ++i) least[i] = std::min(least[i], parts[i]);
  least_sum = std::min(least_sum, parts[0] + parts[1] + parts[2]);
}

void detect(benchmark::State& state, BroadPhase phase, Floor floor) {
  const auto rings = static_cast<Index>(state.range(0)) / kFacesPerRing;
  const auto cells = floor == Floor::large ? 1 : static_cast<Index>(std::sqrt(0.5 * rings * kFacesPerRing));
  const bench::RingPile& p = pile(rings, cells);
  Detection detection(p, phase, 1), with_two(p, phase, 2);
  detection.run();
  with_two.run();
  Parts least{1e9, 1e9, 1e9}, least_two = least;
  double best = 1e9, best_two = 1e9;
  for (auto _ : state) {
    const Parts parts = detection.run_in_parts();
    state.SetIterationTime(parts[0] + parts[1] + parts[2]);
    keep_least(least, best, parts);
    keep_least(least_two, best_two, with_two.run_in_parts());
  }
  const auto faces = static_cast<double>(p.surface.triangles.size());
  const CandidateCounts candidates = detection.candidates();
  state.counters["faces"] = faces;
  state.counters["ms"] = 1e3 * best;
  state.counters["ms_2threads"] = 1e3 * best_two;
  state.counters["two_threads_faster"] = best / best_two;
  state.counters["ns_per_face"] = 1e9 * best / faces;
  state.counters["ms_candidates"] = 1e3 * least[0];
  state.counters["ms_proximity"] = 1e3 * least[1];
  state.counters["ms_crossings"] = 1e3 * least[2];
  state.counters["ms_candidates_2threads"] = 1e3 * least_two[0];
  state.counters["ms_proximity_2threads"] = 1e3 * least_two[1];
  state.counters["ms_crossings_2threads"] = 1e3 * least_two[2];
  state.counters["pairs_per_face"] =
      static_cast<double>(candidates.vertex_face + candidates.edge_edge) / faces;
  state.counters["near_per_ring"] = static_cast<double>(detection.near()) / rings;
  state.counters["crossing_per_ring"] = static_cast<double>(detection.crossing()) / rings;
}
/// 7 to 6945 rings, two sizes per decade, and the 120 of the paper's scene.
void small(benchmark::internal::Benchmark* b) {
  for (const int rings : {7, 22, 70, 120, 220}) b->Arg(rings * kFacesPerRing);
  b->UseManualTime()->Unit(benchmark::kMillisecond)->MinTime(2.0);
}
void large(benchmark::internal::Benchmark* b) {
  for (const int rings : {695, 2200, 6945}) b->Arg(rings * kFacesPerRing);
  b->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(8);
}
#define SIGNORINI_DETECT(name, phase, floor)                   \
  BENCHMARK_CAPTURE(detect, name, phase, floor)->Apply(small); \
  BENCHMARK_CAPTURE(detect, name, phase, floor)->Apply(large)
SIGNORINI_DETECT(bvh, BroadPhase::bvh, Floor::large);
SIGNORINI_DETECT(hash, BroadPhase::hash, Floor::large);
SIGNORINI_DETECT(bvh_small_floor, BroadPhase::bvh, Floor::small);
SIGNORINI_DETECT(hash_small_floor, BroadPhase::hash, Floor::small);

/// How much faster than the tree with one thread and new candidates at every step: two threads, the hash, and
/// candidates that are still good; in turn within one run.
void ratios(benchmark::State& state) {
  const bench::RingPile& p = pile(static_cast<Index>(state.range(0)) / kFacesPerRing, 1);
  Detection one(p, BroadPhase::bvh, 1), two(p, BroadPhase::bvh, 2), hash(p, BroadPhase::hash, 1),
      kept(p, BroadPhase::bvh, 1, true);
  const std::vector<std::function<void()>> candidates{[&] { one.run(); }, [&] { two.run(); },
                                                      [&] { hash.run(); }, [&] { kept.run(); }};
  const auto seconds = bench::least_seconds(state, bench::Start::warm, candidates);
  state.counters["two_threads_faster"] = seconds[0] / seconds[1];
  state.counters["hash_faster"] = seconds[0] / seconds[2];
  state.counters["kept_faster"] = seconds[0] / seconds[3];
}
BENCHMARK(ratios)->Arg(17280)->Arg(100080)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace signorini

BENCHMARK_MAIN();
