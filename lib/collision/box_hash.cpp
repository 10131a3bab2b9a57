#include "collision/box_hash.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace signorini {

int BoxHash::level(const FloatBox& box) const {
  double side = 0.0;
  for (int d = 0; d < 3; ++d) side = std::max(side, static_cast<double>(box.high(d)) - box.low(d));
  const double cells = side / cell_;
  if (!(cells > 1.0)) return 0;
  int exponent = 0;
  const double share = std::frexp(cells, &exponent);  // cells = share 2^exponent, share in [1/2, 1)
  return std::min(share > 0.5 ? exponent : exponent - 1, kLevels - 1);
}

void BoxHash::build(std::span<const FloatBox> boxes, std::span<const Index> members, double cell) {
  SIGNORINI_CHECK(cell > 0.0);
  cell_ = cell;
  highest_ = -1;
  levels_ = {};
  level_of_.resize(members.size());
  for (std::size_t m = 0; m < members.size(); ++m) {
    const int l = level(boxes[members[m]]);
    level_of_[m] = static_cast<signed char>(l);
    ++levels_[l].end;
    highest_ = std::max(highest_, l);
  }
  std::size_t slots = 0;
  Index entries = 0;
  for (int l = 0; l <= highest_; ++l) {
    Level& grid = levels_[l];
    const Index count = grid.end;
    grid.cell = std::ldexp(cell, l);
    grid.inverse = 1.0 / grid.cell;
    grid.slots = slots;
    grid.mask =
        static_cast<std::int64_t>(std::bit_ceil(static_cast<std::size_t>(std::max(count, Index{4})))) - 1;
    grid.begin = entries;
    grid.end = entries += count;
    if (count > 0) slots += grid.mask + 2;
  }
  // Counting sort by (level, slot): count, sum up, fill.
  slot_begin_.assign(slots + 1, 0);
  place_.resize(members.size());
  for (std::size_t m = 0; m < members.size(); ++m) {
    const Level& grid = levels_[level_of_[m]];
    const FloatBox& box = boxes[members[m]];
    const std::int64_t s = slot(cell_number(box.low(0), grid), cell_number(box.low(1), grid),
                                cell_number(box.low(2), grid), grid);
    place_[m] = static_cast<Index>(grid.slots + s);
    ++slot_begin_[place_[m] + 1];
  }
  for (std::size_t s = 1; s <= slots; ++s) slot_begin_[s] += slot_begin_[s - 1];
  number_.resize(members.size());
  for (auto& lane : lane_) lane.resize(members.size() + 3);
  for (std::size_t m = members.size(); m-- > 0;) {  // backwards: begins become ends, and move back again
    const Index e = --slot_begin_[place_[m] + 1];
    number_[e] = members[m];
    const FloatBox& box = boxes[members[m]];
    for (std::size_t d = 0; d < 3; ++d) {
      lane_[d][e] = box.lane[d];
      lane_[d + 3][e] = box.lane[d + 4];
    }
  }
  // Now slot_begin_[s + 1] is where slot s begins.
  std::copy(slot_begin_.begin() + 1, slot_begin_.end(), slot_begin_.begin());
  slot_begin_[slots] = count(members);
}

}  // namespace signorini
