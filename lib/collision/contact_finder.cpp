#include "collision/contact_finder.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "collision/continuous.h"
#include "collision/edge_faces.h"

namespace signorini {

namespace {

constexpr double kFarthest = 1e15;        // m, of a position
constexpr std::size_t kGrain = 1024;      // vertices per task
constexpr double kRoundingGap = 0.01;     // of δ: the outside of a closed body decides on the side
constexpr double kSamePoint = 1e-9;       // of the size of a face: two closest points are one
constexpr double kImpactMargin = 1e-9;    // of a feature's size: impacts that far outside of it count
constexpr double kNoDirection = 1e-12;    // square of the share of an edge that is only rounding
constexpr double kLargestFeature = 3.47;  // 2 √3: longest edge between points with coordinates of at most 1

using Corners = std::array<Vector3, 4>;

Corners corners(const PairKey& key, std::span<const Vector3> x) {
  return {x[key.vertex[0]], x[key.vertex[1]], x[key.vertex[2]], x[key.vertex[3]]};
}

/// Unit, across the normal: along the first edge of b at positions p that has a length in that direction.
Vector3 first_edge_of_b(const SurfaceContact& contact, const Corners& p) {
  const bool face = contact.key.kind == PairKind::vertex_face;
  const Vector3 first = face ? p[2] - p[1] : p[3] - p[2], second = face ? p[3] - p[1] : p[1] - p[0];
  const double least = kNoDirection * (first.squaredNorm() + second.squaredNorm());
  for (const Vector3& edge : {first, second}) {
    const Vector3 across = edge - contact.normal.dot(edge) * contact.normal;
    if (across.squaredNorm() > least) return across.normalized();
  }
  Index axis = 0;
  contact.normal.cwiseAbs().minCoeff(&axis);
  return contact.normal.cross(Vector3::Unit(axis)).normalized();
}

/// Share of the vertices of feature b: −weight, for both kinds at 2 and 3, for faces at 1 as well.
double smallest_share(const SurfaceContact& contact) {
  return -std::max({contact.weight[1], contact.weight[2], contact.weight[3]});
}

}  // namespace

struct ContactFinder::Impl {
  Impl(const SurfaceModel& model, const FinderSettings& finder_settings);

  const SurfaceModel& surface;
  FinderSettings settings;
  CandidatePairs pairs;
  std::vector<std::array<Index, 2>> edge_faces;  // −1 where there is none

  std::vector<FloatBox> vertex_box, face_box, edge_box;  // that the pairs are tested with
  std::vector<double> reach;                             // per task: largest |coordinate|, infinite with NaN
  std::vector<std::vector<SurfaceContact>> found;        // per part
  std::vector<std::array<Index, 2>> order;               // part, place
  Index parts = 0;

  double largest_coordinate(TaskArena& arena, std::span<const Vector3> x, const char* what);
  template <class Box>
  void set_boxes(TaskArena& arena, const Box& box);
  template <class Narrow>
  void test_pairs(TaskArena& arena, const Narrow& narrow);
  void collect(std::vector<SurfaceContact>& contacts);
  void drop_repeated(std::span<const Vector3> x, std::vector<SurfaceContact>& contacts) const;

