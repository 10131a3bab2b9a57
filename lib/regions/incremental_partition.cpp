#include "regions/incremental_partition.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace signorini {

namespace {
std::size_t at(Index i) { return static_cast<std::size_t>(i); }
}  // namespace

Index IncrementalPartition::find(Index element) {
  while (parent_[at(element)] != element) {
    parent_[at(element)] = parent_[at(parent_[at(element)])];
    element = parent_[at(element)];
  }
  return element;
}

void IncrementalPartition::unite(std::span<const Index> elements) {
  if (elements.empty()) return;
  Index root = find(elements[0]);
  for (const Index element : elements.subspan(1)) {
    Index other = find(element);
    if (other == root) continue;
    if (size_[at(root)] < size_[at(other)]) std::swap(root, other);
    parent_[at(other)] = root;
    size_[at(root)] += size_[at(other)];
  }
}

void IncrementalPartition::forget() {
  const RegionMode mode = partition_.mode;
  *this = IncrementalPartition(mode);
}

/// Fills old_of_ and kept_, keeps handle_ and handle_at_ up to date.
void IncrementalPartition::match(std::span<const std::uint64_t> keys, const ContactElements& elements) {
  const std::size_t m = keys.size();
  old_of_.assign(m, -1);
  kept_.assign(keys_.size(), 0);
  std::vector<Index> handles(m, -1);
  std::vector<std::uint8_t> named(keys_.size(), 0);  // old contacts whose key was met
  std::vector<std::size_t> fresh;
  same_order_ = m == keys_.size();
  std::size_t guess = 0;
  for (std::size_t i = 0; i < m; ++i) {
    std::size_t old = guess;
    if (guess >= keys_.size() || keys_[guess] != keys[i]) {
      const auto found = handle_.find(keys[i]);
      if (found == handle_.end()) {
        fresh.push_back(i);
        same_order_ = false;
        continue;
      }
      old = at(position_[at(found->second)]);
      same_order_ = false;
    }
    guess = old + 1;
    if (named[old] != 0) {
      forget();
      throw_usage("incremental regions: key {:#x} names two contacts of one frame", keys[i]);
    }
    named[old] = 1;
    handles[i] = handle_at_[old];
    const auto now = elements.of(static_cast<Index>(i));
    const auto before = elements_.of(static_cast<Index>(old));
    if (!std::equal(now.begin(), now.end(), before.begin(), before.end())) {
      same_order_ = false;
      continue;
    }
    kept_[old] = 1;
    old_of_[i] = static_cast<Index>(old);
  }
  for (std::size_t old = 0; old < keys_.size(); ++old) {
    if (named[old] != 0) continue;
    handle_.erase(keys_[old]);
    free_handles_.push_back(handle_at_[old]);
  }
  for (const std::size_t i : fresh) {
    Index handle = static_cast<Index>(position_.size());
    if (free_handles_.empty()) {
      position_.push_back(-1);
    } else {
      handle = free_handles_.back();
      free_handles_.pop_back();
    }
    if (!handle_.emplace(keys[i], handle).second) {
      forget();
      throw_usage("incremental regions: key {:#x} names two contacts of one frame", keys[i]);
    }
    handles[i] = handle;
  }
  for (std::size_t i = 0; i < m; ++i) position_[at(handles[i])] = static_cast<Index>(i);
  handle_at_ = std::move(handles);
}

void IncrementalPartition::free_dirty_regions() {
  dirty_.assign(at(partition_.regions()), 0);
  for (std::size_t old = 0; old < kept_.size(); ++old) {
    if (kept_[old] != 0) continue;
    std::uint8_t& dirty = dirty_[at(partition_.label[old])];
    churn_.dirty += dirty == 0 ? 1 : 0;
    dirty = 1;
  }
  if (churn_.dirty == 0) return;
  for (Index r = 0; r < partition_.regions(); ++r) {
    if (dirty_[at(r)] == 0) continue;
    for (const Index k : partition_.region(r)) {
      for (const Index element : elements_.of(k)) {
        parent_[at(element)] = element;
        size_[at(element)] = 1;
      }
    }
    for (const Index k : partition_.region(r)) {
      if (kept_[at(k)] == 0) continue;
      unite(elements_.of(k));
      ++churn_.reunited;
    }
  }
}

