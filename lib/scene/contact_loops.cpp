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
  const double target = target_gap(settings, contact.gap, sub.dt);
  return {contact, target, push_of(contact.gap, target), Vector3::Zero(), contact.normal, {}};
}

/// A known contact that crosses all the same, linearised anew at its impact.
LoopContact at_impact(const SubStep& sub, const ImplicitSettings& settings, const SurfaceContact& crossing,
                      const LoopContact& known) {
  LoopContact fresh = fresh_contact(sub, settings, crossing);
  fresh.impulse = known.impulse;
  fresh.end = known.end;
  fresh.first_normal = known.first_normal;
  fresh.stays = known.stays;
  return fresh;
}

bool is_active(const LoopContact& c) { return c.contact.normal.dot(c.impulse) > 0.0; }

/// Whether the contact's linearisation misses what the tentative positions ask for. One that stays is asked for nothing
/// as long as it does not cross.
bool needs_update(const ImplicitSettings& settings, const StepSurfaces& surfaces, const LoopContact& c,
                  const std::optional<PairGeometry>& geometry) {
  const bool active = is_active(c);
  if (!geometry || c.stays) return false;
  if (slid_off(c.contact.key.kind, geometry->weight)) return active;
  if (active && angle_between(c.contact.normal, geometry->normal) > settings.largest_turn) return true;
  if (settings.level == ConstraintLevel::velocity) return false;
  if (geometry->gap < c.target - settings.gap_tolerance) return true;
  if (!active) return false;
  SurfaceContact predicted = c.contact;
  update_gap(predicted, surfaces.end());
  return std::abs(geometry->gap - predicted.gap) > settings.gap_tolerance;
}

/// Whether a contact that stays, linearised before others changed, ends below zero all the same.
bool ends_closed(const LoopContact& c, const std::optional<PairGeometry>& geometry) {
  return c.stays && geometry && !slid_off(c.contact.key.kind, geometry->weight) &&
         gap_at_end(c.contact.normal, *geometry) < 0.0;
}

/// A contact that did not keep `kept` well enough: it shall keep more, doubled from round to round.
void keep_more(const ImplicitSettings& settings, double kept, LoopContact& c) {
  const double target = std::max(c.target, kept) + std::max(settings.gap_tolerance, std::abs(kept));
  c.push += target - c.target;
  c.target = target;
}

/// A known contact that crosses on the way. Two edges that have passed each other may not touch at the tentative
/// positions: they are linearised at their impact, as are those that stay. Where they are apart there all the same, the
/// gap dips below zero on a path that turns the normal: the contact keeps more distance.
void mend_crossing(const SubStep& sub, const ImplicitSettings& settings, const StepSurfaces& surfaces,
                   const SurfaceContact& crossing, LoopContact& c) {
  const std::optional<PairGeometry> geometry = surfaces.tentative_geometry(c.contact);
  const double kept = c.target;
  if (!geometry || c.stays) c = at_impact(sub, settings, crossing, c);
  if (c.stays || (geometry && geometry->gap >= kept - settings.gap_tolerance)) keep_more(settings, kept, c);
}

/// Impulse, state and bound of the step before, for a step of another length.
void start_from(const SubStep& sub, const WarmStart::Entry& kept, LoopContact& c) {
  c.impulse = sub.scaled(kept.impulse);
  c.end = {kept.end.state, sub.dt / sub.warm_dt * kept.end.bound};
}

/// The same as `start_from` where the pair itself is known.
void start_known(const SubStep& sub, LoopContact& c) {
  if (sub.warm.knows(c.contact.key)) start_from(sub, *sub.warm.find(c.contact), c);
}

/// `c` takes over what `from` carried. Two closed contacts in one: the state is that of `c`.
void join(const LoopContact& from, LoopContact& c) {
  c.impulse += from.impulse;
  if (c.end.state < FrictionState::sticking) c.end.state = from.end.state;
  c.end.bound += from.end.bound;
}

