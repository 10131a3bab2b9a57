#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "collision/aabb.h"

/// Which boxes of one set overlap a given box: the spatial hash of Teschner et al. 2003, and the obvious
/// double loop that it is tested against.
namespace signorini {

/// Boxes are entered into every cell of a uniform grid that they touch; cells are hashed into a table that is
/// filled by counting sort, so that building is linear and the order of results does not depend on the hash.
class SpatialHash {
 public:
  /// `cell`: edge of a grid cell in m, > 0; about the mean edge length of the mesh. The boxes are copied.
  void build(std::span<const Aabb> boxes, double cell);
  /// Numbers of the boxes that overlap `box`, ascending, without duplicates. Thread safe.
  void query(const Aabb& box, std::vector<Index>& result) const;
  std::size_t size() const { return boxes_.size(); }

 private:
  struct CellRange {
    std::int64_t low[3], high[3];
    double cells() const;
  };
  CellRange range(const Aabb& box) const;
  std::size_t slot(std::int64_t i, std::int64_t j, std::int64_t k) const;

  std::vector<Aabb> boxes_;
  double inverse_cell_ = 1.0;
  std::size_t mask_ = 0;
  std::vector<Index> slot_begin_, entries_;
  std::vector<Index> large_;  // boxes over so many cells that testing them always is cheaper
};

/// All overlapping (i, j), i from `a`, j from `b`, ascending.
using BoxPairs = std::vector<std::pair<Index, Index>>;
BoxPairs overlapping_pairs(std::span<const Aabb> a, std::span<const Aabb> b, double cell);
BoxPairs overlapping_pairs_brute_force(std::span<const Aabb> a, std::span<const Aabb> b);

}  // namespace signorini
