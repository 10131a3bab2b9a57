#include "scene/loop_contacts.h"

#include <algorithm>
#include <utility>

namespace signorini {

void LoopContacts::start(std::vector<LoopContact> contacts) {
  taken_away_.clear();
  assign(std::move(contacts));
}

void LoopContacts::assign(std::vector<LoopContact> contacts) {
  contacts_ = std::move(contacts);
  const auto before = [](const LoopContact& a, const LoopContact& b) {
    return a.contact.key < b.contact.key;
  };
  if (!std::is_sorted(contacts_.begin(), contacts_.end(), before))  // mostly they are
    std::sort(contacts_.begin(), contacts_.end(), before);
}

void LoopContacts::add(const std::vector<LoopContact>& contacts) {
  if (contacts.empty()) return;
  std::vector<LoopContact> all = std::move(contacts_);
  all.insert(all.end(), contacts.begin(), contacts.end());
  assign(std::move(all));
}

const LoopContact* LoopContacts::find(const PairKey& key) const {
  const auto place =
      std::lower_bound(contacts_.begin(), contacts_.end(), key,
                       [](const LoopContact& c, const PairKey& k) { return c.contact.key < k; });
  return place != contacts_.end() && place->contact.key == key ? &*place : nullptr;
}

LoopContact* LoopContacts::find(const PairKey& key) {
  return const_cast<LoopContact*>(std::as_const(*this).find(key));
}

std::vector<SurfaceContact> LoopContacts::surface_contacts() const {
  std::vector<SurfaceContact> result;
  result.reserve(contacts_.size());
  for (const LoopContact& c : contacts_) result.push_back(c.contact);
  return result;
}

}  // namespace signorini
