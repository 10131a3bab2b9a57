#include "collision/bvh.h"

#include <algorithm>

#include "base/check.h"

namespace signorini {

namespace {

constexpr Index kSubtreeLeaves = 64;  // of a refitting task, at most

/// Twice the centre of a box along each axis.
float centre(const FloatBox& box, int axis) { return box.low(axis) + box.high(axis); }

/// The axis along which the centres spread most.
int longest_axis(std::span<const FloatBox> boxes, std::span<const Index> members) {
  float low[3] = {FloatBox::kInfinity, FloatBox::kInfinity, FloatBox::kInfinity};
  float high[3] = {-FloatBox::kInfinity, -FloatBox::kInfinity, -FloatBox::kInfinity};
  for (const Index m : members) {
    for (int d = 0; d < 3; ++d) {
      const float c = centre(boxes[m], d);
      low[d] = std::min(low[d], c);
      high[d] = std::max(high[d], c);
    }
  }
  int axis = 0;
  for (int d = 1; d < 3; ++d) {
    if (high[d] - low[d] > high[axis] - low[axis]) axis = d;
  }
  return axis;
}

}  // namespace

void Bvh::build(TaskArena& arena, std::span<const FloatBox> boxes, std::span<const Index> members) {
  order_.assign(members.begin(), members.end());
  const Index leaves = (count(order_) + kLeaf - 1) / kLeaf;
  const std::size_t nodes = leaves > 0 ? 2 * leaves - 1 : 0;
  nodes_.assign(nodes, FloatBox{});
  skip_.assign(nodes, 0);
  leaf_of_.assign(nodes, -1);
  leaf_node_.assign(leaves, -1);
  boxes_.assign(leaves, FloatBoxes8{});
  subtrees_.clear();
  top_.clear();
  level_.clear();
  if (leaves > 0) level_.push_back({0, 0, leaves});
  bool above = true;  // the level may still have nodes above the subtrees
  while (!level_.empty()) {
    next_level_.assign(2 * level_.size(), {-1, 0, 0});
    arena.for_each_task(level_.size(), [&](std::size_t s) {
      const auto [node, begin, end] = level_[s];
      skip_[node] = node + 2 * (end - begin) - 1;
      if (end - begin == 1) {
        leaf_of_[node] = begin;
        leaf_node_[begin] = node;
        return;
      }
      const Index middle = begin + (end - begin) / 2;
      const std::size_t first = begin_of(begin), last = std::min(order_.size(), begin_of(end));
      const int axis = longest_axis(boxes, std::span(order_).subspan(first, last - first));
      const auto position = [this](std::size_t i) { return order_.begin() + i; };
      std::nth_element(position(first), position(begin_of(middle)), position(last), [&](Index a, Index b) {
        const float ca = centre(boxes[a], axis), cb = centre(boxes[b], axis);
        return ca < cb || (ca == cb && a < b);
      });
      next_level_[2 * s] = {node + 1, begin, middle};
      next_level_[2 * s + 1] = {node + 2 * (middle - begin), middle, end};
    });
    if (above) {
      above = false;
      for (const Segment& s : level_) {
        const bool large = s.end - s.begin > kSubtreeLeaves;
        if (large) top_.push_back(s.node);
        above = above || large;
      }
    }
    std::erase_if(next_level_, [](const Segment& s) { return s.node < 0; });
    std::swap(level_, next_level_);
  }
  std::sort(top_.begin(), top_.end());
  // Subtrees hang below the nodes above them; without any the whole tree is one.
  if (nodes > 0 && top_.empty()) subtrees_.push_back(0);
  for (const Index node : top_) {
    for (const Index child : {node + 1, skip_[node + 1]}) {
      if (!std::binary_search(top_.begin(), top_.end(), child)) subtrees_.push_back(child);
    }
  }
  std::sort(subtrees_.begin(), subtrees_.end());
  areas_.assign(2 * subtrees_.size(), 0.0);
  refit(arena, boxes);
  built_ratio_ = ratio_;
}

void Bvh::refit_leaf(Index node, std::span<const FloatBox> boxes, double& area) {
  const Index leaf = leaf_of_[node];
  const auto numbers = members(leaf);
  FloatBox& box = nodes_[node];
  box = FloatBox{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const FloatBox& member = boxes[numbers[i]];
    boxes_[leaf].set(i, member);
    box.extend(member);
    area += member.half_area();
  }
}

void Bvh::refit_inner(Index node) {
  nodes_[node] = nodes_[node + 1];
  nodes_[node].extend(nodes_[skip_[node + 1]]);
}

void Bvh::refit(TaskArena& arena, std::span<const FloatBox> boxes) {
  arena.for_each_task(subtrees_.size(), [&](std::size_t s) {
    const Index root = subtrees_[s], end = skip_[root];
    double inner = 0.0, outer = 0.0;
    for (Index node = end - 1; node >= root; --node) {  // children come behind their parent
      if (skip_[node] == node + 1) {
        refit_leaf(node, boxes, outer);
      } else {
        refit_inner(node);
      }
      inner += nodes_[node].half_area();
    }
    areas_[2 * s] = inner;
    areas_[2 * s + 1] = outer;
  });
  double inner = 0.0, outer = 0.0;
  for (std::size_t s = 0; s < subtrees_.size(); ++s) {
    inner += areas_[2 * s];
    outer += areas_[2 * s + 1];
  }
  for (auto node = top_.rbegin(); node != top_.rend(); ++node) {
    refit_inner(*node);
    inner += nodes_[*node].half_area();
  }
  ratio_ = outer > 0.0 ? inner / outer : 0.0;
}

}  // namespace signorini
