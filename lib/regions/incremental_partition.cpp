#include "regions/incremental_partition.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/check.h"

namespace signorini {

namespace {

/// Positions by ascending key, of keys that do not ascend throughout. Nearly sorted keys take linear time.
void sort_by_key(std::span<const std::uint64_t> keys, std::vector<Index>& order) {
  order.resize(keys.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::size_t moves = 4 * keys.size();
  for (std::size_t i = 1; i < order.size(); ++i) {
    const Index contact = order[i];
    std::size_t place = i;
    for (; place > 0 && keys[order[place - 1]] > keys[contact] && moves > 0; --place, --moves)
      order[place] = order[place - 1];
    order[place] = contact;
    if (moves > 0) continue;
    std::sort(order.begin(), order.end(), [&](Index a, Index b) { return keys[a] < keys[b]; });
    return;
  }
}

/// Whether `count` contacts from i on hold the same elements as those of `before` from j on.
bool same_elements(const ContactElements& now, std::size_t i, const ContactElements& before, std::size_t j,
                   std::size_t count) {
  const Index* a = now.begin.data() + i;
  const Index* b = before.begin.data() + j;
  const Index shift = a[0] - b[0];
  Index differ = 0;
  for (std::size_t k = 1; k <= count; ++k) differ |= (a[k] - b[k]) ^ shift;
  return differ == 0 &&
         std::equal(now.element.data() + a[0], now.element.data() + a[count], before.element.data() + b[0]);
}

}  // namespace

Index IncrementalPartition::find(Index element) {
  while (parent_[element] != element) {
    parent_[element] = parent_[parent_[element]];
    element = parent_[element];
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
    if (size_[root] < size_[other]) std::swap(root, other);
    parent_[other] = root;
    size_[root] += size_[other];
    ++joined;
  }
  return joined;
}

void IncrementalPartition::forget() { *this = IncrementalPartition(partition_.mode, keep_names_); }

/// new_order_; refuses keys that repeat.
void IncrementalPartition::order_keys(std::span<const std::uint64_t> keys) {
  new_order_.clear();
  std::size_t descents = 0;
  for (std::size_t i = 1; i < keys.size(); ++i) descents += keys[i] <= keys[i - 1] ? 1U : 0U;
  if (descents == 0) return;
  sort_by_key(keys, new_order_);
  for (std::size_t i = 1; i < keys.size(); ++i) {
    const std::uint64_t key = keys[new_order_[i]];
    if (key != keys[new_order_[i - 1]]) continue;
    forget();
    throw_usage("incremental regions: key {:#x} names two contacts of one frame", key);
  }
}

/// Contacts i, i + 1, … have the keys of the old contacts j, j + 1, ….
void IncrementalPartition::match_run(const ContactElements& elements, std::size_t i, std::size_t j,
                                     std::size_t count) {
  if (same_elements(elements, i, elements_, j, count)) {
    std::iota(old_of_.begin() + i, old_of_.begin() + i + count, static_cast<Index>(j));
    std::iota(new_of_.begin() + j, new_of_.begin() + j + count, static_cast<Index>(i));
    std::copy_n(joins_.data() + j, count, new_joins_.data() + i);
    return;
  }
  for (std::size_t k = 0; k < count; ++k) {
    if (same_elements(elements, i + k, elements_, j + k, 1)) {
      old_of_[i + k] = static_cast<Index>(j + k);
      new_of_[j + k] = static_cast<Index>(i + k);
      new_joins_[i + k] = joins_[j + k];
    } else {
      add(i + k);
      remove(j + k);
    }
  }
}

void IncrementalPartition::add(std::size_t i) {
  old_of_[i] = -1;
  added_.push_back(static_cast<Index>(i));
}

void IncrementalPartition::remove(std::size_t j) {
  new_of_[j] = -1;
  removed_.push_back(static_cast<Index>(j));
}

/// Merges the two ascending lists of keys: fills old_of_, new_of_, added_, removed_ and, of contacts that
/// stay, new_joins_.
void IncrementalPartition::match(std::span<const std::uint64_t> keys, const ContactElements& elements) {
  order_keys(keys);
  const std::size_t m = keys.size(), n = keys_.size();
  old_of_.resize(m);
  new_joins_.resize(m);
  new_of_.resize(n);
  added_.clear();
  removed_.clear();
  const auto new_at = [&](std::size_t a) { return new_order_.empty() ? a : new_order_[a]; };
  const auto old_at = [&](std::size_t b) { return order_.empty() ? b : order_[b]; };
  std::size_t a = 0, b = 0;
  while (a < m && b < n) {
    const std::size_t i = new_at(a), j = old_at(b);
    if (keys[i] < keys_[j]) {
      add(i);
      ++a;
    } else if (keys[i] > keys_[j]) {
      remove(j);
      ++b;
    } else {
      std::size_t run = 1;
      while (a + run < m && b + run < n && new_at(a + run) == i + run && old_at(b + run) == j + run &&
             keys[i + run] == keys_[j + run])
        ++run;
      match_run(elements, i, j, run);
      a += run;
      b += run;
    }
  }
  for (; a < m; ++a) add(new_at(a));
  for (; b < n; ++b) remove(old_at(b));
  churn_.added = count(added_);
  churn_.removed = count(removed_);
  churn_.kept = static_cast<Index>(m) - churn_.added;
}

void IncrementalPartition::drop_removed() {
  torn_.assign(partition_.regions(), 0);
  torn_list_.clear();
  for (const Index k : removed_) {
    const Index region = partition_.label[k];
    for (const Index element : elements_.of(k)) --degree_[element];
    if (joins_[k] == 0 || torn_[region] != 0) continue;
    torn_[region] = 1;
    torn_list_.push_back(region);
  }
  for (const Index region : torn_list_) reunite(region);
  churn_.torn = count(torn_list_);
}

/// The forest of a torn region again. Every element of a region of two elements or more lies in a contact
/// that joins.
void IncrementalPartition::reunite(Index region) {
  const auto contacts = partition_.region(region);
  for (const Index k : contacts) {
    if (joins_[k] == 0) continue;
    for (const Index element : elements_.of(k)) parent_[element] = -1;
  }
  Index sets = 0;  // of elements that a contact still holds
  for (const Index k : contacts) {
    if (joins_[k] == 0) continue;
    for (const Index element : elements_.of(k)) {
      if (parent_[element] >= 0) continue;
      parent_[element] = element;
      size_[element] = 1;
      sets += degree_[element] > 0 ? 1 : 0;
    }
  }
  for (const bool joined_before : {true, false}) {
    for (const Index k : contacts) {
      if (!joined_before && sets <= 1) break;
      if (new_of_[k] < 0 || (joins_[k] != 0) != joined_before) continue;
      const Index joined = unite(elements_.of(k));
      sets -= joined;
      // a contact that joined before keeps its mark: more marks than needed do no harm
      if (joined > 0) new_joins_[new_of_[k]] = 1;
      ++churn_.reunited;
    }
  }
}

void IncrementalPartition::unite_added(const ContactElements& elements) {
  for (const Index i : added_) {
    const auto own = elements.of(i);
    for (const Index element : own) {
      SIGNORINI_CHECK(element >= 0);
      for (Index next = count(parent_); next <= element; ++next) {
        parent_.push_back(next);
        size_.push_back(1);
        degree_.push_back(0);
        label_of_root_.push_back(-1);
      }
      ++degree_[element];
    }
    new_joins_[i] = unite(own) > 0 ? 1 : 0;
  }
}

/// Labels by the smallest contact; returns the number of regions.
Index IncrementalPartition::label_contacts(const ContactElements& elements) {
  Index regions = 0;
  heir_label_.assign(old_.regions(), -1);
  roots_.clear();
  partition_.label.resize(old_of_.size());
  // Plain pointers: a store of a label might else be a store of one of the vectors' own.
  Index* const label = partition_.label.data();
  Index* const heir = heir_label_.data();
  Index* const label_of_root = label_of_root_.data();
  const Index* const old_of = old_of_.data();
  const Index* const old_label = old_.label.data();
  const std::uint8_t* const torn = torn_.data();
  const auto number_of = [&](std::size_t contact) {
    const auto own = elements.of(static_cast<Index>(contact));
    if (own.empty()) return regions++;
    const Index root = find(own[0]);
    if (label_of_root[root] < 0) {
      label_of_root[root] = regions++;
      roots_.push_back(root);
    }
    return label_of_root[root];
  };
  const std::size_t contacts = old_of_.size();
  for (std::size_t i = 0; i < contacts; ++i) {
    const Index from = old_of[i] < 0 ? -1 : old_label[old_of[i]];
    if (from < 0 || torn[from] != 0) {
      label[i] = number_of(i);
      continue;
    }
    if (heir[from] < 0) heir[from] = number_of(i);
    label[i] = heir[from];
  }
  for (const Index root : roots_) label_of_root[root] = -1;
  return regions;
}

void IncrementalPartition::collect_gifts() {
  lost_.assign(old_.regions(), 0);
  for (const Index k : removed_) ++lost_[old_.label[k]];
  gifts_.clear();
  gift_of_.assign(partition_.regions(), -1);
  for (Index from = 0; from < old_.regions(); ++from) {
    const auto contacts = old_.region(from);
    if (torn_[from] == 0) {
      const Index survivors = count(contacts) - lost_[from];
      if (survivors > 0) gifts_.push_back({from, heir_label_[from], survivors});
      continue;
    }
    const Index first = count(gifts_);
    for (const Index k : contacts) {
      if (new_of_[k] < 0) continue;
      const Index to = partition_.label[new_of_[k]];
      Index& gift = gift_of_[to];
      if (gift < first) {
        gift = count(gifts_);
        gifts_.push_back({from, to, 0});
      }
      ++gifts_[gift].count;
    }
  }
}

void IncrementalPartition::name_regions() {
  collect_gifts();
  // A region's candidate name is that of the old region that gave it most contacts (ties: the smaller) …
  const std::size_t regions = partition_.regions();
  givers_.assign(regions, 0);
  receivers_.assign(old_.regions(), 0);
  wanted_.assign(regions, -1);
  for (Index g = 0; g < count(gifts_); ++g) {
    const Gift& gift = gifts_[g];
    ++givers_[gift.to];
    ++receivers_[gift.from];
    Index& wanted = wanted_[gift.to];
    const Gift* best = wanted < 0 ? nullptr : &gifts_[wanted];
    const bool better = best == nullptr || gift.count > best->count ||
                        (gift.count == best->count && names_[gift.from] < names_[best->from]);
    if (better) wanted = g;
  }
  // … and a name goes to the candidate with most contacts of the old region (ties: the smaller label).
  heir_.assign(old_.regions(), -1);
  for (const Index g : wanted_) {
    if (g < 0) continue;
    Index& heir = heir_[gifts_[g].from];
    if (heir < 0 || gifts_[g].count > gifts_[heir].count) heir = g;
  }

  new_names_.assign(regions, 0);
  new_birth_.assign(regions, 0);
  for (const Index g : heir_) {
    if (g < 0) continue;
    const Gift& gift = gifts_[g];
    new_names_[gift.to] = names_[gift.from];
    new_birth_[gift.to] = birth_[gift.from];
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
                                                    ContactElements&& elements) {
  SIGNORINI_CHECK(count(keys) == elements.contacts());
  ++frame_;
  churn_ = Churn{};
  if (std::equal(keys.begin(), keys.end(), keys_.begin(), keys_.end()) && elements.begin == elements_.begin &&
      elements.element == elements_.element) {
    churn_.kept = count(keys);
    return partition_;
  }
  match(keys, elements);
  drop_removed();
  unite_added(elements);
  std::swap(partition_, old_);
  partition_.mode = old_.mode;
  list_regions(partition_, label_contacts(elements));
  if (keep_names_) name_regions();
  keys_.assign(keys.begin(), keys.end());
  order_.swap(new_order_);
  joins_.swap(new_joins_);
  std::swap(elements_, elements);
  return partition_;
}

}  // namespace signorini
