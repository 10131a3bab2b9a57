// Continuous detection, one pair at a time.
//
//   missing     candidates as a broad phase leaves them: features of one size at one place, moving by a
//               tenth of their size, none of which touch
//   fast        the same, moving by their own size
//   hitting     pairs that touch at some time
//   in_plane    motion within one plane, a part of it touching: the cubic is zero
//   grazing     double roots
//
// `per_pair` is in seconds: 25n = 25 ns. Beside them the proximity tests on the pairs of `missing` at rest.

#include <benchmark/benchmark.h>

#include <Eigen/Geometry>

#include <array>
#include <vector>

#include "base/rng.h"
#include "collision/continuous.h"

namespace signorini::bench {
namespace {

struct MovingPair {
  std::array<Vector3, 4> x, d;
};

enum class Kind { vertex_face, edge_edge };
enum class Family { missing, fast, hitting, in_plane, grazing };

bool touches(Kind kind, const MovingPair& p) {
  return kind == Kind::vertex_face ? vertex_face_impact(p.x, p.d).has_value()
                                   : edge_edge_impact(p.x, p.d).has_value();
}

MovingPair random_pair(Rng& rng, double motion) {
  MovingPair p;
  for (Vector3& x : p.x) x = {rng.uniform(), rng.uniform(), rng.uniform()};
  for (Vector3& d : p.d) d = motion * Vector3(rng.normal(), rng.normal(), rng.normal());
  return p;
}

/// The vertex, or both edges, at the middle of the face or of each other at the time t.
MovingPair meeting_pair(Rng& rng, Kind kind, bool tangential) {
  MovingPair p = random_pair(rng, 0.1);
  const double t = rng.uniform();
  if (kind == Kind::vertex_face) {
    p.x[0] = (p.x[1] + p.x[2] + p.x[3]) / 3.0;
  } else {
    const Vector3 apart = 0.5 * (p.x[0] + p.x[1] - p.x[2] - p.x[3]);
    p.x[0] -= apart;
    p.x[1] -= apart;
  }
  if (tangential) {
    const bool face = kind == Kind::vertex_face;
    const Vector3 n =
        (face ? (p.x[2] - p.x[1]).cross(p.x[3] - p.x[1]) : (p.x[1] - p.x[0]).cross(p.x[3] - p.x[2]))
            .normalized();
    const Vector3 relative = face ? Vector3(p.d[0] - (p.d[1] + p.d[2] + p.d[3]) / 3.0)
                                  : Vector3(0.5 * (p.d[0] + p.d[1] - p.d[2] - p.d[3]));
    p.d[0] -= n.dot(relative) * n;
    if (!face) p.d[1] -= n.dot(relative) * n;
  }
  for (std::size_t i = 0; i < 4; ++i) p.x[i] -= t * p.d[i];
  return p;
}

std::vector<MovingPair> pairs_of(Kind kind, Family family) {
  Rng rng(1);
  std::vector<MovingPair> pairs;
  while (pairs.size() < 4096) {
    MovingPair p = random_pair(rng, family == Family::fast ? 1.0 : 0.1);
    if (family == Family::hitting || family == Family::grazing)
      p = meeting_pair(rng, kind, family == Family::grazing);
    if (family == Family::in_plane) {
      for (auto* points : {&p.x, &p.d}) {
        for (Vector3& y : *points) y[2] = 0.0;
      }
    }
    const bool must_miss = family == Family::missing || family == Family::fast;
    if (must_miss && touches(kind, p)) continue;
    pairs.push_back(p);
  }
  return pairs;
}

void impact(benchmark::State& state, Kind kind, Family family) {
  const std::vector<MovingPair> pairs = pairs_of(kind, family);
  std::size_t hits = 0;
  for (auto _ : state) {
    hits = 0;
    for (const MovingPair& p : pairs) hits += touches(kind, p) ? 1U : 0U;
    benchmark::DoNotOptimize(hits);
  }
  const auto count = static_cast<double>(pairs.size());
  state.counters["hits"] = static_cast<double>(hits) / count;
  state.counters["per_pair"] =
      benchmark::Counter(count, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void proximity(benchmark::State& state, Kind kind) {
  const std::vector<MovingPair> pairs = pairs_of(kind, Family::missing);
  for (auto _ : state) {
    double gap = 0.0;
    for (const MovingPair& p : pairs) {
      const auto near = kind == Kind::vertex_face ? vertex_face_proximity(p.x) : edge_edge_proximity(p.x);
      if (near) gap += near->gap;
    }
    benchmark::DoNotOptimize(gap);
  }
  state.counters["per_pair"] =
      benchmark::Counter(static_cast<double>(pairs.size()),
                         benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

BENCHMARK_CAPTURE(impact, vertex_face_missing, Kind::vertex_face, Family::missing);
BENCHMARK_CAPTURE(impact, vertex_face_fast, Kind::vertex_face, Family::fast);
BENCHMARK_CAPTURE(impact, vertex_face_hitting, Kind::vertex_face, Family::hitting);
BENCHMARK_CAPTURE(impact, vertex_face_in_plane, Kind::vertex_face, Family::in_plane);
BENCHMARK_CAPTURE(impact, vertex_face_grazing, Kind::vertex_face, Family::grazing);
BENCHMARK_CAPTURE(impact, edge_edge_missing, Kind::edge_edge, Family::missing);
BENCHMARK_CAPTURE(impact, edge_edge_fast, Kind::edge_edge, Family::fast);
BENCHMARK_CAPTURE(impact, edge_edge_hitting, Kind::edge_edge, Family::hitting);
BENCHMARK_CAPTURE(impact, edge_edge_in_plane, Kind::edge_edge, Family::in_plane);
BENCHMARK_CAPTURE(impact, edge_edge_grazing, Kind::edge_edge, Family::grazing);
BENCHMARK_CAPTURE(proximity, vertex_face, Kind::vertex_face);
BENCHMARK_CAPTURE(proximity, edge_edge, Kind::edge_edge);

}  // namespace
}  // namespace signorini::bench

BENCHMARK_MAIN();