/// The contact's impulse goes to the face that its vertex slid to, which joins `kept` if it is not there.
void hand_over(const StepSurfaces& surfaces, const FaceNeighbours& neighbours, const LoopContact& from,
               std::vector<LoopContact>& kept) {
  if (from.contact.key.kind != PairKind::vertex_face) return;
  const auto neighbour = neighbours.find(from.contact, surfaces.start(), surfaces.end());
  if (!neighbour) return;
  for (LoopContact& c : kept) {
    if (c.contact.key != neighbour->key) continue;
    join(from, c);
    return;
  }
  kept.push_back({*neighbour, from.target, from.push, from.impulse, neighbour->normal, from.end});
}

}  // namespace

void start_contacts(const SubStep& sub, const ImplicitSettings& settings, const StepSurfaces& surfaces,
                    LoopContacts& contacts) {
  std::vector<LoopContact> touching;
  for (const SurfaceContact& contact : surfaces.found())
    touching.push_back(fresh_contact(sub, settings, contact));
  contacts.start(std::move(touching));
  if (sub.warm.entries().empty()) return;
  const std::vector<const WarmStart::Entry*> kept = sub.warm.match(contacts.surface_contacts());
  for (std::size_t k = 0; k < kept.size(); ++k) {
    if (kept[k]) start_from(sub, *kept[k], contacts.all()[k]);
  }
}

void add_free_crossings(const SubStep& sub, const ImplicitSettings& settings, const StepSurfaces& surfaces,
                        LoopContacts& contacts) {
  std::vector<LoopContact> added;
  for (const SurfaceContact& contact : surfaces.found()) {
    if (contacts.find(contact.key) != nullptr) continue;
    added.push_back(fresh_contact(sub, settings, contact));
    start_known(sub, added.back());
  }
  contacts.add(added);
}

bool refine(const SubStep& sub, const ImplicitSettings& settings, const StepSurfaces& surfaces,
            LoopContacts& contacts) {
  std::vector<LoopContact> added;
  for (const SurfaceContact& contact : surfaces.found()) {
    if (LoopContact* c = contacts.find(contact.key)) {
      *c = at_impact(sub, settings, contact, *c);
    } else {
      added.push_back(fresh_contact(sub, settings, contact));
      start_known(sub, added.back());
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
  const auto any_marked = [&] { return std::find(marked.begin(), marked.end(), 1) != marked.end(); };
  if (surfaces.found().empty() && !any_marked()) {
    for_contacts([&](std::size_t k, LoopContact& c) {
      marked[k] = ends_closed(c, geometry[k]);
      if (marked[k]) keep_more(settings, c.target, c);
    });
    return any_marked();
  }
  for_contacts([&](std::size_t k, LoopContact& c) {
    const bool follows = geometry[k] && !c.stays;
    marked[k] = follows && slid_off(c.contact.key.kind, geometry[k]->weight);
    if (follows && !marked[k])
      relinearise(c.contact, *geometry[k], settings.largest_turn, surfaces.start(), surfaces.end());
  });
  std::vector<LoopContact> kept, gone;
  kept.reserve(geometry.size());
  for (std::size_t k = 0; k < geometry.size(); ++k) (marked[k] ? gone : kept).push_back(contacts.all()[k]);
  for (const LoopContact& c : gone) {
    contacts.note_taken_away(c.contact.key);
    if (is_active(c)) hand_over(surfaces, neighbours, c, kept);
  }
  contacts.assign(std::move(kept));
  std::vector<LoopContact> added;
  for (const SurfaceContact& contact : surfaces.found()) {
    if (LoopContact* c = contacts.find(contact.key)) {
      mend_crossing(sub, settings, surfaces, contact, *c);
    } else {
      added.push_back(fresh_contact(sub, settings, contact));
      added.back().stays = contacts.was_taken_away(contact.key);
    }
  }
  contacts.add(added);
  return true;
}

}  // namespace signorini
