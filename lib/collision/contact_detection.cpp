#include "collision/contact_detection.h"

#include <Eigen/Geometry>
#include <algorithm>

#include "base/check.h"

namespace signorini {

namespace {

constexpr std::size_t kPointGrain = 64;
constexpr std::size_t kTriangleGrain = 512;

}  // namespace

CollisionModel make_collision_model(std::span<const Triangle> surface, std::span<const Index> body_of,
                                    TriangleMesh obstacle) {
  CollisionModel model;
  model.nodes = count(body_of);
  model.triangles.assign(surface.begin(), surface.end());
  for (const Triangle& t : surface) {
    model.triangle_body.push_back(body_of[t[0]]);
    model.points.insert(model.points.end(), t.begin(), t.end());
  }
  SIGNORINI_CHECK(std::is_sorted(model.triangle_body.begin(), model.triangle_body.end()));
  std::sort(model.points.begin(), model.points.end());
  model.points.erase(std::unique(model.points.begin(), model.points.end()), model.points.end());
  for (const Index node : model.points) model.point_body.push_back(body_of[node]);
  model.bodies = body_of.empty() ? 0 : *std::max_element(body_of.begin(), body_of.end()) + 1;
  model.obstacle_points = exposed_vertices(obstacle);
  model.obstacle = std::move(obstacle);
  return model;
}

ContactDetector::ContactDetector(CollisionModel model, DetectionSettings settings)
    : model_(std::move(model)), settings_(settings) {
  std::vector<Aabb> boxes;
  for (const Triangle& t : model_.obstacle.triangles) {
    Aabb box;
    for (const Index i : t) box.extend(model_.obstacle.vertices[i]);
    boxes.push_back(box.inflated(std::max(settings_.tolerance, settings_.depth)));
    obstacle_box_.extend(boxes.back());
  }
  obstacle_hash_.build(boxes, settings_.cell);
}

bool ContactDetector::can_touch(Index point_body, Index triangle_body) const {
  return point_body != triangle_body && !(model_.is_fixed(point_body) && model_.is_fixed(triangle_body));
}

std::array<Vector3, 3> ContactDetector::corners(const NodeMotion& motion, Index triangle) const {
  const Index movable = count(model_.triangles);
  const bool fixed = triangle >= movable;
  const Triangle& t = fixed ? model_.obstacle.triangles[triangle - movable] : model_.triangles[triangle];
  const auto x = [&](Index i) { return fixed ? model_.obstacle.vertices[i] : motion.position[i]; };
  return {x(t[0]), x(t[1]), x(t[2])};
}

Vector3 ContactDetector::point_position(const NodeMotion& motion, Index point) const {
  return point < model_.nodes ? motion.position[point] : model_.obstacle.vertices[point - model_.nodes];
}

Vector3 ContactDetector::point_travel(const NodeMotion& motion, Index point) const {
  return point < model_.nodes ? Vector3(motion.dt * motion.free_velocity[point]) : Vector3::Zero();
}

void ContactDetector::build_movable_boxes(TaskArena& arena, const NodeMotion& motion) {
  const double margin = std::max(settings_.tolerance, settings_.depth);
  triangle_box_.assign(model_.triangles.size(), Aabb{});
  arena.for_chunks(model_.triangles.size(), kTriangleGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t t = begin; t < end; ++t) {
      Aabb box;
      for (const Index i : model_.triangles[t]) {
        box.extend(motion.position[i]);
        box.extend(motion.position[i] + motion.dt * motion.free_velocity[i]);
      }
      triangle_box_[t] = box.inflated(margin);
    }
  });
  body_box_.assign(model_.bodies, Aabb{});
  for (std::size_t t = 0; t < triangle_box_.size(); ++t) {
    body_box_[model_.triangle_body[t]].extend(triangle_box_[t]);
  }
  point_box_.assign(model_.bodies, Aabb{});
  for (std::size_t i = 0; i < model_.points.size(); ++i) {
    const Vector3& p = motion.position[model_.points[i]];
    Aabb& box = point_box_[model_.point_body[i]];
    box.extend(p);
    box.extend(p + point_travel(motion, model_.points[i]));
  }
  // Only triangles that reach into the box of another body's points, or of an exposed obstacle vertex, can be
  // met by a point.
  Aabb exposed;
  for (const Index v : model_.obstacle_points) exposed.extend(model_.obstacle.vertices[v]);
  hashed_.clear();
  hashed_box_.clear();
  for (Index t = 0; t < count(triangle_box_); ++t) {
    const Index body = model_.triangle_body[t];
    bool reached = !model_.is_fixed(body) && triangle_box_[t].overlaps(exposed);
    for (Index b = 0; b < model_.bodies && !reached; ++b)
      reached = can_touch(b, body) && triangle_box_[t].overlaps(point_box_[b]);
    if (!reached) continue;
    hashed_.push_back(t);
    hashed_box_.push_back(triangle_box_[t]);
  }
  movable_hash_.build(hashed_box_, settings_.cell);
}

