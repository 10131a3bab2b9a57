#include "scene/step_surfaces.h"

#include <utility>

#include "base/clock.h"

namespace signorini {

namespace {

constexpr std::size_t kNodeGrain = 2048;
constexpr std::size_t kContactGrain = 64;
/// Impacts before this share of the step are between surfaces that touch at its start.
constexpr double kAtStart = 1e-12;

}  // namespace

StepSurfaces::StepSurfaces(const BodySystem& system, ContactFinder finder)
    : system_(system), finder_(std::move(finder)), cones_(system.surface()) {
  for (auto* v : {&x0_, &x1_, &velocity_}) v->resize(system.surface().vertices());
}

void StepSurfaces::begin(SubStep& sub, std::span<const Vector3> velocity) {
  const Stopwatch detection;
  next_ = sub.state;
  system_.advance(next_, velocity, sub.dt);
  system_.surface_positions(sub.arena, sub.state, x0_);
  system_.surface_positions(sub.arena, next_, x1_);
  sub.arena.for_chunks(x0_.size(), kNodeGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) velocity_[i] = (x1_[i] - x0_[i]) / sub.dt;
  });
  finder_.update_candidates(sub.arena, x0_, velocity_, sub.dt);
  sub.report.detection_seconds += detection.seconds();
}

void StepSurfaces::find_touching(SubStep& sub) {
  const Stopwatch detection;
  finder_.proximity(sub.arena, x0_, found_);
  std::vector<unsigned char> touches(found_.size());
  sub.arena.for_chunks(found_.size(), kContactGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k)
      touches[k] = is_movable(system_, sub.state, found_[k]) && cones_.contain(found_[k], x0_);
  });
  std::size_t kept = 0;
  for (std::size_t k = 0; k < found_.size(); ++k) {
    if (touches[k]) found_[kept++] = found_[k];
  }
  found_.resize(kept);
  sub.report.detection_seconds += detection.seconds();
}

void StepSurfaces::find_crossings(SubStep& sub, std::span<const Vector3> velocity) {
  const Stopwatch detection;
  next_ = sub.state;
  system_.advance(next_, velocity, sub.dt);
  system_.surface_positions(sub.arena, next_, x1_);
  finder_.crossings(sub.arena, x0_, x1_, {}, found_);
  std::erase_if(found_, [&](const SurfaceContact& contact) {
    return !is_movable(system_, sub.state, contact) || separates(contact);
  });
  clamp_normals();
  sub.report.detection_seconds += detection.seconds();
}

std::optional<PairGeometry> StepSurfaces::tentative_geometry(const SurfaceContact& contact) const {
  auto geometry = pair_geometry(contact, x1_);
  if (geometry && !cones_.contain(contact, geometry->normal, x1_)) return {};
  return geometry;
}

bool StepSurfaces::separates(const SurfaceContact& contact) const {
  if (contact.impact_time > kAtStart) return false;
  SurfaceContact later = contact;
  update_gap(later, x1_);
  return later.gap > contact.gap;
}

void StepSurfaces::clamp_normals() {
  for (SurfaceContact& contact : found_) {
    SurfaceContact clamped = contact;
    clamped.normal = cones_.clamped_normal(contact, x0_, x1_);
    if (clamped.normal == contact.normal) continue;
    update_gap(clamped, x0_);
    clamped.position = contact.position;
    if (clamped.gap > 0.0) contact = clamped;
  }
}

}  // namespace signorini
