#include "collision/edge_contacts.h"

#include <Eigen/Geometry>
#include <algorithm>

#include "base/check.h"
#include "collision/contact_finder.h"
#include "collision/continuous.h"
#include "collision/edge_faces.h"

namespace signorini {

namespace {

constexpr std::size_t kGrain = 128;
constexpr double kLean = 0.01;  // largest d · m_i of a direction that points out of an edge
// Sine of the smallest fold that counts as convex, as for vertices (geometry/triangle_mesh.h).
constexpr double kFold = 1e-6;

using Corners = std::array<Vector3, 4>;

/// Of one face at its edge (i, j).
struct FaceAtEdge {
  Vector3 normal, inward;  ///< unit: N_i and m_i; zero for a face without area
};

FaceAtEdge face_at_edge(const Triangle& t, const Edge& edge, std::span<const Vector3> x) {
  const Index apex = *std::find_if(t.begin(), t.end(), [&](Index v) { return v != edge[0] && v != edge[1]; });
  const Vector3 along = (x[edge[1]] - x[edge[0]]).normalized();
  const Vector3 across = x[apex] - x[edge[0]];
  return {(x[t[1]] - x[t[0]]).cross(x[t[2]] - x[t[0]]).normalized(),
          (across - along.dot(across) * along).normalized()};
}

/// Whether something can touch an edge that keeps its shape: it is convex or at a border.
bool is_exposed(const SurfaceModel& surface, Index edge, const std::array<Index, 2>& faces,
                std::span<const Vector3> x) {
  if (faces[0] < 0 || faces[1] < 0) return faces[0] >= 0;
  const FaceAtEdge first = face_at_edge(surface.triangles[faces[0]], surface.edges[edge], x);
  const FaceAtEdge second = face_at_edge(surface.triangles[faces[1]], surface.edges[edge], x);
  return first.normal.dot(second.inward) < -kFold;  // the neighbour falls away below the face
}

}  // namespace

EdgeDetector::EdgeDetector(const SurfaceModel& surface, std::span<const Vector3> start,
                           const DetectionSettings& settings)
    : surface_(surface), settings_(settings), faces_(faces_of_edges(surface)) {
  SIGNORINI_CHECK(count(start) == surface.vertices());
  for (Index e = 0; e < count(surface.edges); ++e) {
    if (surface.bodies[surface.edge_body[e]].deformable ? faces_[e][0] >= 0
                                                        : is_exposed(surface, e, faces_[e], start))
      edges_.push_back(e);
  }
  box_.resize(edges_.size());
  end_.resize(surface.vertices());
}

bool EdgeDetector::can_touch(Index body_a, Index body_b) const {
  return body_a != body_b && (surface_.bodies[body_a].movable || surface_.bodies[body_b].movable);
}

bool EdgeDetector::points_out(Index edge, const Vector3& d, std::span<const Vector3> x) const {
  double outward = 0.0;
  for (const Index f : faces_[edge]) {
    if (f < 0) continue;
    const FaceAtEdge face = face_at_edge(surface_.triangles[f], surface_.edges[edge], x);
    if (d.dot(face.inward) > kLean) return false;
    outward += d.dot(face.normal);
  }
  return outward > 0.0;
}

/// Weights, normal and gap of the pair `contact.feature` at x; false where it cannot be in contact.
bool EdgeDetector::place(SurfaceContact& contact, std::span<const Vector3> x) const {
  const auto& v = contact.key.vertex;
  const Corners p{x[v[0]], x[v[1]], x[v[2]], x[v[3]]};
  const auto near = edge_edge_proximity(p);
  if (!near || near->gap > std::max(settings_.depth, settings_.tolerance)) return false;
  const auto& [a, b] = contact.feature;
  for (const double side : {1.0, -1.0}) {
    const Vector3 normal = side * near->normal;
    if (!points_out(b, normal, x) || !points_out(a, -normal, x)) continue;
    contact.weight = near->weight;
    contact.normal = normal;
    contact.tangent = (p[3] - p[2]).normalized();
    update_gap(contact, x);
    return true;
  }
  return false;
}

/// The same where the free velocities take the pair, if its edges meet on the way there; gap and position of the
/// start.
bool EdgeDetector::place_at_end(SurfaceContact& contact, std::span<const Vector3> x) const {
  if (!place(contact, end_) || contact.gap > 0.0) return false;
  update_gap(contact, x);
  if (contact.gap < 0.0) return false;
  Corners start, way;
  for (std::size_t i = 0; i < 4; ++i) {
    const Index v = contact.key.vertex[i];
    start[i] = x[v];
    way[i] = end_[v] - x[v];
  }
  return edge_edge_impact(start, way).has_value();
}

/// The contact of the pair `contact.feature`, if it is one.
bool EdgeDetector::is_contact(SurfaceContact& contact, const NodeMotion& motion) const {
  if (!place(contact, motion.position) && !place_at_end(contact, motion.position)) return false;
  const auto& v = contact.key.vertex;
  const auto normal_speed = [&](std::span<const Vector3> velocity) {
    double speed = 0.0;
    for (std::size_t i = 0; i < 4; ++i) speed += contact.weight[i] * contact.normal.dot(velocity[v[i]]);
    return speed;
  };
  const double free = normal_speed(motion.free_velocity);
  const bool reached = contact.gap <= settings_.tolerance || contact.gap + motion.dt * free <= 0.0;
  return reached && contact.gap >= -settings_.depth &&
         std::min(normal_speed(motion.velocity), free) <= settings_.rest_speed;
}

void EdgeDetector::build_boxes(TaskArena& arena, const NodeMotion& motion) {
  const double margin = 0.5 * std::max(settings_.tolerance, settings_.depth);
  arena.for_chunks(end_.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t v = begin; v < end; ++v)
      end_[v] = motion.position[v] + motion.dt * motion.free_velocity[v];
  });
  arena.for_chunks(edges_.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      Aabb box;
      for (const Index v : surface_.edges[edges_[i]]) {
        box.extend(motion.position[v]);
        box.extend(end_[v]);
      }
      box_[i] = box.inflated(margin);
    }
  });
  body_box_.assign(surface_.bodies.size(), Aabb{});
  for (std::size_t i = 0; i < edges_.size(); ++i) body_box_[surface_.edge_body[edges_[i]]].extend(box_[i]);
  // Only edges that reach into the box of another body can meet one of its edges.
  hashed_.clear();
  hashed_box_.clear();
  for (std::size_t i = 0; i < edges_.size(); ++i) {
    const Index body = surface_.edge_body[edges_[i]];
    bool reached = false;
    for (Index b = 0; b < count(body_box_) && !reached; ++b)
      reached = can_touch(body, b) && box_[i].overlaps(body_box_[b]);
    if (!reached) continue;
    hashed_.push_back(edges_[i]);
    hashed_box_.push_back(box_[i]);
  }
  hash_.build(hashed_box_, settings_.cell);
}

