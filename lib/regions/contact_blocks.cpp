#include "regions/contact_blocks.h"

#include <algorithm>
#include <deque>

#include "base/check.h"

namespace signorini {
namespace {

constexpr Index kNone = -1;

/// Contacts beside the block that grows, by the number of their links into it. A contact stands in the list of every number
/// that it has had; lists are read from the front, and what is no longer true is passed over.
class Rim {
 public:
  explicit Rim(Index contacts) : links_(contacts, 0) {}

  void clear() {
    for (const Index k : touched_) links_[k] = 0;
    touched_.clear();
    for (List& list : lists_) {
      list.contacts.clear();
      list.next = 0;
    }
    top_ = 0;
  }
  void add_link(Index k) {
    if (links_[k] == 0) touched_.push_back(k);
    const std::size_t links = static_cast<std::size_t>(++links_[k]);
    if (lists_.size() <= links) lists_.resize(links + 1);
    lists_[links].contacts.push_back(k);
    top_ = std::max(top_, links);
  }
  /// The contact with most links for which `is_free`; kNone: there is none.
  template <class IsFree>
  Index take(const IsFree& is_free) {
    for (; top_ > 0; --top_) {
      List& list = lists_[top_];
      while (list.next < list.contacts.size()) {
        const Index k = list.contacts[list.next++];
        if (is_free(k) && static_cast<std::size_t>(links_[k]) == top_) return k;
      }
    }
    return kNone;
  }
  const std::vector<Index>& touched() const { return touched_; }

 private:
  struct List {
    std::vector<Index> contacts;
    std::size_t next = 0;
  };
  std::vector<Index> links_, touched_;
  std::vector<List> lists_;
  std::size_t top_ = 0;
};

class Growth {
 public:
  Growth(const ContactNeighbours& contacts, Index size)
      : contacts_(contacts), size_(size), block_of_(contacts.contacts(), kNone), rim_(contacts.contacts()) {}

  ContactBlocks run() {
    for (Index seed = next_seed(); seed != kNone; seed = next_seed()) grow(seed);
    return {std::move(block_of_), count(members_)};
  }

 private:
  bool is_free(Index k) const { return block_of_[k] == kNone; }

  /// The oldest contact beside blocks, else the first that is in no block.
  Index next_seed() {
    while (!beside_.empty()) {
      const Index k = beside_.front();
      beside_.pop_front();
      if (is_free(k)) return k;
    }
    while (first_free_ < contacts_.contacts() && !is_free(first_free_)) ++first_free_;
    return first_free_ < contacts_.contacts() ? first_free_ : kNone;
  }

  void grow(Index seed) {
    const Index block = count(members_);
    members_.push_back(0);
    rim_.clear();
    for (Index k = seed; k != kNone;) {
      block_of_[k] = block;
      if (++members_[block] == size_) break;
      for (const Index l : contacts_.of(k))
        if (is_free(l)) rim_.add_link(l);
      k = rim_.take([&](Index l) { return is_free(l); });
    }
    for (const Index k : rim_.touched())
      if (is_free(k)) beside_.push_back(k);
  }

  const ContactNeighbours& contacts_;
  Index size_;
  std::vector<Index> block_of_;
  std::vector<Index> members_;  ///< contacts by block
  Rim rim_;
  std::deque<Index> beside_;  ///< contacts beside blocks, as they came
  Index first_free_ = 0;
};

/// The block beside `piece` that has most links to it among those with room; kNone: there is none.
class BestNeighbour {
 public:
  BestNeighbour(const ContactNeighbours& contacts, const ContactBlocks& blocks)
      : contacts_(contacts), blocks_(blocks), links_(blocks.blocks, 0) {}

  template <class HasRoom>
  Index find(Index piece, std::span<const Index> members, const HasRoom& has_room) {
    around_.clear();
    for (const Index k : members) {
      for (const Index l : contacts_.of(k)) {
        const Index b = blocks_.block_of[l];
        if (b != piece && has_room(b) && links_[b]++ == 0) around_.push_back(b);
      }
    }
    Index best = kNone;
    for (const Index b : around_)
      if (best == kNone || links_[b] > links_[best] || (links_[b] == links_[best] && b < best)) best = b;
    for (const Index b : around_) links_[b] = 0;
    return best;
  }

 private:
  const ContactNeighbours& contacts_;
  const ContactBlocks& blocks_;
  std::vector<Index> links_, around_;
};

ContactBlocks without_empty(ContactBlocks blocks, const std::vector<std::vector<Index>>& members) {
  std::vector<Index> number(members.size(), kNone);
  blocks.blocks = 0;
  for (std::size_t b = 0; b < members.size(); ++b)
    if (!members[b].empty()) number[b] = blocks.blocks++;
  for (Index& b : blocks.block_of) b = number[b];
  return blocks;
}

}  // namespace

ContactBlocks join_small_blocks(const ContactNeighbours& contacts, ContactBlocks blocks, Index least,
                                Index most) {
  std::vector<std::vector<Index>> members(blocks.blocks);
  for (Index k = 0; k < contacts.contacts(); ++k) members[blocks.block_of[k]].push_back(k);
  BestNeighbour neighbour(contacts, blocks);
  for (Index piece = 0; piece < blocks.blocks; ++piece) {
    std::vector<Index>& own = members[piece];
    if (count(own) >= least) continue;
    const Index target =
        neighbour.find(piece, own, [&](Index b) { return count(members[b]) + count(own) <= most; });
    if (target == kNone) continue;
    for (const Index k : own) blocks.block_of[k] = target;
    members[target].insert(members[target].end(), own.begin(), own.end());
    own.clear();
  }
  return without_empty(std::move(blocks), members);
}

ContactBlocks grow_blocks(const ContactNeighbours& contacts, Index size) {
  SIGNORINI_CHECK(size >= 1);
  return Growth(contacts, size).run();
}

long long cut_links(const ContactNeighbours& contacts, const ContactBlocks& blocks) {
  long long cut = 0;
  for (Index k = 0; k < contacts.contacts(); ++k)
    for (const Index l : contacts.of(k))
      if (k < l && blocks.block_of[k] != blocks.block_of[l]) ++cut;
  return cut;
}

}  // namespace signorini