  PairKey key(PairKind kind, Index a, Index b) const;
  std::array<Index, 2> bodies(PairKind kind, Index a, Index b) const;
  Vector3 face_normal(Index face, std::span<const Vector3> x) const;
  bool faces_vertex(SurfaceContact& contact, Index face, std::span<const Vector3> x) const;
  Vector3 outside_of_edges(Index a, Index b, std::span<const Vector3> x, const Vector3& direction,
                           bool& inside) const;
  bool edges_face_each_other(SurfaceContact& contact, Index a, Index b, std::span<const Vector3> x) const;
  std::optional<Impact> impact(const SurfaceContact& contact, Index a, Index b, std::span<const Vector3> x0,
                               const Corners& p, const Corners& d) const;
};

ContactFinder::Impl::Impl(const SurfaceModel& model, const FinderSettings& finder_settings)
    : surface(model),
      settings(finder_settings),
      pairs(model, finder_settings.broad_phase),
      edge_faces(faces_of_edges(model)) {
  if (!(settings.tolerance > 0.0) || !std::isfinite(settings.tolerance))
    throw_usage("tolerance: {} is not a positive length in m", settings.tolerance);
  if (!(settings.look_ahead >= 0.0) || !std::isfinite(settings.look_ahead))
    throw_usage("look_ahead: {} is not a number ≥ 0", settings.look_ahead);
  vertex_box.resize(model.vertices());
  face_box.resize(model.triangles.size());
  edge_box.resize(model.edges.size());
  reach.resize((vertex_box.size() + kGrain - 1) / kGrain);
}

/// Throws `InputError` for the first value that is not finite or too far away.
double ContactFinder::Impl::largest_coordinate(TaskArena& arena, std::span<const Vector3> x,
                                               const char* what) {
  SIGNORINI_CHECK(x.size() == vertex_box.size());
  arena.for_chunks(x.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    double largest = 0.0;
    bool fine = true;  // NaN fails every comparison
    for (std::size_t i = begin; i < end; ++i) {
      const double size = x[i].cwiseAbs().maxCoeff();
      fine = fine && x[i].allFinite();
      largest = std::max(largest, size);
    }
    if (!fine) largest = std::numeric_limits<double>::infinity();
    reach[begin / kGrain] = largest;
  });
  double largest = 0.0;
  for (std::size_t c = 0; c < reach.size(); ++c) {
    largest = std::max(largest, reach[c]);
    if (reach[c] <= kFarthest) continue;
    for (std::size_t i = c * kGrain; i < x.size(); ++i) {
      if (x[i].cwiseAbs().maxCoeff() <= kFarthest && x[i].allFinite()) continue;
      const Index body = surface.vertex_body[i];
      throw_input(
          "{} of surface vertex {} (body {}) is ({}, {}, {}): not a finite number within 1e15; the "
          "motion has diverged, use a smaller dt",
          what, i, body, x[i][0], x[i][1], x[i][2]);
    }
  }
  return largest;
}

template <class Box>
void ContactFinder::Impl::set_boxes(TaskArena& arena, const Box& box) {
  arena.for_chunks(vertex_box.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) vertex_box[i] = box(i);
  });
}

PairKey ContactFinder::Impl::key(PairKind kind, Index a, Index b) const {
  if (kind == PairKind::vertex_face) {
    const Triangle& t = surface.triangles[b];
    return {kind, {a, t[0], t[1], t[2]}};
  }
  const Edge &first = surface.edges[a], &second = surface.edges[b];
  return {kind, {first[0], first[1], second[0], second[1]}};
}

std::array<Index, 2> ContactFinder::Impl::bodies(PairKind kind, Index a, Index b) const {
  if (kind == PairKind::vertex_face) return {surface.vertex_body[a], surface.triangle_body[b]};
  return {surface.edge_body[a], surface.edge_body[b]};
}