void ContactDetector::add_contacts(const NodeMotion& motion, Index point, Index body, Index triangle_body,
                                   Chunk& chunk) const {
  select_contacts(chunk.near, settings_.tolerance, settings_.depth);
  const Index movable = count(model_.triangles);
  for (const NearTriangle& near : chunk.near) {
    PointTriangleContact contact;
    chunk.deepest = std::max(chunk.deepest, -near.gap);
    // u_N = n · (v_point − Σ barycentric v_corner), before the step and without contact impulses.
    Vector3 before = Vector3::Zero();
    Vector3 without = Vector3::Zero();
    if (point < model_.nodes) {
      contact.node = point;
      before = motion.velocity[point];
      without = motion.free_velocity[point];
    }
    if (near.triangle < movable) {
      contact.triangle = model_.triangles[near.triangle];
      for (Index c = 0; c < 3; ++c) {
        const double weight = near.on.barycentric[c];
        before -= weight * motion.velocity[contact.triangle[c]];
        without -= weight * motion.free_velocity[contact.triangle[c]];
      }
    }
    const double normal_before = near.normal.dot(before);
    const double normal_free = near.normal.dot(without);
    const bool reached = near.gap <= settings_.tolerance || near.gap + motion.dt * normal_free <= 0.0;
    if (!reached || std::min(normal_before, normal_free) > settings_.rest_speed) continue;
    contact.key = {point, near.triangle};
    contact.point_body = body;
    contact.triangle_body = triangle_body;
    contact.barycentric = near.on.barycentric;
    contact.normal = near.normal;
    const auto x = corners(motion, near.triangle);
    contact.tangent = (x[1] - x[0]).normalized();
    contact.position = near.on.closest;
    contact.gap = near.gap;
    chunk.contacts.push_back(contact);
  }
}

void ContactDetector::detect_point(const NodeMotion& motion, std::size_t number, Chunk& chunk) const {
  const bool movable = number < model_.points.size();
  const Index point =
      movable ? model_.points[number] : model_.nodes + model_.obstacle_points[number - model_.points.size()];
  const Index body = movable ? model_.point_body[number] : -1;
  const Vector3 p = point_position(motion, point);
  Aabb box;
  box.extend(p);
  box.extend(p + point_travel(motion, point));
  const Index movable_triangles = count(model_.triangles);
  NearTriangle near;
  const auto add_near = [&](Index triangle) {
    const auto x = corners(motion, triangle);
    if (near_triangle(p, triangle, x[0], x[1], x[2], near)) chunk.near.push_back(near);
  };
  if (!model_.is_fixed(body) && box.overlaps(obstacle_box_)) {
    obstacle_hash_.query(box, chunk.found);
    chunk.near.clear();
    for (const Index t : chunk.found) add_near(movable_triangles + t);
    add_contacts(motion, point, body, -1, chunk);
  }
  bool reached = false;
  for (Index b = 0; b < model_.bodies && !reached; ++b)
    reached = can_touch(body, b) && box.overlaps(body_box_[b]);
  if (!reached) return;
  movable_hash_.query(box, chunk.found);
  // Found triangles ascend, so those of one body stand together.
  for (std::size_t begin = 0; begin < chunk.found.size();) {
    const Index other = model_.triangle_body[hashed_[chunk.found[begin]]];
    chunk.near.clear();
    std::size_t end = begin;
    for (; end < chunk.found.size(); ++end) {
      const Index triangle = hashed_[chunk.found[end]];
      if (model_.triangle_body[triangle] != other) break;
      if (can_touch(body, other)) add_near(triangle);
    }
    if (can_touch(body, other)) add_contacts(motion, point, body, other, chunk);
    begin = end;
  }
}

