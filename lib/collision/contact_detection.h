#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "collision/broad_phase.h"
#include "collision/point_surface.h"

/// Point–triangle contacts between movable surfaces and against static obstacles (Lazarevych 2010, section 2;
/// a body does not meet itself here).
namespace signorini {

/// The surfaces of a scene. Moving nodes are numbered by the caller; obstacle vertices follow after them.
/// Bodies that move as a script says are among the moving ones; pairs of two of them, and of one with an
/// obstacle, are no contacts.
struct CollisionModel {
  Index nodes = 0;                   ///< moving nodes
  std::vector<Triangle> triangles;   ///< moving, on node numbers, outward, body after body
  std::vector<Index> triangle_body;  ///< ascending
  std::vector<Index> points;         ///< nodes that can touch something, ascending
  std::vector<Index> point_body;
  Index bodies = 0;
  std::vector<unsigned char> scripted;  ///< per body: moves as a script says; empty = none does
  TriangleMesh obstacle;                ///< static; its normals face the movable side
  std::vector<Index> obstacle_points;   ///< obstacle vertices that a body can hit

  /// Nothing that a contact does can move it; body −1 is the obstacle.
  bool is_fixed(Index body) const { return body < 0 || (!scripted.empty() && scripted[body] != 0); }
};

/// `body_of`: body of each node. Points and obstacle points are derived.
CollisionModel make_collision_model(std::span<const Triangle> surface, std::span<const Index> body_of,
                                    TriangleMesh obstacle);

/// (point, triangle) by their numbers in the whole scene: point < nodes is a movable node, else obstacle
/// vertex + nodes; triangle < movable triangles, else obstacle triangle + movable triangles. Stable while the
/// surfaces keep their topology.
struct PointTriangleKey {
  Index point = -1;
  Index triangle = -1;
  auto operator<=>(const PointTriangleKey&) const = default;
};

struct PointTriangleContact {
  PointTriangleKey key;
  Index point_body = -1, triangle_body = -1;  ///< −1 = obstacle
  Index node = -1;                            ///< movable node of the point, −1 = obstacle vertex
  Triangle triangle{-1, -1, -1};              ///< movable nodes of the triangle, −1 each for an obstacle
  Vector3 barycentric;                        ///< (a, b, c) of the closest point
  Vector3 normal;                             ///< unit, from the triangle to the point
  Vector3 tangent;                            ///< unit, along the triangle's first edge
  Vector3 position;                           ///< closest point on the triangle, m
  double gap = 0.0;                           ///< n · (point − position), m
};

struct DetectionSettings {
  double tolerance = 1e-3;   ///< δ: pairs closer than this are contacts, m
  double depth = 5e-3;       ///< points deeper than this below a triangle are behind it, not in contact, m
  double rest_speed = 4e-3;  ///< pairs that separate faster than this are no contacts, m/s
  double cell = 0.05;        ///< edge of the hash cells, m
  bool edges = false;        ///< edge–edge pairs too (collision/edge_contacts.h)
};

/// What a detection looks at: node positions at the start of the step, velocities before it and without
/// contact impulses.
struct NodeMotion {
  std::span<const Vector3> position;       ///< m
  std::span<const Vector3> velocity;       ///< u⁻, m/s
  std::span<const Vector3> free_velocity;  ///< u⁻ + dt M⁻¹ f, m/s
  double dt = 0.0;                         ///< s
};

class ContactDetector {
 public:
  ContactDetector(CollisionModel model, DetectionSettings settings);

  /// A pair is a contact when its gap is ≤ δ, or would be closed within the step by the free velocities
  /// (gap + dt u_N ≤ 0: fast points do not tunnel), and it does not separate: min(u_N⁻, u_N free) ≤
  /// rest_speed. Per point and opposing surface `select_contacts` decides. Ascending by key; the same for any
  /// number of threads.
  const std::vector<PointTriangleContact>& detect(TaskArena& arena, const NodeMotion& motion);
  /// Of the last `detect`.
  const std::vector<PointTriangleContact>& contacts() const { return contacts_; }
  /// Deepest penetration at the positions of the last `detect`, separating pairs included; m, ≥ 0.
  double deepest() const { return deepest_; }

  const CollisionModel& model() const { return model_; }
  const DetectionSettings& settings() const { return settings_; }

 private:
  struct Chunk {
    std::vector<PointTriangleContact> contacts;
    std::vector<Index> found;
    std::vector<NearTriangle> near;
    double deepest = 0.0;
  };
  void build_movable_boxes(TaskArena& arena, const NodeMotion& motion);
  bool can_touch(Index point_body, Index triangle_body) const;
  Vector3 point_position(const NodeMotion& motion, Index point) const;
  Vector3 point_travel(const NodeMotion& motion, Index point) const;
  void detect_point(const NodeMotion& motion, std::size_t point, Chunk& chunk) const;
  void add_contacts(const NodeMotion& motion, Index point, Index body, Index triangle_body,
                    Chunk& chunk) const;
  std::array<Vector3, 3> corners(const NodeMotion& motion, Index triangle) const;

  CollisionModel model_;
  DetectionSettings settings_;
  SpatialHash obstacle_hash_, movable_hash_;
  Aabb obstacle_box_;
  std::vector<Aabb> triangle_box_, body_box_, point_box_, hashed_box_;
  std::vector<Index> hashed_;  // movable triangle behind each hashed box
  std::vector<Chunk> chunks_;
  std::vector<PointTriangleContact> contacts_;
  double deepest_ = 0.0;
};

/// Deepest penetration of any point below any triangle of another surface: −gap of its nearest triangle, by
/// testing every pair; m, ≥ 0. Slow; the independent check that tests and start-up use.
double deepest_penetration(const CollisionModel& model, std::span<const Vector3> position,
                           double depth_limit);

}  // namespace signorini