/// Calls narrow(contact, a, b), the contact's key set, for every pair whose test boxes overlap; it returns
/// whether the pair is one and sets everything but the bodies then.
template <class Narrow>
void ContactFinder::Impl::test_pairs(TaskArena& arena, const Narrow& narrow) {
  pairs.extend(arena, vertex_box);
  unite_boxes(arena, surface, vertex_box, face_box, edge_box);
  const auto vertex_parts = pairs.vertex_face(), edge_parts = pairs.edge_edge();
  parts = count(vertex_parts) + count(edge_parts);
  if (count(found) < parts) found.resize(parts);
  arena.for_each_task(parts, [&](std::size_t part) {
    const bool edges = part >= vertex_parts.size();
    const PairRuns& runs = edges ? edge_parts[part - vertex_parts.size()] : vertex_parts[part];
    const std::vector<FloatBox>& first_box = edges ? edge_box : vertex_box;
    const std::vector<FloatBox>& second_box = edges ? edge_box : face_box;
    const PairKind kind = edges ? PairKind::edge_edge : PairKind::vertex_face;
    std::vector<SurfaceContact>& contacts = found[part];
    contacts.clear();
    if (edges && !settings.edges) return;
    SurfaceContact contact;
    std::size_t begin = 0;
    for (std::size_t run = 0; run < runs.feature.size(); ++run) {
      const Index a = runs.feature[run];
      const FloatBox box = first_box[a];
      const std::size_t end = runs.end[run];
      for (std::size_t i = begin; i < end; ++i) {
        const Index b = runs.partner[i];
        if (!overlap(box, second_box[b])) continue;
        const Index low = edges ? std::min(a, b) : a, high = edges ? std::max(a, b) : b;
        contact.key = key(kind, low, high);
        contact.feature = {low, high};
        if (!narrow(contact, low, high)) continue;
        contact.body = bodies(kind, low, high);
        contacts.push_back(contact);
      }
      begin = end;
    }
  });
}

/// The contacts of all parts, ascending by key.
void ContactFinder::Impl::collect(std::vector<SurfaceContact>& contacts) {
  order.clear();
  for (Index part = 0; part < parts; ++part) {
    for (Index i = 0; i < count(found[part]); ++i) order.push_back({part, i});
  }
  const auto contact = [this](const std::array<Index, 2>& place) -> const SurfaceContact& {
    return found[place[0]][place[1]];
  };
  std::sort(order.begin(), order.end(),
            [&](const auto& a, const auto& b) { return contact(a).key < contact(b).key; });
  contacts.clear();
  for (const auto& place : order) contacts.push_back(contact(place));
}

Vector3 ContactFinder::Impl::face_normal(Index face, std::span<const Vector3> x) const {
  const Triangle& t = surface.triangles[face];
  return (x[t[1]] - x[t[0]]).cross(x[t[2]] - x[t[0]]).normalized();
}

/// False for a vertex behind a face of a closed body.
bool ContactFinder::Impl::faces_vertex(SurfaceContact& contact, Index face,
                                       std::span<const Vector3> x) const {
  if (!surface.bodies[surface.triangle_body[face]].closed || contact.normal.dot(face_normal(face, x)) >= 0.0)
    return true;
  if (contact.gap > kRoundingGap * settings.tolerance) return false;
  contact.normal = -contact.normal;
  contact.gap = -contact.gap;
  return true;
}

/// What the faces of closed bodies say about the side of edge a: outward normals of b's faces minus those of
/// a's. `inside`: along `direction` (from b to a) one of the edges is seen through its own body.
Vector3 ContactFinder::Impl::outside_of_edges(Index a, Index b, std::span<const Vector3> x,
                                              const Vector3& direction, bool& inside) const {
  Vector3 outside = Vector3::Zero();
  inside = false;
  for (const auto& [edge, sign] : {std::pair{b, 1.0}, std::pair{a, -1.0}}) {
    const auto& faces = edge_faces[edge];
    if (faces[1] < 0 || !surface.bodies[surface.edge_body[edge]].closed) continue;
    const Vector3 first = sign * face_normal(faces[0], x), second = sign * face_normal(faces[1], x);
    outside += first + second;
    inside = inside || (direction.dot(first) < 0.0 && direction.dot(second) < 0.0);
  }
  return outside;
}

/// False for edges that see each other through the inside of a closed body.
bool ContactFinder::Impl::edges_face_each_other(SurfaceContact& contact, Index a, Index b,
                                                std::span<const Vector3> x) const {
  bool inside = false;
  const Vector3 outside = outside_of_edges(a, b, x, contact.normal, inside);
  if (contact.gap > kRoundingGap * settings.tolerance) return !inside;
  if (outside.dot(contact.normal) < 0.0) {
    contact.normal = -contact.normal;
    contact.gap = -contact.gap;
  }
  return true;
}

