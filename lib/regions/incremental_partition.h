#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "regions/contact_elements.h"
#include "regions/region_partition.h"

/// The regions of a contact set that changes from frame to frame (Lazarevych 2010 section 3, temporal
/// coherence).
///
/// Contacts are known by 64-bit keys. A frame is compared with the one before it:
///
///     removed contacts:  a contact that joined nothing when it came leaves its region whole. Where one that
///                        did join goes, its region is torn: its elements are set free and its surviving
///                        contacts are united again, those that joined before first, the others only until
///                        all live elements are together
///     added contacts:    their elements are united
///     a key whose elements changed counts as removed and added
///
/// The contacts that joined are a spanning forest of the graph of elements: all others can go without a look
/// at the graph. The union-find trees live on between frames. A tree spans exactly the elements of one
/// region's contacts, so that freeing a region cannot cut through another. Contacts of an old region that is
/// not torn move on together, so only regions, not contacts, are looked up. Labels are those of a full
/// rebuild: the rank of the smallest contact.
///
/// Regions have names that persist: a region takes the name of the old region that gave it the most contacts
/// (ties: the smaller name). When an old region splits, its name stays with the part that has most of it
/// (ties: the smaller label); other parts, and regions of new contacts only, get fresh names.
namespace signorini {

/// What changed between two frames.
struct Churn {
  Index kept = 0;  ///< contacts in both frames with the same elements
  Index added = 0;
  Index removed = 0;
  Index reunited = 0;  ///< surviving contacts of torn regions that were united again
  Index torn = 0;      ///< old regions that lost a contact that held them together
  // known when names are kept
  Index born = 0;    ///< regions with no contact of the old frame
  Index ended = 0;   ///< old regions with no contact in the new frame
  Index merged = 0;  ///< regions with contacts of two or more old regions
  Index split = 0;   ///< old regions whose contacts are now in two or more regions

  /// (added + removed) / (contacts before + contacts now): 0 = the same contacts, 1 = none in common.
  double share() const {
    const Index both = 2 * kept + added + removed;
    return both > 0 ? static_cast<double>(added + removed) / both : 0.0;
  }
};

class IncrementalPartition {
 public:
  explicit IncrementalPartition(RegionMode mode, bool keep_names = true) : keep_names_(keep_names) {
    partition_.mode = mode;
    partition_.region_begin = {0};
  }

  /// Moves on to a new frame. Keys are distinct within a frame (else `UsageError`, and the history is
  /// forgotten); elements are non-negative and mean the same thing in every frame. Frames whose keys ascend,
  /// or nearly so, are compared in linear time; others are sorted first.
  /// Returns in `elements` the memory of the frame before.
  const RegionPartition& update(std::span<const std::uint64_t> keys, ContactElements&& elements);
  const RegionPartition& update(std::span<const std::uint64_t> keys, const ContactElements& elements) {
    return update(keys, ContactElements(elements));
  }

  const RegionPartition& partition() const { return partition_; }
  /// Name of every region; empty when names are not kept, for which a rebuild has no counterpart either.
  std::span<const std::uint64_t> names() const { return names_; }
  /// Frame number (1, 2, …) in which a region's name was first given.
  std::span<const std::uint64_t> birth_frames() const { return birth_; }
  const Churn& churn() const { return churn_; }
  std::uint64_t frame() const { return frame_; }
  void forget();

 private:
  Index find(Index element);
  Index unite(std::span<const Index> elements);
  void match(std::span<const std::uint64_t> keys, const ContactElements& elements);
  void order_keys(std::span<const std::uint64_t> keys);
  void match_run(const ContactElements& elements, std::size_t i, std::size_t j, std::size_t count);
  void add(std::size_t i);
  void remove(std::size_t j);
  void drop_removed();
  void reunite(Index region);
  void unite_added(const ContactElements& elements);
  Index label_contacts(const ContactElements& elements);
  void collect_gifts();
  void name_regions();

  bool keep_names_;
  RegionPartition partition_;
  std::vector<std::uint64_t> names_;
  std::vector<std::uint64_t> birth_;
  Churn churn_;
  std::uint64_t frame_ = 0;
  std::uint64_t next_name_ = 0;

  // The last frame, in its order.
  std::vector<std::uint64_t> keys_;
  std::vector<Index> order_;  ///< contacts by ascending key; empty where the keys ascend themselves
  ContactElements elements_;
  std::vector<std::uint8_t> joins_;  ///< contacts of the spanning forest

  // Per element. Union by size, path halving.
  std::vector<Index> parent_;
  std::vector<Index> size_;
  std::vector<Index> degree_;         ///< contacts that hold it
  std::vector<Index> label_of_root_;  ///< −1 between updates

  // Work space of one update.
  struct Gift {  ///< `count` contacts of old region `from` are now in region `to`
    Index from;
    Index to;
    Index count;
  };
  RegionPartition old_;
  std::vector<Index> new_order_;
  std::vector<std::uint8_t> new_joins_;
  std::vector<Index> old_of_;  ///< old position of every new contact, −1: added
  std::vector<Index> new_of_;  ///< new position of every old contact, −1: removed
  std::vector<Index> added_, removed_;
  std::vector<Index> lost_;         ///< per old region: contacts removed
  std::vector<std::uint8_t> torn_;  ///< per old region
  std::vector<Index> torn_list_;
  std::vector<Index>
      heir_label_;  ///< per old region that is not torn: the new region that holds all of it, or −1
  std::vector<Index> roots_;
  std::vector<Gift> gifts_;
  std::vector<Index> gift_of_, wanted_, heir_, givers_, receivers_;
  std::vector<std::uint64_t> new_names_, new_birth_;
};

}  // namespace signorini
