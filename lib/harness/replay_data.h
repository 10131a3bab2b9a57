#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/run_monitor.h"
#include "harness/replay_answer.h"
#include "harness/replay_codes.h"
#include "harness/replay_plan.h"
#include "harness/replay_scene.h"

/// A recording with answers of solvers as a viewer reads it (docs/replay.md): arrays one behind another, and what tells
/// where they are. Positions in 16 bits of the frame's box, axes and residuals on the way in 16 bits, everything else in
/// single precision; triangles once for all frames that share them.
namespace signorini {

/// Little endian; every array begins at a multiple of 4.
class ReplayBytes {
 public:
  /// Where the array begins.
  template <class T>
  requires std::is_arithmetic_v<T> std::size_t add(std::span<const T> values) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + (values.size_bytes() + 3) / 4 * 4);
    if (!values.empty()) std::memcpy(bytes_.data() + at, values.data(), values.size_bytes());
    return at;
  }
  template <class T>
  std::size_t add(const std::vector<T>& values) {
    return add(std::span<const T>(values));
  }
  std::span<const std::byte> all() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

/// Triangles, and vertices of none of them. Fields named `…_at` are places in the bytes.
struct ReplayTopology {
  std::size_t triangles_at = 0;  ///< 3 per triangle, uint32
  std::size_t body_at = 0;       ///< 1 per triangle, int32; −1 is an obstacle
  std::size_t loose_at = 0;      ///< mass points without surface, uint32
  std::size_t rods_at = 0;       ///< 2 per spring of a chain, uint32
  std::size_t triangles = 0, loose = 0, rods = 0;
};

/// m contacts.
struct ReplayAnswerPlace {
  ReplayAnswer facts;           ///< without its arrays but `at`
  bool answered = false;        ///< else none of the places below means anything
  std::size_t r_at = 0;         ///< 3m, float32; N·s
  std::size_t u_at = 0;         ///< 3m, float32; m/s
  std::size_t errors_at = 0;    ///< m, float32
  std::size_t states_at = 0;    ///< m, int8: a number of `FrictionState`
  std::size_t iterates_at = 0;  ///< m per iterate of `facts.at`, uint16: `residual_code`
};

struct ReplayFrame {
  std::string id;
  double time = 0.0, dt = 0.0;  ///< s
  Index contacts = 0, regions = 0, islands = 0;
  std::size_t topology = 0, vertices = 0;
  QuantisedBox box;
  std::size_t vertices_at = 0;      ///< 3 per vertex, uint16
  std::size_t position_at = 0;      ///< 3m, uint16
  std::size_t frame_at = 0;         ///< 9m, int16: n, t1, t2
  std::size_t gap_at = 0;           ///< m, float32; m; NaN: not recorded
  std::size_t mu_at = 0;            ///< m, float32
  std::size_t region_at = 0;        ///< m, int32
  std::size_t region_point_at = 0;  ///< m, int32: smallest mass point of the region, −1: none
  std::size_t island_at = 0;        ///< m, int32
  std::size_t bodies_at = 0;        ///< 2m, int32; −1 is an obstacle, −2: not recorded
  std::vector<ReplayAnswerPlace> answers;
};

struct ReplayData {
  RecordingHeader header;
  std::string file;  ///< its name without folders
  ReplayScene scene;
  ReplayPlan plan;
  std::vector<ReplayTopology> topologies;
  std::vector<ReplayFrame> frames;
  ReplayBytes bytes;
};

/// Bytes of a frame, at most: with `answers` answers, `solvers` of them with `iterates` iterates.
double replay_frame_bytes(Eigen::Index vertices, Index contacts, std::size_t answers, std::size_t solvers,
                          int iterates);

/// Reads and solves. Throws `InputError` for what cannot be drawn, `Cancelled` when the monitor says so.
ReplayData make_replay(const ReplayRequest& request, RunMonitor& monitor);

}  // namespace signorini
