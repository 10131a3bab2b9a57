#include "record/compact_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "record/raw_sparse.h"

namespace signorini {
namespace {

/// Bits, not values: −0 and 0 differ.
bool same_bits(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

/// Rows 3b, 3b+1, 3b+2 of the outer index share one pattern that consists of whole triples.
template <class Sparse>
bool has_full_blocks(const Sparse& matrix) {
  if (matrix.rows() % 3 != 0 || matrix.cols() % 3 != 0) return false;
  const Index* begin = matrix.outerIndexPtr();
  const Index* inner = matrix.innerIndexPtr();
  for (Eigen::Index o = 0; o < matrix.outerSize(); o += 3) {
    const Index length = begin[o + 1] - begin[o];
    if (length % 3 != 0 || begin[o + 2] - begin[o + 1] != length || begin[o + 3] - begin[o + 2] != length)
      return false;
    const Index* first = inner + begin[o];
    if (!std::equal(first, first + length, first + length) ||
        !std::equal(first, first + length, first + 2 * length)) {
      return false;
    }
    for (Index e = 0; e < length; e += 3) {
      if (first[e] % 3 != 0 || first[e + 1] != first[e] + 1 || first[e + 2] != first[e] + 2) return false;
    }
  }
  return true;
}

/// Compressed blocks; `values` holds nine per block, [outer][inner] in the matrix' own order.
struct Blocks {
  std::vector<Index> begin, inner;
  std::vector<double> values;

  const double* block(std::size_t b) const { return &values[9 * b]; }
};

template <class Sparse>
Blocks to_block_arrays(const Sparse& matrix) {
  Blocks blocks;
  const std::size_t total = matrix.nonZeros() / 9;
  blocks.begin.reserve(matrix.outerSize() / 3 + 1);
  blocks.begin.push_back(0);
  blocks.inner.reserve(total);
  blocks.values.reserve(9 * total);
  for (Eigen::Index o = 0; o < matrix.outerSize(); o += 3) {
    const Index length = matrix.outerIndexPtr()[o + 1] - matrix.outerIndexPtr()[o];
    const Index* inner = matrix.innerIndexPtr() + matrix.outerIndexPtr()[o];
    const double* x = matrix.valuePtr() + matrix.outerIndexPtr()[o];
    for (Index e = 0; e < length; e += 3) {
      blocks.inner.push_back(inner[e] / 3);
      for (Index line = 0; line < 3; ++line) {
        for (Index k = 0; k < 3; ++k) blocks.values.push_back(x[line * length + e + k]);
      }
    }
    blocks.begin.push_back(count(blocks.inner));
  }
  return blocks;
}

/// The inverse of `to_block_arrays`.
template <class Sparse>
Sparse from_block_arrays(Index rows, Index columns, const Blocks& blocks) {
  const std::size_t lines = blocks.begin.size() - 1;
  std::vector<Index> begin(3 * lines + 1, 0), inner(9 * blocks.inner.size());
  std::vector<double> x(9 * blocks.inner.size());
  for (std::size_t o = 0; o < lines; ++o) {
    const Index first = blocks.begin[o];
    const Index length = 3 * (blocks.begin[o + 1] - first);
    for (Index line = 0; line < 3; ++line) {
      const Index start = 9 * first + line * length;
      begin[3 * o + line + 1] = start + length;
      for (Index b = first; b < blocks.begin[o + 1]; ++b) {
        for (Index k = 0; k < 3; ++k) {
          inner[start + 3 * (b - first) + k] = 3 * blocks.inner[b] + k;
          x[start + 3 * (b - first) + k] = blocks.block(b)[3 * line + k];
        }
      }
    }
  }
  return make_sparse<Sparse>(rows, columns, begin, inner, x);
}

/// The upper triangle if block (j, i) holds the bits of the transposed block (i, j) throughout; otherwise
/// nothing.
bool take_upper(const Blocks& all, Blocks& upper) {
  upper = Blocks{};
  upper.begin.push_back(0);
  for (Index i = 0; i + 1 < count(all.begin); ++i) {
    for (Index b = all.begin[i]; b < all.begin[i + 1]; ++b) {
      const Index j = all.inner[b];
      const auto row_j_first = all.inner.begin() + all.begin[j];
      const auto row_j_last = all.inner.begin() + all.begin[j + 1];
      const auto mirror = std::lower_bound(row_j_first, row_j_last, i);
      if (mirror == row_j_last || *mirror != i) return false;
      const double* a = all.block(b);
      const double* t = all.block(mirror - all.inner.begin());
      for (std::size_t k = 0; k < 9; ++k) {
        if (!same_bits(a[k], t[3 * (k % 3) + k / 3])) return false;
      }
      if (j < i) continue;
      upper.inner.push_back(all.inner[b]);
      upper.values.insert(upper.values.end(), a, a + 9);
    }
    upper.begin.push_back(count(upper.inner));
  }
  return true;
}

/// Adds the transposed blocks below the diagonal. Rows come out sorted: those from below first, in ascending
/// order.
Blocks mirror_upper(const Blocks& upper) {
  const Index rows = count(upper.begin) - 1;
  Blocks all;
  all.begin.assign(rows + 1, 0);
  for (Index i = 0; i < rows; ++i) {
    for (Index b = upper.begin[i]; b < upper.begin[i + 1]; ++b) {
      const Index j = upper.inner[b];
      ++all.begin[i + 1];
      if (j != i) ++all.begin[j + 1];
    }
  }
  std::partial_sum(all.begin.begin(), all.begin.end(), all.begin.begin());
  all.inner.resize(all.begin.back());
  all.values.resize(9 * all.inner.size());
  std::vector<Index> next(all.begin.begin(), all.begin.end() - 1);
  for (Index i = 0; i < rows; ++i) {
    for (Index b = upper.begin[i]; b < upper.begin[i + 1]; ++b) {
      const Index j = upper.inner[b];
      if (j == i) continue;
      const std::size_t slot = next[j]++;
      all.inner[slot] = i;
      for (std::size_t k = 0; k < 9; ++k) all.values[9 * slot + k] = upper.block(b)[3 * (k % 3) + k / 3];
    }
  }
  for (Index i = 0; i < rows; ++i) {
    for (Index b = upper.begin[i]; b < upper.begin[i + 1]; ++b) {
      const std::size_t slot = next[i]++;
      all.inner[slot] = upper.inner[b];
      std::copy_n(upper.block(b), 9, &all.values[9 * slot]);
    }
  }
  return all;
}

/// Sorted, without duplicates: a recording was written by us, so anything else is damage.
void check_ascending(const RawReader& raw, const std::string& path, std::span<const Index> begin,
                     std::span<const Index> inner) {
  for (std::size_t o = 0; o + 1 < begin.size(); ++o) {
    for (Index e = begin[o] + 1; e < begin[o + 1]; ++e) {
      if (inner[e] <= inner[e - 1]) {
        raw.fail(path, fmt::format("entry {} ({}) does not ascend after {}", e, inner[e], inner[e - 1]));
      }
    }
  }
}

Blocks read_blocks(const RawReader& raw, const std::string& begin_path, const std::string& inner_path,
                   const std::string& values_path, std::size_t outer_blocks, std::size_t inner_blocks) {
  const auto begin = raw.integers(begin_path, outer_blocks + 1);
  const auto inner = raw.integers(inner_path);
  const auto values = raw.real_rows(values_path, 9);
  if (18 * inner.size() > kMaxEntries) raw.fail(inner_path, "too many blocks");
  if (values.size() != 9 * inner.size()) {
    raw.fail(values_path, fmt::format("has {} rows instead of {}", values.size() / 9, inner.size()));
  }
  check_pointers(raw, begin_path, begin, inner.size());
  if (begin.back() != count(inner)) {
    raw.fail(begin_path, fmt::format("ends with {} instead of {}", begin.back(), inner.size()));
  }
  check_range(raw, inner_path, inner, static_cast<Index>(inner_blocks));
  check_ascending(raw, inner_path, begin, inner);
  return Blocks{{begin.begin(), begin.end()}, {inner.begin(), inner.end()}, {values.begin(), values.end()}};
}

template <class Sparse>
Sparse read_scalar_form(const RawReader& raw, const std::string& name, Index rows, Index columns) {
  const std::size_t outer = Sparse::IsRowMajor ? rows : columns;
  const Index inner_size = Sparse::IsRowMajor ? columns : rows;
  const auto begin = raw.integers(name + "/indptr", outer + 1);
  const auto inner = raw.integers(name + "/indices");
  const auto values = raw.reals(name + "/data", inner.size());
  if (inner.size() > kMaxEntries) raw.fail(name + "/indices", "more than 2^31 - 1 entries");
  check_pointers(raw, name + "/indptr", begin, inner.size());
  if (begin.back() != count(inner)) {
    raw.fail(name + "/indptr", fmt::format("ends with {} instead of {}", begin.back(), inner.size()));
  }
  check_range(raw, name + "/indices", inner, inner_size);
  check_ascending(raw, name + "/indices", begin, inner);
  return make_sparse<Sparse>(rows, columns, begin, inner, values);
}

template <class Sparse>
void put_scalar_form(RawTree& tree, const std::string& name, const Sparse& matrix) {
  const Index* begin = matrix.outerIndexPtr();
  tree.put(name + "/indptr", std::vector<Index>(begin, begin + matrix.outerSize() + 1));
  tree.put(name + "/indices",
           std::vector<Index>(matrix.innerIndexPtr(), matrix.innerIndexPtr() + matrix.nonZeros()));
  tree.put(name + "/data", std::vector<double>(matrix.valuePtr(), matrix.valuePtr() + matrix.nonZeros()));
}

bool is_diagonal(const SparseRows& matrix) {
  if (matrix.nonZeros() != matrix.rows()) return false;
  for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
    if (matrix.outerIndexPtr()[i] != i || matrix.innerIndexPtr()[i] != i) return false;
  }
  return true;
}

}  // namespace

void put_square(RawTree& tree, const std::string& name, const SparseRows& given) {
  SparseRows compressed;
  if (!given.isCompressed()) {
    compressed = given;
    compressed.makeCompressed();
  }
  const SparseRows& matrix = given.isCompressed() ? given : compressed;
  if (is_diagonal(matrix)) {
    tree.put(name + "/diagonal", std::vector<double>(matrix.valuePtr(), matrix.valuePtr() + matrix.rows()));
    return;
  }
  if (!has_full_blocks(matrix)) return put_scalar_form(tree, name, matrix);
  Blocks all = to_block_arrays(matrix);
  Blocks upper;
  const bool symmetric = take_upper(all, upper);
  Blocks& stored = symmetric ? upper : all;
  tree.put(name + "/row_begin", std::move(stored.begin));
  tree.put(name + "/column", std::move(stored.inner));
  tree.put_matrix(name + (symmetric ? "/upper_blocks" : "/blocks"), std::move(stored.values), 9);
}

SparseRows read_square(const RawReader& raw, const std::string& name, std::size_t n) {
  const Index size = static_cast<Index>(n);
  if (raw.has(name + "/diagonal")) {
    const auto diagonal = raw.reals(name + "/diagonal", n);
    std::vector<Index> begin(n + 1);
    std::iota(begin.begin(), begin.end(), 0);
    return make_sparse<SparseRows>(size, size, begin, std::span(begin).first(n), diagonal);
  }
  if (raw.has(name + "/indptr")) return read_scalar_form<SparseRows>(raw, name, size, size);
  if (n % 3 != 0) raw.fail(name, fmt::format("stored in 3x3 blocks, but has {} rows", n));
  const bool is_upper = raw.has(name + "/upper_blocks");
  Blocks blocks = read_blocks(raw, name + "/row_begin", name + "/column",
                              name + (is_upper ? "/upper_blocks" : "/blocks"), n / 3, n / 3);
  if (is_upper) {
    for (std::size_t i = 0; i < n / 3; ++i) {
      if (blocks.begin[i] < blocks.begin[i + 1] && std::cmp_less(blocks.inner[blocks.begin[i]], i)) {
        raw.fail(name + "/column", fmt::format("block row {} reaches below the diagonal", i));
      }
    }
    blocks = mirror_upper(blocks);
  }
  return from_block_arrays<SparseRows>(size, size, blocks);
}

void put_contact_columns(RawTree& tree, const std::string& name, const SparseColumns& given) {
  SparseColumns compressed;
  if (!given.isCompressed()) {
    compressed = given;
    compressed.makeCompressed();
  }
  const SparseColumns& matrix = given.isCompressed() ? given : compressed;
  if (!has_full_blocks(matrix)) return put_scalar_form(tree, name, matrix);
  Blocks blocks = to_block_arrays(matrix);
  // Stored row-major: [dof][N, T1, T2].
  for (std::size_t b = 0; b < blocks.inner.size(); ++b) {
    double* x = &blocks.values[9 * b];
    std::swap(x[1], x[3]);
    std::swap(x[2], x[6]);
    std::swap(x[5], x[7]);
  }
  tree.put(name + "/column_begin", std::move(blocks.begin));
  tree.put(name + "/row", std::move(blocks.inner));
  tree.put_matrix(name + "/blocks", std::move(blocks.values), 9);
}

SparseColumns read_contact_columns(const RawReader& raw, const std::string& name, std::size_t n,
                                   std::size_t contacts) {
  const Index rows = static_cast<Index>(n);
  const Index columns = static_cast<Index>(3 * contacts);
  if (raw.has(name + "/indptr")) return read_scalar_form<SparseColumns>(raw, name, rows, columns);
  if (n % 3 != 0) raw.fail(name, fmt::format("stored in 3x3 blocks, but has {} rows", n));
  Blocks blocks = read_blocks(raw, name + "/column_begin", name + "/row", name + "/blocks", contacts, n / 3);
  for (std::size_t b = 0; b < blocks.inner.size(); ++b) {
    double* x = &blocks.values[9 * b];
    std::swap(x[1], x[3]);
    std::swap(x[2], x[6]);
    std::swap(x[5], x[7]);
  }
  return from_block_arrays<SparseColumns>(rows, columns, blocks);
}

}  // namespace signorini
