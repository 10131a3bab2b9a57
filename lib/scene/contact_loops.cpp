#include "scene/contact_loops.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace signorini {

namespace {

constexpr std::size_t kContactGrain = 64;

LoopContact fresh_contact(const SubStep& sub, const ImplicitSettings& settings,
                          const SurfaceContact& contact) {
  return {contact, target_gap(settings, contact.gap, sub.dt), Vector3::Zero(), contact.normal};
}

bool is_active(const LoopContact& c) { return c.contact.normal.dot(c.impulse) > 0.0; }

/// Whether the contact's linearisation misses what the tentative positions ask for.
bool needs_update(const ImplicitSettings& settings, const StepSurfaces& surfaces, const LoopContact& c,
                  const std::optional<PairGeometry>& geometry) {
  const bool active = is_active(c);
  if (!geometry) return false;
  if (slid_off(c.contact.key.kind, geometry->weight)) return active;
  if (active && angle_between(c.contact.normal, geometry->normal) > settings.largest_turn) return true;
  if (settings.level == ConstraintLevel::velocity) return false;
  if (geometry->gap < c.target - settings.gap_tolerance) return true;
  if (!active) return false;
  SurfaceContact predicted = c.contact;
  update_gap(predicted, surfaces.end());
  return std::abs(geometry->gap - predicted.gap) > settings.gap_tolerance;
}

/// The contact's impulse goes to the face that its vertex slid to, which joins `kept` if it is not there.
void hand_over(const StepSurfaces& surfaces, const FaceNeighbours& neighbours, const LoopContact& from,
               std::vector<LoopContact>& kept) {
  if (from.contact.key.kind != PairKind::vertex_face) return;
  const auto neighbour = neighbours.find(from.contact, surfaces.start(), surfaces.end());
  if (!neighbour) return;
  for (LoopContact& c : kept) {
    if (c.contact.key != neighbour->key) continue;
    c.impulse += from.impulse;
    return;
  }
  kept.push_back({*neighbour, from.target, from.impulse, neighbour->normal});
}

}  // namespace

void start_contacts(const SubStep& sub, const ImplicitSettings& settings, const StepSurfaces& surfaces,
                    LoopContacts& contacts) {
  std::vector<LoopContact> touching;
  for (const SurfaceContact& contact : surfaces.found())
    touching.push_back(fresh_contact(sub, settings, contact));
  contacts.assign(std::move(touching));
  if (sub.warm.entries().empty()) return;
  const std::vector<SurfaceContact> pairs = contacts.surface_contacts();
  std::vector<Vector3> start(pairs.size());
  sub.warm.impulses(pairs, start);
  for (std::size_t k = 0; k < start.size(); ++k) contacts.all()[k].impulse = sub.scaled(start[k]);
}

void add_free_crossings(const SubStep& sub, const ImplicitSettings& settings, const StepSurfaces& surfaces,
                        LoopContacts& contacts) {
  std::vector<LoopContact> added;
  for (const SurfaceContact& contact : surfaces.found()) {
    if (contacts.find(contact.key) != nullptr) continue;
    added.push_back(fresh_contact(sub, settings, contact));
    if (sub.warm.knows(contact.key)) added.back().impulse = sub.scaled(sub.warm.find(contact)->impulse);
  }
  contacts.add(added);
}

bool refine(const SubStep& sub, const ImplicitSettings& settings, const StepSurfaces& surfaces,
            LoopContacts& contacts) {
  std::vector<LoopContact> added;
  for (const SurfaceContact& contact : surfaces.found()) {
    LoopContact fresh = fresh_contact(sub, settings, contact);
    if (LoopContact* c = contacts.find(contact.key)) {
      fresh.impulse = c->impulse;
      fresh.first_normal = c->first_normal;
      *c = fresh;
    } else {
      if (sub.warm.knows(contact.key)) fresh.impulse = sub.scaled(sub.warm.find(contact)->impulse);
      added.push_back(fresh);
    }
  }
  contacts.add(added);
  return !surfaces.found().empty();
}

bool relinearise_all(const SubStep& sub, const ImplicitSettings& settings, const StepSurfaces& surfaces,
                     const FaceNeighbours& neighbours, LoopContacts& contacts) {
  std::vector<std::optional<PairGeometry>> geometry(contacts.all().size());
  std::vector<unsigned char> marked(geometry.size());
  const auto for_contacts = [&](auto&& visit) {
    sub.arena.for_chunks(geometry.size(), kContactGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t k = begin; k < end; ++k) visit(k, contacts.all()[k]);
    });
  };
  for_contacts([&](std::size_t k, const LoopContact& c) {
    geometry[k] = surfaces.tentative_geometry(c.contact);
    marked[k] = needs_update(settings, surfaces, c, geometry[k]);
  });
  if (surfaces.found().empty() && std::find(marked.begin(), marked.end(), 1) == marked.end()) return false;
  for_contacts([&](std::size_t k, LoopContact& c) {
    marked[k] = geometry[k] && slid_off(c.contact.key.kind, geometry[k]->weight);
    if (geometry[k] && !marked[k])
      relinearise(c.contact, *geometry[k], settings.largest_turn, surfaces.start(), surfaces.end());
  });
  std::vector<LoopContact> kept, gone;
  kept.reserve(geometry.size());
  for (std::size_t k = 0; k < geometry.size(); ++k) (marked[k] ? gone : kept).push_back(contacts.all()[k]);
  for (const LoopContact& c : gone) {
    if (is_active(c)) hand_over(surfaces, neighbours, c, kept);
  }
  contacts.assign(std::move(kept));
  std::vector<LoopContact> added;
  for (const SurfaceContact& contact : surfaces.found()) {
    if (contacts.find(contact.key) == nullptr) added.push_back(fresh_contact(sub, settings, contact));
  }
  contacts.add(added);
  return true;
}

}  // namespace signorini
