#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "collision/float_box.h"

/// Hierarchical spatial hash of boxes: Teschner et al. 2003 with one grid per size of box (Mirtich 1996), so
/// that large boxes beside small ones cost nothing.
namespace signorini {

/// The cells of level l have edges of cell · 2^l. A box belongs to the lowest level whose cells are no
/// shorter than its longest side, and is entered only in the cell of its low corner: what overlaps a query
/// starts at most one cell before it. Cells are hashed so that neighbours along x are neighbours in the
/// table; a level is filled by counting sort.
class BoxHash {
 public:
  static constexpr int kLevels = 64;

  /// `members` are numbers into `boxes`; `cell` > 0 in m, about the mean length of an edge.
  void build(std::span<const FloatBox> boxes, std::span<const Index> members, double cell);

  std::size_t size() const { return number_.size(); }
  /// The level that a box belongs to; depends on `cell` only.
  int level(const FloatBox& box) const;
  /// Highest level with boxes; −1 without any.
  int highest_level() const { return highest_; }
  /// Calls visit(member, level) once for every member of the levels ≥ `lowest` whose box overlaps `box`, in
  /// an order that depends on the boxes alone. Fast when the box belongs to a level ≤ `lowest`.
  template <class Visit>
  void for_overlapping(const FloatBox& box, int lowest, Visit&& visit) const {
    for (int l = lowest; l <= highest_; ++l) {
      const Level& level = levels_[static_cast<std::size_t>(l)];
      if (level.begin == level.end) continue;
      const auto test = [&](Index begin, Index end, auto&& in_row) {
        for (Index e = begin; e < end; ++e) {
          const FloatBox& other = box_[static_cast<std::size_t>(e)];
          if (overlap(box, other) && in_row(other)) visit(number_[static_cast<std::size_t>(e)], l);
        }
      };
      const Cells cells = cells_around(box, level);
      if (cells.rows() > static_cast<double>(level.end - level.begin) || cells.width() > level.mask) {
        test(level.begin, level.end, [](const FloatBox&) { return true; });
        continue;
      }
      for (std::int64_t k = cells.low[2]; k <= cells.high[2]; ++k) {
        for (std::int64_t j = cells.low[1]; j <= cells.high[1]; ++j) {
          // Another row may share the slots; a box is taken from its own.
          const auto in_row = [&](const FloatBox& other) {
            return cell_number(other.low(1), level) == j && cell_number(other.low(2), level) == k;
          };
          const std::int64_t first = slot(cells.low[0], j, k, level), last = first + cells.width() - 1;
          const auto entries = [&](std::int64_t from, std::int64_t to) {
            const std::size_t at = level.slots + static_cast<std::size_t>(from);
            test(slot_begin_[at], slot_begin_[level.slots + static_cast<std::size_t>(to) + 1], in_row);
          };
          entries(first, std::min(last, level.mask));
          if (last > level.mask) entries(0, last - level.mask - 1);
        }
      }
    }
  }

 private:
  struct Level {
    double cell = 0.0, inverse = 0.0;  // m, 1/m
    std::size_t slots = 0;             // where its slots begin in slot_begin_
    std::int64_t mask = 0;             // number of its slots − 1
    Index begin = 0, end = 0;          // of its entries
  };
  struct Cells {
    std::int64_t low[3], high[3];
    std::int64_t width() const { return high[0] - low[0] + 1; }
    double rows() const {
      return static_cast<double>(high[1] - low[1] + 1) * static_cast<double>(high[2] - low[2] + 1);
    }
  };
  static std::int64_t cell_number(double x, const Level& level) {
    constexpr double far = 1e9;  // what lies beyond shares the last cell; the order of cells is kept
    return static_cast<std::int64_t>(std::floor(std::min(std::max(x * level.inverse, -far), far)));
  }
  static std::int64_t slot(std::int64_t i, std::int64_t j, std::int64_t k, const Level& level) {
    const auto row = static_cast<std::uint64_t>(j) * 0x9e3779b97f4a7c15U +
                     static_cast<std::uint64_t>(k) * 0xc2b2ae3d27d4eb4fU;
    return static_cast<std::int64_t>((row ^ (row >> 31U)) + static_cast<std::uint64_t>(i)) & level.mask;
  }
  /// Cells in which a box of the level may start that overlaps `box`.
  static Cells cells_around(const FloatBox& box, const Level& level) {
    Cells cells;
    for (int d = 0; d < 3; ++d) {
      // A little more than a cell: the longest side of a box was rounded.
      cells.low[d] = cell_number(box.low(d) - 1.000001 * level.cell, level);
      cells.high[d] = cell_number(box.high(d), level);
    }
    return cells;
  }

  std::array<Level, kLevels> levels_;
  double cell_ = 1.0;
  int highest_ = -1;
  std::vector<FloatBox> box_;      // in the order of the entries
  std::vector<Index> number_;      // of the member
  std::vector<Index> slot_begin_;  // level after level, each with one more at its end
  std::vector<Index> place_;       // scratch: slot of each member
  std::vector<signed char> level_of_;
};

}  // namespace signorini
