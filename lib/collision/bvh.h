#pragma once

#include <span>
#include <vector>

#include "base/parallel.h"
#include "collision/aabb.h"

/// Binary tree of boxes (Verschoor and Jalba 2019, section 5.1): built once over the faces, refitted when
/// they move.
namespace signorini {

class Bvh {
 public:
  /// Splits by the median of the longest axis of the centres; leaves hold up to 4 boxes. Deterministic.
  void build(std::span<const Aabb> boxes);
  /// New boxes of the same number; the tree keeps its shape.
  void refit(TaskArena& arena, std::span<const Aabb> boxes);
  /// Numbers of the boxes that overlap `box`, ascending. Thread safe; allocates only to grow `result`.
  void query(const Aabb& box, std::vector<Index>& result) const;
  std::size_t size() const { return order_.size(); }

 private:
  struct Node {
    Aabb box;
    Index left = -1;           // children left, left + 1; −1 in a leaf
    Index begin = 0, end = 0;  // of order_, leaves
  };
  std::vector<Node> nodes_;
  std::vector<Index> order_;
  std::vector<Aabb> boxes_;
};

}  // namespace signorini
