#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "regions/contact_elements.h"
#include "regions/region_partition.h"

/// The regions of a contact set that changes from frame to frame (Lazarevych 2010 section 3, temporal coherence).
///
/// Contacts are known by 64-bit keys. A frame is compared with the one before it:
///
///     added contacts:    their elements are united
///     removed contacts:  their region is dirty; the elements of dirty regions are set free and the surviving contacts of
///                        these regions, and only these, are united again
///     a key whose elements changed counts as removed and added
///
/// The union-find trees live on between frames. A tree spans exactly the elements of one region's contacts, so that freeing a
/// region cannot cut through another. Contacts of an old region that is not dirty move on together, so only regions, not
/// contacts, are looked up. Labels are those of a full rebuild: the rank of the smallest contact.
///
/// Regions have names that persist: a region takes the name of the old region that gave it the most contacts (ties: the
/// smaller name). When an old region splits, its name stays with the part that has most of it (ties: the smaller label);
/// other parts, and regions of new contacts only, get fresh names.
namespace signorini {

/// What changed between two frames.
struct Churn {
  Index kept = 0;      ///< contacts in both frames with the same elements
  Index added = 0;
  Index removed = 0;
  Index reunited = 0;  ///< surviving contacts of dirty regions
  Index dirty = 0;     ///< old regions that lost a contact
  Index born = 0;      ///< regions with no contact of the old frame
  Index ended = 0;     ///< old regions with no contact in the new frame
  Index merged = 0;    ///< regions with contacts of two or more old regions
  Index split = 0;     ///< old regions whose contacts are now in two or more regions
};

class IncrementalPartition {
 public:
  explicit IncrementalPartition(RegionMode mode) { partition_.mode = mode; partition_.region_begin = {0}; }

  /// Moves on to a new frame. Keys are distinct within a frame (else `UsageError`, and the history is forgotten); elements are
  /// non-negative and mean the same thing in every frame. The order of contacts is free; frames that keep most of the order
  /// are matched without hashing.
  const RegionPartition& update(std::span<const std::uint64_t> keys, ContactElements elements);

  const RegionPartition& partition() const { return partition_; }
  /// Name of every region.
  std::span<const std::uint64_t> names() const { return names_; }
  /// Frame number (1, 2, …) in which a region's name was first given.
  std::span<const std::uint64_t> birth_frames() const { return birth_; }
  const Churn& churn() const { return churn_; }
  std::uint64_t frame() const { return frame_; }
  void forget();

 private:
  Index find(Index element);
  void unite(std::span<const Index> elements);
  void match(std::span<const std::uint64_t> keys, const ContactElements& elements);
  void free_dirty_regions();
  void unite_added(const ContactElements& elements);
  void number_regions(const RegionPartition& old, const ContactElements& elements);
  void name_regions(const RegionPartition& old);

  RegionPartition partition_;
  std::vector<std::uint64_t> names_;
  std::vector<std::uint64_t> birth_;
  Churn churn_;
  std::uint64_t frame_ = 0;
  std::uint64_t next_name_ = 0;

  // The last frame, in its order.
  std::vector<std::uint64_t> keys_;
  ContactElements elements_;
  std::unordered_map<std::uint64_t, Index> handle_;  ///< key → handle, stable while the contact lives
  std::vector<Index> handle_at_;                     ///< handle of every contact
  std::vector<Index> position_;                      ///< contact of every handle
  std::vector<Index> free_handles_;

  // Union-find over elements; union by size, path halving.
  std::vector<Index> parent_;
  std::vector<Index> size_;
  std::vector<Index> label_of_root_;  ///< −1 between updates

  // Work space of one update.
  std::vector<Index> old_of_;         ///< old position of every new contact, −1: added
  std::vector<std::uint8_t> kept_;    ///< per old contact
  std::vector<std::uint8_t> dirty_;   ///< per old region
  std::vector<Index> heir_label_;     ///< per old region that is not dirty: the new region that holds all of it
  std::vector<std::pair<Index, Index>> pieces_;  ///< surviving contacts of dirty regions: (old region, new region)
  bool same_order_ = false;
};

}  // namespace signorini
