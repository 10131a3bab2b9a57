#pragma once

#include <algorithm>
#include <array>
#include <bit>
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
    const BoxProbe probe(box);
    for (int l = lowest; l <= highest_; ++l) {
      const Level& level = levels_[l];
      if (level.begin == level.end) continue;
      const Cells cells = cells_around(box, level);
      if (cells.rows() > static_cast<double>(level.end - level.begin) || cells.width() > level.mask) {
        test(probe, level.begin, level.end, [&](std::size_t e) { visit(number_[e], l); });
        continue;
      }
      for (std::int64_t k = cells.low[2]; k <= cells.high[2]; ++k) {
        for (std::int64_t j = cells.low[1]; j <= cells.high[1]; ++j) {
          // Another row may share the slots; a box is taken from its own.
          const auto take = [&](std::size_t e) {
            if (cell_number(lane_[1][e], level) == j && cell_number(lane_[2][e], level) == k)
              visit(number_[e], l);
          };
          const std::int64_t first = slot(cells.low[0], j, k, level), last = first + cells.width() - 1;
          const Index* const begin = slot_begin_.data() + level.slots;
          test(probe, begin[first], begin[std::min(last, level.mask) + 1], take);
          if (last > level.mask) test(probe, begin[0], begin[last - level.mask], take);
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
  /// take(e) for the entries in [begin, end) whose boxes overlap the probe.
  template <class Take>
  void test(const BoxProbe& probe, Index begin, Index end, const Take& take) const {
    const float* const lanes[6] = {lane_[0].data(), lane_[1].data(), lane_[2].data(),
                                   lane_[3].data(), lane_[4].data(), lane_[5].data()};
    for (Index e = begin; e < end; e += 4) {
      const std::size_t first = e;
      unsigned mask = probe.four(lanes, first);
      if (end - e < 4) mask &= (1U << static_cast<unsigned>(end - e)) - 1U;
      for (; mask != 0; mask &= mask - 1) take(first + std::countr_zero(mask));
    }
  }
  static std::int64_t cell_number(double x, const Level& level) {
    constexpr double far = 1e9;  // what lies beyond shares the last cell; the order of cells is kept
    const double cells = std::min(std::max(x * level.inverse, -far), far);
    const auto number = static_cast<std::int64_t>(cells);  // towards zero
    return number - (cells < static_cast<double>(number) ? 1 : 0);
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
  // In the order of the entries, by coordinate as in FloatBoxes8, with three more at the end.
  std::array<std::vector<float>, 6> lane_;
  std::vector<Index> number_;      // of the member
  std::vector<Index> slot_begin_;  // level after level, each with one more at its end
  std::vector<Index> place_;       // scratch: slot of each member
  std::vector<signed char> level_of_;
};

}  // namespace signorini
