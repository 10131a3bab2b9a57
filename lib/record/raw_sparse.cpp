#include "record/raw_sparse.h"

#include <fmt/format.h>

#include <utility>

namespace signorini {

void check_range(const RawReader& raw, const std::string& path, std::span<const Index> indices, Index end) {
  for (const Index i : indices) {
    if (i < 0 || i >= end) raw.fail(path, fmt::format("index {} out of range 0..{}", i, end - 1));
  }
}

void check_pointers(const RawReader& raw, const std::string& path, std::span<const Index> begin,
                    std::size_t entries) {
  if (begin[0] != 0) raw.fail(path, fmt::format("starts with {} instead of 0", begin[0]));
  for (std::size_t i = 1; i < begin.size(); ++i) {
    if (begin[i] < begin[i - 1])
      raw.fail(path, fmt::format("pointer {} runs backwards ({} after {})", i, begin[i], begin[i - 1]));
  }
  if (std::cmp_greater(begin.back(), entries)) {
    raw.fail(path, fmt::format("points to entry {}, but there are {}", begin.back(), entries));
  }
}

std::vector<Index> expand(std::span<const Index> begin) {
  std::vector<Index> outer(begin.back());
  for (std::size_t o = 0; o + 1 < begin.size(); ++o) {
    std::fill(outer.begin() + begin[o], outer.begin() + begin[o + 1], static_cast<Index>(o));
  }
  return outer;
}

}  // namespace signorini
