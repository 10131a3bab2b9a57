#include <benchmark/benchmark.h>

#include <array>
#include <map>
#include <memory>

#include "collision/contact_finder.h"
#include "interleaved.h"
#include "ring_pile.h"

// Detection in piles of rings (144 faces each; 120 of them are the scene of Verschoor and Jalba 2019, Table
// 1) from 10³ to 10⁶ faces, over a floor of two triangles or of as many small ones as the pile has. One
// detection is what a step with one collision check needs: candidates, tolerance pairs, crossings. Counters:
// `ns_per_face`, the shares of the three parts, candidates and contacts per face, and `growth`, the exponent
// k of time ~ faces^k since the size before (n log n: 1.1).

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

void detect(benchmark::State& state, BroadPhase phase, Floor floor) {
  const auto rings = static_cast<Index>(state.range(0)) / kFacesPerRing;
  const auto cells = floor == Floor::large ? 1 : static_cast<Index>(std::sqrt(0.5 * rings * kFacesPerRing));
  const bench::RingPile& p = pile(rings, cells);
  Detection detection(p, phase, 1);
  detection.run();
  std::array<double, 3> least{1e9, 1e9, 1e9};
  double best = 1e9;
  for (auto _ : state) {
    const auto parts = detection.run_in_parts();
    const double sum = parts[0] + parts[1] + parts[2];
    state.SetIterationTime(sum);
    best = std::min(best, sum);
    for (std::size_t i = 0; i < 3; ++i) least[i] = std::min(least[i], parts[i]);
  }
  const auto faces = static_cast<double>(p.surface.triangles.size());
  static std::map<std::pair<BroadPhase, Floor>, std::pair<double, double>> before;
  auto& [faces_before, best_before] = before[{phase, floor}];
  if (faces_before > 0.0 && faces_before < faces)
    state.counters["growth"] = std::log(best / best_before) / std::log(faces / faces_before);
  faces_before = faces;
  best_before = best;
  const CandidateCounts candidates = detection.candidates();
  state.SetComplexityN(static_cast<benchmark::IterationCount>(faces));
  state.counters["faces"] = faces;
  state.counters["ms"] = 1e3 * best;
  state.counters["ns_per_face"] = 1e9 * best / faces;
  state.counters["ms_candidates"] = 1e3 * least[0];
  state.counters["ms_proximity"] = 1e3 * least[1];
  state.counters["ms_crossings"] = 1e3 * least[2];
  state.counters["pairs_per_face"] =
      static_cast<double>(candidates.vertex_face + candidates.edge_edge) / faces;
  state.counters["near_per_ring"] = static_cast<double>(detection.near()) / rings;
  state.counters["crossing_per_ring"] = static_cast<double>(detection.crossing()) / rings;
}
#define SIGNORINI_SIZES Arg(1008)->Arg(10080)->Arg(17280)->Arg(100080)->Arg(1000080)
BENCHMARK_CAPTURE(detect, bvh, BroadPhase::bvh, Floor::large)
    ->SIGNORINI_SIZES->Complexity(benchmark::oNLogN)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(detect, hash, BroadPhase::hash, Floor::large)
    ->SIGNORINI_SIZES->Complexity(benchmark::oNLogN)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(detect, bvh_small_floor, BroadPhase::bvh, Floor::small)
    ->SIGNORINI_SIZES->Complexity(benchmark::oNLogN)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(detect, hash_small_floor, BroadPhase::hash, Floor::small)
    ->SIGNORINI_SIZES->Complexity(benchmark::oNLogN)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

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