std::optional<Impact> ContactFinder::Impl::impact(const SurfaceContact& contact, Index a, Index b,
                                                  std::span<const Vector3> x0, const Corners& p,
                                                  const Corners& d) const {
  if (contact.key.kind == PairKind::vertex_face) return vertex_face_impact(p, d);
  const auto without = edge_edge_impact(p, d);
  if (!without) return without;
  // The outside matters to edges that touch from the start; it can only take an impact away or turn it.
  bool inside = false;
  const Vector3 outside = outside_of_edges(a, b, x0, Vector3::Zero(), inside);
  return outside.isZero() ? without : edge_edge_impact(p, d, outside);
}

/// Drops vertex–face pairs at the point of an earlier one of the same vertex.
void ContactFinder::Impl::drop_repeated(std::span<const Vector3> x,
                                        std::vector<SurfaceContact>& contacts) const {
  const auto same_point = [&](const SurfaceContact& a, const SurfaceContact& b) {
    if (a.body != b.body || a.normal.dot(b.normal) <= 0.0) return false;
    const auto of_a = std::span(a.key.vertex).subspan(1);
    const bool neighbours = std::any_of(of_a.begin(), of_a.end(), [&](Index v) {
      return std::find(b.key.vertex.begin() + 1, b.key.vertex.end(), v) != b.key.vertex.end();
    });
    if (!neighbours) return false;
    const Corners p = corners(a.key, x);
    const double size = (p[2] - p[1]).norm() + (p[3] - p[1]).norm();
    return (a.position - b.position).norm() <= kSamePoint * size &&
           (a.normal - b.normal).norm() <= kSamePoint;
  };
  std::size_t kept = 0, first = 0;  // first kept pair of the present vertex
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const SurfaceContact& contact = contacts[i];
    if (contact.key.kind == PairKind::vertex_face) {
      if (first < kept && contacts[first].key.vertex[0] != contact.key.vertex[0]) first = kept;
      const bool repeated =
          smallest_share(contact) <= 2.0 * kSamePoint &&
          std::any_of(contacts.begin() + first, contacts.begin() + kept, [&](const SurfaceContact& other) {
            return smallest_share(other) <= 2.0 * kSamePoint && same_point(contact, other);
          });
      if (repeated) continue;
    }
    if (kept != i) contacts[kept] = contact;
    ++kept;
  }
  contacts.resize(kept);
}

ContactFinder::ContactFinder(const SurfaceModel& surface, const FinderSettings& settings)
    : impl_(std::make_unique<Impl>(surface, settings)) {}
ContactFinder::~ContactFinder() = default;
ContactFinder::ContactFinder(ContactFinder&&) noexcept = default;

const FinderSettings& ContactFinder::settings() const { return impl_->settings; }

void ContactFinder::update_candidates(TaskArena& arena, std::span<const Vector3> x,
                                      std::span<const Vector3> v, double dt) {
  Impl& in = *impl_;
  in.largest_coordinate(arena, x, "position");
  in.largest_coordinate(arena, v, "velocity");
  SIGNORINI_CHECK(dt >= 0.0);
  const auto box = [&](std::size_t i, double time, double share_of_tolerance) {
    const Vector3 margin = Vector3::Constant(share_of_tolerance * in.settings.tolerance);
    const Vector3 ahead = x[i] + time * v[i];
    return float_box(x[i].cwiseMin(ahead) - margin, x[i].cwiseMax(ahead) + margin);
  };
  const auto whole_box = [&](std::size_t i) { return box(i, in.settings.look_ahead * dt, 1.0); };
  if (!in.settings.keep_candidates || !in.pairs.found()) {
    in.set_boxes(arena, whole_box);
    in.pairs.find(arena, in.vertex_box);
    return;
  }
  const auto present = in.pairs.vertex_boxes();
  in.set_boxes(arena, [&](std::size_t i) {
    const FloatBox needed = box(i, std::min(in.settings.look_ahead, 1.0) * dt, 0.5);
    return contains(present[i], needed) ? FloatBox{} : whole_box(i);  // every box holds an empty one
  });
  if (in.pairs.fits(in.vertex_box)) {
    in.pairs.extend(arena, in.vertex_box);
  } else {
    in.set_boxes(arena, whole_box);
    in.pairs.find(arena, in.vertex_box);
  }
}

