#pragma once

#include <algorithm>
#include <bit>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "collision/float_box.h"

/// Binary tree of boxes (Verschoor and Jalba 2019, section 5.1): built once over the features of the
/// surfaces, refitted when they move.
namespace signorini {

/// Nodes lie in depth-first order: the left child of node i is i + 1, and `skip_[i]` is the first node behind
/// its subtree, so that a traversal is one forward loop without a stack. Leaves hold 8 consecutive members
/// (the last one fewer), whose boxes are copied side by side.
class Bvh {
 public:
  static constexpr Index kLeaf = 8;

  /// Splits at the median of the longest axis of the boxes' centres; equal centres by number. `members` are
  /// numbers into `boxes`. The tree is the same for any number of threads.
  void build(TaskArena& arena, std::span<const FloatBox> boxes, std::span<const Index> members);
  /// Takes over changed boxes; the tree keeps its shape.
  void refit(TaskArena& arena, std::span<const FloatBox> boxes);
  std::size_t size() const { return order_.size(); }
  Index leaves() const { return count(leaf_node_); }
  std::span<const Index> members(Index leaf) const {
    return std::span(order_).subspan(begin_of(leaf), size_of(leaf));
  }
  const FloatBoxes8& boxes(Index leaf) const { return boxes_[leaf]; }
  const FloatBox& leaf_box(Index leaf) const { return nodes_[leaf_node_[leaf]]; }
  /// Calls visit(leaf) for the leaves ≥ `first` whose box overlaps `box`, ascending.
  template <class Visit>
  void for_leaves(const FloatBox& box, Index first, Visit&& visit) const {
    if (nodes_.empty()) return;
    const Index start = leaf_node_[first];
    const Index end = count(nodes_);
    for (Index i = 0; i < end;) {
      const Index next = skip_[i];
      if (next <= start || !overlap(nodes_[i], box)) {
        i = next;
      } else {
        if (next == i + 1) visit(leaf_of_[i]);
        ++i;
      }
    }
  }
  /// Calls visit(member) for every member whose box overlaps `box`, in the order of the leaves.
  template <class Visit>
  void for_overlapping(const FloatBox& box, Visit&& visit) const {
    const BoxProbe probe(box);
    for_leaves(box, 0, [&](Index leaf) {
      for (unsigned mask = probe.overlaps(boxes(leaf)); mask != 0; mask &= mask - 1)
        visit(members(leaf)[std::countr_zero(mask)]);
    });
  }
  /// How much the tree has degraded since it was built: surface of the nodes over that of the members,
  /// relative to the tree as built. 1 after `build`.
  double degradation() const { return built_ratio_ > 0.0 ? ratio_ / built_ratio_ : 1.0; }

 private:
  std::size_t begin_of(Index leaf) const { return kLeaf * leaf; }
  std::size_t size_of(Index leaf) const {
    return std::min<std::size_t>(kLeaf, order_.size() - begin_of(leaf));
  }
  void refit_leaf(Index node, std::span<const FloatBox> boxes, double& area);
  void refit_inner(Index node);

  std::vector<FloatBox> nodes_;
  std::vector<Index> skip_, leaf_of_;  // per node
  std::vector<Index> leaf_node_;       // per leaf
  std::vector<Index> order_;           // member numbers, leaf after leaf
  std::vector<FloatBoxes8> boxes_;     // per leaf, in that order
  std::vector<Index> subtrees_, top_;  // roots of the subtrees that are refitted as tasks, and what is above
  std::vector<double> areas_;          // nodes, members per subtree
  double ratio_ = 1.0, built_ratio_ = 0.0;
  struct Segment {
    Index node, begin, end;  // in leaves
  };
  std::vector<Segment> level_, next_level_;
};

}  // namespace signorini
