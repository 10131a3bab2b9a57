#include "regions/incremental_partition.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/check.h"

namespace signorini {

namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// Positions by ascending key; empty where the keys ascend themselves. Nearly sorted keys take linear time.
void order_by_key(std::span<const std::uint64_t> keys, std::vector<Index>& order) {
  order.clear();
  if (std::is_sorted(keys.begin(), keys.end())) return;
  order.resize(keys.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::size_t moves = 4 * keys.size();
  for (std::size_t i = 1; i < order.size(); ++i) {
    const Index contact = order[i];
    std::size_t place = i;
    for (; place > 0 && keys[at(order[place - 1])] > keys[at(contact)] && moves > 0; --place, --moves)
      order[place] = order[place - 1];
    order[place] = contact;
    if (moves > 0) continue;
    std::sort(order.begin(), order.end(), [&](Index a, Index b) { return keys[at(a)] < keys[at(b)]; });
    return;
  }
}

bool same_elements(std::span<const Index> a, std::span<const Index> b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

}  // namespace

Index IncrementalPartition::find(Index element) {
  while (parent_[at(element)] != element) {
    parent_[at(element)] = parent_[at(parent_[at(element)])];
    element = parent_[at(element)];
  }
  return element;
}

/// Returns how many sets it joined to another.
Index IncrementalPartition::unite(std::span<const Index> elements) {
  if (elements.empty()) return 0;
  Index joined = 0;
  Index root = find(elements[0]);
  for (const Index element : elements.subspan(1)) {
    Index other = find(element);
    if (other == root) continue;
    if (size_[at(root)] < size_[at(other)]) std::swap(root, other);
    parent_[at(other)] = root;
    size_[at(root)] += size_[at(other)];
    ++joined;
  }
  return joined;
}

void IncrementalPartition::forget() {
  const RegionMode mode = partition_.mode;
  *this = IncrementalPartition(mode);
}

void IncrementalPartition::refuse_repeated(std::span<const std::uint64_t> keys) {
  const auto key = [&](std::size_t i) { return new_order_.empty() ? keys[i] : keys[at(new_order_[i])]; };
  for (std::size_t i = 1; i < keys.size(); ++i) {
    if (key(i) != key(i - 1)) continue;
    const std::uint64_t repeated = key(i);
    forget();
    throw_usage("incremental regions: key {:#x} names two contacts of one frame", repeated);
  }
}

/// Merges the two ascending lists of keys: fills old_of_, new_of_, added_ and removed_.
void IncrementalPartition::match(std::span<const std::uint64_t> keys, const ContactElements& elements) {
  order_by_key(keys, new_order_);
  refuse_repeated(keys);
  const std::size_t m = keys.size(), n = keys_.size();
  old_of_.resize(m);
  new_of_.resize(n);
  added_.clear();
  removed_.clear();
  const auto add = [&](std::size_t i) {
    old_of_[i] = -1;
    added_.push_back(static_cast<Index>(i));
  };
  const auto remove = [&](std::size_t j) {
    new_of_[j] = -1;
    removed_.push_back(static_cast<Index>(j));
  };
  const auto new_at = [&](std::size_t i) { return new_order_.empty() ? i : at(new_order_[i]); };
  const auto old_at = [&](std::size_t j) { return order_.empty() ? j : at(order_[j]); };
  std::size_t a = 0, b = 0;
  while (a < m && b < n) {
    const std::size_t i = new_at(a), j = old_at(b);
    if (keys[i] == keys_[j]) {
      ++a;
      ++b;
      if (same_elements(elements.of(static_cast<Index>(i)), elements_.of(static_cast<Index>(j)))) {
        old_of_[i] = static_cast<Index>(j);
        new_of_[j] = static_cast<Index>(i);
        continue;
      }
      add(i);
      remove(j);
    } else if (keys[i] < keys_[j]) {
      add(i);
      ++a;
    } else {
      remove(j);
      ++b;
    }
  }
  for (; a < m; ++a) add(new_at(a));
  for (; b < n; ++b) remove(old_at(b));
  churn_.added = static_cast<Index>(added_.size());
  churn_.removed = static_cast<Index>(removed_.size());
  churn_.kept = static_cast<Index>(m) - churn_.added;
}

void IncrementalPartition::drop_removed() {
  lost_.assign(at(partition_.regions()), 0);
  torn_.assign(at(partition_.regions()), 0);
  for (const Index k : removed_) {
    const std::size_t region = at(partition_.label[at(k)]);
    ++lost_[region];
    if (joins_[at(k)] != 0) torn_[region] = 1;
    for (const Index element : elements_.of(k)) --degree_[at(element)];
  }
  for (Index region = 0; region < partition_.regions(); ++region) {
    if (torn_[at(region)] == 0) continue;
    ++churn_.torn;
    reunite(region);
  }
}

/// The forest of a torn region again. Every element of a region of two elements or more lies in a contact
/// that joins.
void IncrementalPartition::reunite(Index region) {
  const auto contacts = partition_.region(region);
  for (const Index k : contacts) {
    if (joins_[at(k)] == 0) continue;
    for (const Index element : elements_.of(k)) parent_[at(element)] = -1;
  }
  Index sets = 0;  // of elements that a contact still holds
  for (const Index k : contacts) {
    if (joins_[at(k)] == 0) continue;
    for (const Index element : elements_.of(k)) {
      if (parent_[at(element)] >= 0) continue;
      parent_[at(element)] = element;
      size_[at(element)] = 1;
      sets += degree_[at(element)] > 0 ? 1 : 0;
    }
  }
  for (const bool joined_before : {true, false}) {
    for (const Index k : contacts) {
      if (!joined_before && sets <= 1) break;
      if (new_of_[at(k)] < 0 || (joins_[at(k)] != 0) != joined_before) continue;
      const Index joined = unite(elements_.of(k));
      sets -= joined;
      // a contact that joined before keeps its mark: more marks than needed do no harm
      if (joined > 0) joins_[at(k)] = 1;
      ++churn_.reunited;
    }
  }
}

void IncrementalPartition::unite_added(const ContactElements& elements) {
  new_joins_.resize(old_of_.size());
  for (std::size_t i = 0; i < old_of_.size(); ++i)
    new_joins_[i] = old_of_[i] >= 0 ? joins_[at(old_of_[i])] : 0;
  for (const Index i : added_) {
    const auto own = elements.of(i);
    for (const Index element : own) {
      SIGNORINI_CHECK(element >= 0);
      for (Index next = static_cast<Index>(parent_.size()); next <= element; ++next) {
        parent_.push_back(next);
        size_.push_back(1);
        degree_.push_back(0);
        label_of_root_.push_back(-1);
      }
      ++degree_[at(element)];
    }
    new_joins_[at(i)] = unite(own) > 0 ? 1 : 0;
  }
}

Index IncrementalPartition::number_of(std::span<const Index> elements, Index& regions) {
  if (elements.empty()) return regions++;
  const Index root = find(elements[0]);
  Index& number = label_of_root_[at(root)];
  if (number < 0) {
    number = regions++;
    roots_.push_back(root);
  }
  return number;
}

/// Labels by the smallest contact; returns the number of regions.
Index IncrementalPartition::label_contacts(const ContactElements& elements) {
  Index regions = 0;
  heir_label_.assign(at(old_.regions()), -1);
  roots_.clear();
  partition_.label.resize(old_of_.size());
  for (std::size_t i = 0; i < old_of_.size(); ++i) {
    const auto own = elements.of(static_cast<Index>(i));
    const std::size_t from = old_of_[i] < 0 ? 0 : at(old_.label[at(old_of_[i])]);
    if (old_of_[i] < 0 || torn_[from] != 0) {
      partition_.label[i] = number_of(own, regions);
      continue;
    }
    Index& heir = heir_label_[from];
    if (heir < 0) heir = number_of(own, regions);
    partition_.label[i] = heir;
  }
  for (const Index root : roots_) label_of_root_[at(root)] = -1;
  return regions;
}

void IncrementalPartition::collect_gifts() {
  gifts_.clear();
  gift_of_.assign(at(partition_.regions()), -1);
  for (Index from = 0; from < old_.regions(); ++from) {
    const auto contacts = old_.region(from);
    if (torn_[at(from)] == 0) {
      const Index survivors = static_cast<Index>(contacts.size()) - lost_[at(from)];
      if (survivors > 0) gifts_.push_back({from, heir_label_[at(from)], survivors});
      continue;
    }
    const auto first = static_cast<Index>(gifts_.size());
    for (const Index k : contacts) {
      if (new_of_[at(k)] < 0) continue;
      const Index to = partition_.label[at(new_of_[at(k)])];
      Index& gift = gift_of_[at(to)];
      if (gift < first) {
        gift = static_cast<Index>(gifts_.size());
        gifts_.push_back({from, to, 0});
      }
      ++gifts_[at(gift)].count;
    }
  }
}

void IncrementalPartition::name_regions() {
  collect_gifts();
  // Every region wants the name of its largest giver (ties: the smaller name) …
  const auto regions = at(partition_.regions());
  givers_.assign(regions, 0);
  receivers_.assign(at(old_.regions()), 0);
  wanted_.assign(regions, -1);
  for (std::size_t g = 0; g < gifts_.size(); ++g) {
    const Gift& gift = gifts_[g];
    ++givers_[at(gift.to)];
    ++receivers_[at(gift.from)];
    Index& wanted = wanted_[at(gift.to)];
    const Gift* best = wanted < 0 ? nullptr : &gifts_[at(wanted)];
    const bool better = best == nullptr || gift.count > best->count ||
                        (gift.count == best->count && names_[at(gift.from)] < names_[at(best->from)]);
    if (better) wanted = static_cast<Index>(g);
  }
  // … and an old region's name goes to the largest gift among those that want it (ties: the smaller label).
  heir_.assign(at(old_.regions()), -1);
  for (const Index g : wanted_) {
    if (g < 0) continue;
    Index& heir = heir_[at(gifts_[at(g)].from)];
    if (heir < 0 || gifts_[at(g)].count > gifts_[at(heir)].count) heir = g;
  }

  new_names_.assign(regions, 0);
  new_birth_.assign(regions, 0);
  for (const Index g : heir_) {
    if (g < 0) continue;
    const Gift& gift = gifts_[at(g)];
    new_names_[at(gift.to)] = names_[at(gift.from)];
    new_birth_[at(gift.to)] = birth_[at(gift.from)];
  }
  for (std::size_t r = 0; r < regions; ++r) {
    churn_.born += givers_[r] == 0 ? 1 : 0;
    churn_.merged += givers_[r] > 1 ? 1 : 0;
    if (new_birth_[r] != 0) continue;
    new_names_[r] = next_name_++;
    new_birth_[r] = frame_;
  }
  for (const Index count : receivers_) {
    churn_.ended += count == 0 ? 1 : 0;
    churn_.split += count > 1 ? 1 : 0;
  }
  names_.swap(new_names_);
  birth_.swap(new_birth_);
}

const RegionPartition& IncrementalPartition::update(std::span<const std::uint64_t> keys,
                                                    ContactElements elements) {
  SIGNORINI_CHECK(keys.size() == at(elements.contacts()));
  ++frame_;
  churn_ = Churn{};
  if (std::equal(keys.begin(), keys.end(), keys_.begin(), keys_.end()) && elements.begin == elements_.begin &&
      elements.element == elements_.element) {
    churn_.kept = static_cast<Index>(keys.size());
    return partition_;
  }
  match(keys, elements);
  drop_removed();
  unite_added(elements);
  std::swap(partition_, old_);
  partition_.mode = old_.mode;
  list_regions(partition_, label_contacts(elements));
  name_regions();
  keys_.assign(keys.begin(), keys.end());
  order_.swap(new_order_);
  joins_.swap(new_joins_);
  elements_ = std::move(elements);
  return partition_;
}

}  // namespace signorini