CandidateCounts ContactFinder::candidates() const {
  CandidateCounts counts;
  for (const PairRuns& runs : impl_->pairs.vertex_face())
    counts.vertex_face += static_cast<long long>(runs.partner.size());
  for (const PairRuns& runs : impl_->pairs.edge_edge())
    counts.edge_edge += static_cast<long long>(runs.partner.size());
  return counts;
}

void ContactFinder::proximity(TaskArena& arena, std::span<const Vector3> x,
                              std::vector<SurfaceContact>& contacts) {
  Impl& in = *impl_;
  in.largest_coordinate(arena, x, "position");
  // Points closer than δ lie in boxes grown by δ/2 each.
  const Vector3 margin = Vector3::Constant(0.5 * in.settings.tolerance);
  in.set_boxes(arena, [&](std::size_t i) { return float_box(x[i] - margin, x[i] + margin); });
  in.test_pairs(arena, [&](SurfaceContact& contact, Index a, Index b) {
    const bool face = contact.key.kind == PairKind::vertex_face;
    const Corners p = corners(contact.key, x);
    const auto near = face ? vertex_face_proximity(p) : edge_edge_proximity(p);
    if (!near || !(near->gap < in.settings.tolerance)) return false;
    contact.weight = near->weight;
    contact.normal = near->normal;
    contact.gap = near->gap;
    if (face ? !in.faces_vertex(contact, b, x) : !in.edges_face_each_other(contact, a, b, x)) return false;
    contact.tangent = first_edge_of_b(contact, p);
    update_gap(contact, x);
    return true;
  });
  in.collect(contacts);
  in.drop_repeated(x, contacts);
}

void ContactFinder::crossings(TaskArena& arena, std::span<const Vector3> x0, std::span<const Vector3> x1,
                              std::span<const PairKey> known, std::vector<SurfaceContact>& contacts) {
  Impl& in = *impl_;
  const double reach = std::max(in.largest_coordinate(arena, x0, "position"),
                                in.largest_coordinate(arena, x1, "tentative position"));
  const Vector3 margin = Vector3::Constant(kImpactMargin * kLargestFeature * reach);
  in.set_boxes(arena, [&](std::size_t i) {
    return float_box(x0[i].cwiseMin(x1[i]) - margin, x0[i].cwiseMax(x1[i]) + margin);
  });
  in.test_pairs(arena, [&](SurfaceContact& contact, Index a, Index b) {
    const Corners p = corners(contact.key, x0), q = corners(contact.key, x1);
    const Corners d{q[0] - p[0], q[1] - p[1], q[2] - p[2], q[3] - p[3]};
    const auto impact = in.impact(contact, a, b, x0, p, d);
    if (!impact || std::binary_search(known.begin(), known.end(), contact.key)) return false;
    contact.weight = impact->weight;
    contact.normal = impact->normal;
    contact.impact_time = impact->time;
    Corners then;
    for (std::size_t i = 0; i < 4; ++i) then[i] = p[i] + impact->time * d[i];
    contact.tangent = first_edge_of_b(contact, then);
    update_gap(contact, x0);
    return true;
  });
  in.collect(contacts);
}

}  // namespace signorini