const std::vector<PointTriangleContact>& ContactDetector::detect(TaskArena& arena, const NodeMotion& motion) {
  SIGNORINI_CHECK(count(motion.position) == model_.nodes && count(motion.velocity) == model_.nodes &&
                  count(motion.free_velocity) == model_.nodes);
  build_movable_boxes(arena, motion);
  const std::size_t count = model_.points.size() + model_.obstacle_points.size();
  chunks_.resize((count + kPointGrain - 1) / kPointGrain);
  arena.for_chunks(count, kPointGrain, [&](std::size_t begin, std::size_t end) {
    Chunk& chunk = chunks_[begin / kPointGrain];
    chunk.contacts.clear();
    chunk.deepest = 0.0;
    for (std::size_t point = begin; point < end; ++point) detect_point(motion, point, chunk);
  });
  contacts_.clear();
  deepest_ = 0.0;
  for (const Chunk& chunk : chunks_) {
    contacts_.insert(contacts_.end(), chunk.contacts.begin(), chunk.contacts.end());
    deepest_ = std::max(deepest_, chunk.deepest);
  }
  std::sort(contacts_.begin(), contacts_.end(),
            [](const PointTriangleContact& a, const PointTriangleContact& b) { return a.key < b.key; });
  return contacts_;
}

double deepest_penetration(const CollisionModel& model, std::span<const Vector3> position,
                           double depth_limit) {
  double deepest = 0.0;
  std::vector<NearTriangle> near;
  const auto test_surface = [&](const Vector3& p, std::span<const Triangle> triangles,
                                std::span<const Vector3> x, auto&& wanted) {
    near.clear();
    NearTriangle candidate;
    for (Index t = 0; t < count(triangles); ++t) {
      const Triangle& k = triangles[t];
      if (wanted(t) && near_triangle(p, t, x[k[0]], x[k[1]], x[k[2]], candidate)) {
        near.push_back(candidate);
      }
    }
    select_contacts(near, 0.0, depth_limit);
    if (!near.empty()) deepest = std::max(deepest, -near.front().gap);
  };
  const auto everything = [](std::size_t) { return true; };
  const auto against_bodies = [&](const Vector3& p, Index own_body) {
    for (Index b = 0; b < model.bodies; ++b) {
      if (b == own_body || (model.is_fixed(b) && model.is_fixed(own_body))) continue;
      test_surface(p, model.triangles, position, [&](std::size_t t) { return model.triangle_body[t] == b; });
    }
  };
  for (std::size_t i = 0; i < model.points.size(); ++i) {
    const Vector3& p = position[model.points[i]];
    if (!model.is_fixed(model.point_body[i]))
      test_surface(p, model.obstacle.triangles, model.obstacle.vertices, everything);
    against_bodies(p, model.point_body[i]);
  }
  for (const Index v : model.obstacle_points) against_bodies(model.obstacle.vertices[v], -1);
  return deepest;
}

}  // namespace signorini
