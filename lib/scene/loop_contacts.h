#pragma once

#include <set>
#include <span>
#include <vector>

#include "collision/surface_contact.h"
#include "contact/friction_state.h"

/// Contacts as a loop of linearised solves carries them from one solve to the next.
namespace signorini {

struct LoopContact {
  SurfaceContact contact;                  ///< `gap`: n · Σ w x at the start of the step
  double target = 0.0;                     ///< distance to be kept at the end of the step, m
  double push = 0.0;                       ///< by which `target` exceeds the gap at the start, m; ≥ 0
  Vector3 impulse = Vector3::Zero();       ///< N·s, world; of the last solve, or a warm start
  Vector3 first_normal = Vector3::Zero();  ///< at its first linearisation in this step
  ContactEnd end;                          ///< of the last solve, or of the step before, as `impulse`
  bool stays = false;                      ///< it was taken away in this step and crossed again
};

/// Ascending by key; every key once.
class LoopContacts {
 public:
  /// Those of a step's first solve, in any order; nothing has been taken away yet.
  void start(std::vector<LoopContact> contacts);
  /// Takes over any order.
  void assign(std::vector<LoopContact> contacts);
  void note_taken_away(const PairKey& key) { taken_away_.insert(key); }
  /// Within the present step.
  bool was_taken_away(const PairKey& key) const { return taken_away_.contains(key); }
  /// Keys that are not in the set yet, in any order.
  void add(const std::vector<LoopContact>& contacts);
  const LoopContact* find(const PairKey& key) const;
  LoopContact* find(const PairKey& key);

  bool empty() const { return contacts_.empty(); }
  std::span<const LoopContact> all() const { return contacts_; }
  /// Keys must stay as they are.
  std::span<LoopContact> all() { return contacts_; }
  std::vector<SurfaceContact> surface_contacts() const;

 private:
  std::vector<LoopContact> contacts_;
  std::set<PairKey> taken_away_;
};

}  // namespace signorini
