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
    ++churn_.kept;
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

void IncrementalPartition::unite_added(const ContactElements& elements) {
  for (std::size_t i = 0; i < old_of_.size(); ++i) {
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
}

void IncrementalPartition::number_regions(const RegionPartition& old, const ContactElements& elements) {
  std::vector<Index> label(old_of_.size());
  std::vector<Index> roots;
  Index regions = 0;
  const auto number_of = [&](std::span<const Index> own) {
    if (own.empty()) return regions++;
    const Index root = find(own[0]);
    Index& number = label_of_root_[at(root)];
    if (number < 0) {
      number = regions++;
      roots.push_back(root);
    }
    return number;
  };
  heir_label_.assign(at(old.regions()), -1);
  pieces_.clear();
  for (std::size_t i = 0; i < label.size(); ++i) {
    if (old_of_[i] < 0) {
      label[i] = number_of(elements.of(static_cast<Index>(i)));
      continue;
    }
    const Index from = old.label[at(old_of_[i])];
    if (dirty_[at(from)] != 0) {
      label[i] = number_of(elements.of(static_cast<Index>(i)));
      pieces_.emplace_back(from, label[i]);
      continue;
    }
    Index& heir = heir_label_[at(from)];
    if (heir < 0) heir = number_of(elements.of(static_cast<Index>(i)));
    label[i] = heir;
  }
  for (const Index root : roots) label_of_root_[at(root)] = -1;
  partition_ = partition_from_labels(old.mode, std::move(label), regions);
}

void IncrementalPartition::name_regions(const RegionPartition& old) {
  // Gifts: `count` contacts of old region `from` are now in region `to`.
  struct Gift {
    Index from;
    Index to;
    Index count;
  };
  std::vector<Gift> gifts;
  for (Index r = 0; r < old.regions(); ++r) {
    if (dirty_[at(r)] == 0) gifts.push_back({r, heir_label_[at(r)], static_cast<Index>(old.region(r).size())});
  }
  std::sort(pieces_.begin(), pieces_.end());
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    const bool more = i > 0 && pieces_[i] == pieces_[i - 1];
    if (more) {
      ++gifts.back().count;
    } else {
      gifts.push_back({pieces_[i].first, pieces_[i].second, 1});
    }
  }

  // Every region wants the name of its largest giver (ties: the smaller name) …
  const auto regions = at(partition_.regions());
  std::vector<Index> givers(regions, 0);
  std::vector<Index> receivers(at(old.regions()), 0);
  std::vector<const Gift*> wanted(regions, nullptr);
  for (const Gift& gift : gifts) {
    ++givers[at(gift.to)];
    ++receivers[at(gift.from)];
    const Gift*& best = wanted[at(gift.to)];
    const bool better = best == nullptr || gift.count > best->count ||
                        (gift.count == best->count && names_[at(gift.from)] < names_[at(best->from)]);
    if (better) best = &gift;
  }
  // … and an old region's name goes to the largest gift among those that want it (ties: the smaller label).
  std::vector<const Gift*> heir(at(old.regions()), nullptr);
  for (const Gift* gift : wanted) {
    if (gift == nullptr) continue;
    const Gift*& best = heir[at(gift->from)];
    if (best == nullptr || gift->count > best->count) best = gift;
  }

  std::vector<std::uint64_t> names(regions, 0);
  std::vector<std::uint64_t> birth(regions, 0);
  for (const Gift* gift : heir) {
    if (gift == nullptr) continue;
    names[at(gift->to)] = names_[at(gift->from)];
    birth[at(gift->to)] = birth_[at(gift->from)];
  }
  for (std::size_t r = 0; r < regions; ++r) {
    churn_.born += givers[r] == 0 ? 1 : 0;
    churn_.merged += givers[r] > 1 ? 1 : 0;
    if (birth[r] != 0) continue;
    names[r] = next_name_++;
    birth[r] = frame_;
  }
  for (const Index count : receivers) {
    churn_.ended += count == 0 ? 1 : 0;
    churn_.split += count > 1 ? 1 : 0;
  }
  names_ = std::move(names);
  birth_ = std::move(birth);
}

const RegionPartition& IncrementalPartition::update(std::span<const std::uint64_t> keys, ContactElements elements) {
  SIGNORINI_CHECK(keys.size() == at(elements.contacts()));
  ++frame_;
  churn_ = Churn{};
  match(keys, elements);
  churn_.added = static_cast<Index>(keys.size()) - churn_.kept;
  churn_.removed = static_cast<Index>(keys_.size()) - churn_.kept;
  if (churn_.added == 0 && churn_.removed == 0 && same_order_) return partition_;

  free_dirty_regions();
  unite_added(elements);
  const RegionPartition old = std::move(partition_);
  number_regions(old, elements);
  name_regions(old);
  keys_.assign(keys.begin(), keys.end());
  elements_ = std::move(elements);
  return partition_;
}

}  // namespace signorini
