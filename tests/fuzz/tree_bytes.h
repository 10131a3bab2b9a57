#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "record/raw_tree.h"

/// Trees of arrays as flat bytes, for fuzzing the codecs without HDF5. Any bytes are a valid tree; names come
/// from a table, so that a mutation changes numbers, lengths and types instead of spelling.
///
/// One entry: name (1), kind (1), columns (1), count (2), payload. kind: 0 integers, 1 reals, 2 text, 3–5 the
/// same as attribute. columns: 0 = rank 1, 255 = scalar.
namespace signorini {

inline constexpr std::array kTreeNames = {"mu",
                                          "f",
                                          "w",
                                          "q",
                                          "gap",
                                          "frame",
                                          "position",
                                          "points",
                                          "weights",
                                          "bodies",
                                          "body_dofs",
                                          "warm_start",
                                          "M/diagonal",
                                          "M/row_begin",
                                          "M/column",
                                          "M/upper_blocks",
                                          "M/blocks",
                                          "M/indptr",
                                          "M/indices",
                                          "M/data",
                                          "H/column_begin",
                                          "H/row",
                                          "H/blocks",
                                          "H/indptr",
                                          "H/indices",
                                          "H/data",
                                          "W/diagonal",
                                          "W/row_begin",
                                          "W/column",
                                          "W/upper_blocks",
                                          "W/blocks",
                                          "W/indptr",
                                          "W/indices",
                                          "W/data",
                                          "geometry/vertices",
                                          "geometry/triangles",
                                          "geometry/triangle_body",
                                          "contacts",
                                          "dofs",
                                          "dt",
                                          "time",
                                          "kind",
                                          "fclib_global/spacedim",
                                          "fclib_global/vectors/mu",
                                          "fclib_global/vectors/f",
                                          "fclib_global/vectors/w",
                                          "fclib_global/M/m",
                                          "fclib_global/M/n",
                                          "fclib_global/M/nz",
                                          "fclib_global/M/nzmax",
                                          "fclib_global/M/p",
                                          "fclib_global/M/i",
                                          "fclib_global/M/x",
                                          "fclib_global/H/m",
                                          "fclib_global/H/n",
                                          "fclib_global/H/nz",
                                          "fclib_global/H/nzmax",
                                          "fclib_global/H/p",
                                          "fclib_global/H/i",
                                          "fclib_global/H/x",
                                          "fclib_global/G/n",
                                          "fclib_global/info/title",
                                          "fclib_local/spacedim",
                                          "fclib_local/vectors/mu",
                                          "fclib_local/vectors/q",
                                          "fclib_local/W/m",
                                          "fclib_local/W/n",
                                          "fclib_local/W/nz",
                                          "fclib_local/W/nzmax",
                                          "fclib_local/W/p",
                                          "fclib_local/W/i",
                                          "fclib_local/W/x",
                                          "fclib_local/V/n",
                                          "fclib_local/info/title",
                                          "solution/r",
                                          "solution/u",
                                          "solution/v",
                                          "guesses/1/r",
                                          "guesses/1/u",
                                          "guesses/number_of_guesses",
                                          "impulse",
                                          "geometry/rest",
                                          "features",
                                          "node_numbers",
                                          "v_minus",
                                          "start_states",
                                          "start_bounds",
                                          "spacedim"};

inline RawTree tree_of_bytes(const std::uint8_t*& at, const std::uint8_t* end) {
  RawTree tree;
  const auto take = [&](void* out, std::size_t size) {
    if (size == 0) return;
    const std::size_t there = std::min(size, static_cast<std::size_t>(end - at));
    std::memset(out, 0, size);
    std::memcpy(out, at, there);
    at += there;
  };
  while (end - at >= 5) {
    const std::uint8_t name_byte = at[0], kind = static_cast<std::uint8_t>(at[1] % 6), columns = at[2];
    const std::size_t count = static_cast<std::size_t>(at[3]) | static_cast<std::size_t>(at[4] & 0x0FU) << 8U;
    at += 5;
    if (name_byte == 255) break;  // the end of one tree
    const std::string name = kTreeNames[name_byte % kTreeNames.size()];
    if (kind == 3) {
      std::uint64_t value = 0;
      take(&value, 8);
      tree.attributes[name] = value;
    } else if (kind == 4) {
      double value = 0.0;
      take(&value, 8);
      tree.attributes[name] = value;
    } else if (kind == 2 || kind == 5) {
      std::string text(std::min<std::size_t>(count, 64), '\0');
      take(text.data(), text.size());
      if (kind == 2) {
        tree.put_text(name, text);
      } else {
        tree.attributes[name] = text;
      }
    } else {
      RawArray array;
      std::size_t used = count;
      if (columns != 0 && columns != 255) used -= used % columns;
      if (columns == 255) used = 1;
      if (kind == 0) {
        std::vector<Index> values(used);
        take(values.data(), 4 * used);
        array.values = std::move(values);
      } else {
        std::vector<double> values(used);
        take(values.data(), 8 * used);
        array.values = std::move(values);
      }
      if (columns == 0) array.shape = {used};
      if (columns != 0 && columns != 255) array.shape = {used / columns, columns};
      tree.arrays[name] = std::move(array);
    }
  }
  return tree;
}

/// The inverse, for seeds.
inline void append_bytes(const RawTree& tree, std::vector<std::uint8_t>& out) {
  const auto put = [&](const void* data, std::size_t size) {
    const auto* bytes = static_cast<const std::uint8_t*>(data);
    out.insert(out.end(), bytes, bytes + size);
  };
  const auto head = [&](const std::string& name, int kind, std::size_t columns, std::size_t count) {
    for (std::size_t k = 0; k < kTreeNames.size(); ++k) {
      if (name != kTreeNames[k]) continue;
      for (const std::size_t byte : {k, static_cast<std::size_t>(kind), columns, count & 255U, count >> 8U}) {
        out.push_back(static_cast<std::uint8_t>(byte));
      }
      return true;
    }
    return false;
  };
  for (const auto& [name, scalar] : tree.attributes) {
    if (const auto* count = std::get_if<std::uint64_t>(&scalar)) {
      if (head(name, 3, 0, 0)) put(count, 8);
    } else if (const auto* real = std::get_if<double>(&scalar)) {
      if (head(name, 4, 0, 0)) put(real, 8);
    } else {
      const auto& text = std::get<std::string>(scalar);
      if (head(name, 5, 0, text.size())) put(text.data(), text.size());
    }
  }
  for (const auto& [name, array] : tree.arrays) {
    const std::size_t columns = array.shape.size() == 2 ? array.shape[1] : 0;
    if (const auto* integers = std::get_if<std::vector<Index>>(&array.values)) {
      if (head(name, 0, columns, integers->size())) put(integers->data(), 4 * integers->size());
    } else if (const auto* reals = std::get_if<std::vector<double>>(&array.values)) {
      if (head(name, 1, columns, reals->size())) put(reals->data(), 8 * reals->size());
    } else {
      const auto& text = std::get<std::string>(array.values);
      if (head(name, 2, 0, text.size())) put(text.data(), text.size());
    }
  }
  for (int k = 0; k < 5; ++k) out.push_back(255);
}

}  // namespace signorini