const std::vector<SurfaceContact>& EdgeDetector::detect(TaskArena& arena, const NodeMotion& motion) {
  SIGNORINI_CHECK(count(motion.position) == surface_.vertices() &&
                  count(motion.velocity) == surface_.vertices() &&
                  count(motion.free_velocity) == surface_.vertices());
  build_boxes(arena, motion);
  found_.resize((hashed_.size() + kGrain - 1) / kGrain);
  arena.for_chunks(hashed_.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    std::vector<SurfaceContact>& found = found_[begin / kGrain];
    found.clear();
    std::vector<Index> near;
    for (std::size_t i = begin; i < end; ++i) {
      hash_.query(hashed_box_[i], near);
      const Index a = hashed_[i];
      for (const Index j : near) {
        const Index b = hashed_[j];  // hashed edges ascend: every pair once
        if (b <= a || !can_touch(surface_.edge_body[a], surface_.edge_body[b])) continue;
        const Edge &first = surface_.edges[a], &second = surface_.edges[b];
        SurfaceContact contact;
        contact.key = {PairKind::edge_edge, {first[0], first[1], second[0], second[1]}};
        contact.feature = {a, b};
        contact.body = {surface_.edge_body[a], surface_.edge_body[b]};
        if (is_contact(contact, motion)) found.push_back(contact);
      }
    }
  });
  contacts_.clear();
  for (const auto& found : found_) contacts_.insert(contacts_.end(), found.begin(), found.end());
  std::sort(contacts_.begin(), contacts_.end(),
            [](const SurfaceContact& a, const SurfaceContact& b) { return a.key < b.key; });
  return contacts_;
}

}  // namespace signorini