void IncrementalPartition::number_regions(const ContactElements& elements) {
  const Index m = elements.contacts();
  std::vector<Index> label(at(m));
  std::vector<Index> roots;
  Index regions = 0;
  for (Index k = 0; k < m; ++k) {
    const auto own = elements.of(k);
    if (own.empty()) {
      label[at(k)] = regions++;
      continue;
    }
    const Index root = find(own[0]);
    Index& number = label_of_root_[at(root)];
    if (number < 0) {
      number = regions++;
      roots.push_back(root);
    }
    label[at(k)] = number;
  }
  for (const Index root : roots) label_of_root_[at(root)] = -1;
  partition_ = partition_from_labels(partition_.mode, std::move(label), regions);
}

void IncrementalPartition::name_regions(const RegionPartition& old) {
  const std::size_t old_regions = at(old.regions());
  std::vector<Index> given(old_regions, 0);          // contacts that an old region gives to the region at hand
  std::vector<Index> receivers(old_regions, 0);      // regions that got contacts of an old region
  std::vector<Index> best_gift(old_regions, 0);      // largest gift to a region that wants its name
  std::vector<Index> heir(old_regions, -1);
  std::vector<Index> givers;
  for (Index r = 0; r < partition_.regions(); ++r) {
    givers.clear();
    for (const Index k : partition_.region(r)) {
      if (old_of_[at(k)] < 0) continue;
      const Index from = old.label[at(old_of_[at(k)])];
      if (given[at(from)]++ == 0) givers.push_back(from);
    }
    Index wanted = -1;
    for (const Index from : givers) {
      const Index gift = given[at(from)];
      const Index most = wanted < 0 ? 0 : given[at(wanted)];
      if (gift > most || (gift == most && names_[at(from)] < names_[at(wanted)])) wanted = from;
    }
    if (wanted >= 0 && given[at(wanted)] > best_gift[at(wanted)]) {
      best_gift[at(wanted)] = given[at(wanted)];
      heir[at(wanted)] = r;
    }
    churn_.born += givers.empty() ? 1 : 0;
    churn_.merged += givers.size() > 1 ? 1 : 0;
    for (const Index from : givers) {
      given[at(from)] = 0;
      ++receivers[at(from)];
    }
  }
  std::vector<std::uint64_t> names(at(partition_.regions()), 0);
  std::vector<std::uint64_t> birth(names.size(), 0);
  for (std::size_t from = 0; from < old_regions; ++from) {
    churn_.ended += receivers[from] == 0 ? 1 : 0;
    churn_.split += receivers[from] > 1 ? 1 : 0;
    if (heir[from] < 0) continue;
    names[at(heir[from])] = names_[from];
    birth[at(heir[from])] = birth_[from];
  }
  for (std::size_t r = 0; r < names.size(); ++r) {
    if (birth[r] != 0) continue;
    names[r] = next_name_++;
    birth[r] = frame_;
  }
  names_ = std::move(names);
  birth_ = std::move(birth);
}

const RegionPartition& IncrementalPartition::update(std::span<const std::uint64_t> keys, const ContactElements& elements) {
  SIGNORINI_CHECK(keys.size() == at(elements.contacts()));
  ++frame_;
  churn_ = Churn{};
  match(keys, elements);
  for (const Index old : old_of_) churn_.kept += old >= 0 ? 1 : 0;
  churn_.added = static_cast<Index>(keys.size()) - churn_.kept;
  churn_.removed = static_cast<Index>(keys_.size()) - churn_.kept;
  if (churn_.added == 0 && churn_.removed == 0 && same_order_) return partition_;

  free_dirty_regions();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (old_of_[i] >= 0) continue;
    const auto own = elements.of(static_cast<Index>(i));
    for (const Index element : own) {
      SIGNORINI_CHECK(element >= 0);
      for (Index next = static_cast<Index>(parent_.size()); next <= element; ++next) {
        parent_.push_back(next);
        size_.push_back(1);
        label_of_root_.push_back(-1);
      }
    }
    unite(own);
  }
  const RegionPartition old = std::move(partition_);
  partition_.mode = old.mode;
  number_regions(elements);
  name_regions(old);
  keys_.assign(keys.begin(), keys.end());
  elements_ = elements;
  return partition_;
}

}  // namespace signorini
