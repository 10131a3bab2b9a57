#include "collision/broad_phase.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/check.h"

namespace signorini {

namespace {

constexpr double kLargeBox = 4096.0;  // cells
constexpr double kFarCell = 1e15;     // cell numbers stay exact integers in a double

std::int64_t cell_number(double x) {
  return static_cast<std::int64_t>(std::floor(std::clamp(x, -kFarCell, kFarCell)));
}

}  // namespace

double SpatialHash::CellRange::cells() const {
  double product = 1.0;
  for (int d = 0; d < 3; ++d) product *= std::max(0.0, static_cast<double>(high[d] - low[d] + 1));
  return product;
}

SpatialHash::CellRange SpatialHash::range(const Aabb& box) const {
  CellRange cells;
  for (Index d = 0; d < 3; ++d) {
    cells.low[d] = cell_number(box.low[d] * inverse_cell_);
    cells.high[d] = cell_number(box.high[d] * inverse_cell_);
  }
  return cells;
}

std::size_t SpatialHash::slot(std::int64_t i, std::int64_t j, std::int64_t k) const {
  const auto hash = static_cast<std::uint64_t>(i) * 73856093U ^ static_cast<std::uint64_t>(j) * 19349663U ^
                    static_cast<std::uint64_t>(k) * 83492791U;
  return static_cast<std::size_t>(hash) & mask_;
}

void SpatialHash::build(std::span<const Aabb> boxes, double cell) {
  SIGNORINI_CHECK(cell > 0.0);
  boxes_.assign(boxes.begin(), boxes.end());
  inverse_cell_ = 1.0 / cell;
  large_.clear();
  double entries = 1.0;
  for (const Aabb& box : boxes_) {
    const double cells = range(box).cells();
    if (cells <= kLargeBox) entries += cells;
  }
  mask_ = std::bit_ceil(static_cast<std::size_t>(2.0 * entries)) - 1;
  // Counting sort of (slot, box): count, sum up, fill backwards.
  slot_begin_.assign(mask_ + 2, 0);
  const auto for_cells = [this](Index box, auto&& visit) {
    const CellRange cells = range(boxes_[box]);
    for (std::int64_t k = cells.low[2]; k <= cells.high[2]; ++k) {
      for (std::int64_t j = cells.low[1]; j <= cells.high[1]; ++j) {
        for (std::int64_t i = cells.low[0]; i <= cells.high[0]; ++i) visit(slot(i, j, k));
      }
    }
  };
  for (Index b = 0; b < count(boxes_); ++b) {
    if (range(boxes_[b]).cells() > kLargeBox) {
      large_.push_back(b);
    } else {
      for_cells(b, [this](std::size_t s) { ++slot_begin_[s + 1]; });
    }
  }
  for (std::size_t s = 1; s < slot_begin_.size(); ++s) slot_begin_[s] += slot_begin_[s - 1];
  entries_.resize(slot_begin_.back());
  std::vector<Index> next(slot_begin_.begin(), slot_begin_.end() - 1);
  for (Index b = 0; b < count(boxes_); ++b) {
    if (range(boxes_[b]).cells() > kLargeBox) continue;
    for_cells(b, [&](std::size_t s) { entries_[next[s]++] = b; });
  }
}

void SpatialHash::query(const Aabb& box, std::vector<Index>& result) const {
  result.clear();
  if (boxes_.empty()) return;
  const auto test = [&](Index b) {
    if (boxes_[b].overlaps(box)) result.push_back(b);
  };
  const CellRange cells = range(box);
  if (cells.cells() > kLargeBox) {
    for (Index b = 0; b < count(boxes_); ++b) test(b);
    return;
  }
  for (const Index b : large_) test(b);
  for (std::int64_t k = cells.low[2]; k <= cells.high[2]; ++k) {
    for (std::int64_t j = cells.low[1]; j <= cells.high[1]; ++j) {
      for (std::int64_t i = cells.low[0]; i <= cells.high[0]; ++i) {
        const std::size_t s = slot(i, j, k);
        for (Index e = slot_begin_[s]; e < slot_begin_[s + 1]; ++e) test(entries_[e]);
      }
    }
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
}

BoxPairs overlapping_pairs(std::span<const Aabb> a, std::span<const Aabb> b, double cell) {
  SpatialHash hash;
  hash.build(b, cell);
  BoxPairs pairs;
  std::vector<Index> found;
  for (Index i = 0; i < count(a); ++i) {
    hash.query(a[i], found);
    for (const Index j : found) pairs.emplace_back(i, j);
  }
  return pairs;
}

BoxPairs overlapping_pairs_brute_force(std::span<const Aabb> a, std::span<const Aabb> b) {
  BoxPairs pairs;
  for (Index i = 0; i < count(a); ++i) {
    for (Index j = 0; j < count(b); ++j) {
      if (a[i].overlaps(b[j])) pairs.emplace_back(i, j);
    }
  }
  return pairs;
}

}  // namespace signorini
