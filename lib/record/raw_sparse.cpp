#include "record/raw_sparse.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace signorini {

namespace {

constexpr Index kMaxEntries = std::numeric_limits<Index>::max();

/// Bits, not values: −0 and 0 differ.
bool same_bits(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

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

/// The outer index of every entry of a compressed matrix.
std::vector<Index> expand(std::span<const Index> begin) {
  std::vector<Index> outer(begin.back());
  for (std::size_t o = 0; o + 1 < begin.size(); ++o) {
    std::fill(outer.begin() + begin[o], outer.begin() + begin[o + 1], static_cast<Index>(o));
  }
  return outer;
}

template <class Sparse>
Sparse make_sparse(Index rows, Index columns, std::span<const Index> begin, std::span<const Index> inner,
                   std::span<const double> values) {
  Sparse matrix(rows, columns);
  matrix.resizeNonZeros(inner.size());
  std::copy(begin.begin(), begin.end(), matrix.outerIndexPtr());
  std::copy(inner.begin(), inner.end(), matrix.innerIndexPtr());
  std::copy(values.begin(), values.end(), matrix.valuePtr());
  return matrix;
}

/// Entries (outer[e], inner[e], x[e]) in any order → compressed, sorted; duplicates are summed in their
/// order.
template <class Sparse>
Sparse compress(Index rows, Index columns, std::span<const Index> outer, std::span<const Index> inner,
                std::span<const double> x) {
  const std::size_t outer_size = Sparse::IsRowMajor ? rows : columns;
  std::vector<Index> begin(outer_size + 1, 0);
  for (const Index o : outer) ++begin[o + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<Index> order(outer.size());
  std::vector<Index> next(begin.begin(), begin.end() - 1);
  for (Index e = 0; e < count(outer); ++e) order[next[outer[e]]++] = e;

  std::vector<Index> kept_begin(begin.size(), 0);
  std::vector<Index> kept_inner;
  std::vector<double> kept_x;
  kept_inner.reserve(outer.size());
  kept_x.reserve(outer.size());
  for (std::size_t o = 0; o < outer_size; ++o) {
    const auto first = order.begin() + begin[o];
    const auto last = order.begin() + begin[o + 1];
    const auto less = [&](Index a, Index b) { return inner[a] < inner[b]; };
    if (!std::is_sorted(first, last, less)) std::stable_sort(first, last, less);
    for (auto e = first; e != last; ++e) {
      if (kept_begin[o] < count(kept_inner) && kept_inner.back() == inner[*e]) {
        kept_x.back() += x[*e];
      } else {
        kept_inner.push_back(inner[*e]);
        kept_x.push_back(x[*e]);
      }
    }
    kept_begin[o + 1] = count(kept_inner);
  }
  return make_sparse<Sparse>(rows, columns, kept_begin, kept_inner, kept_x);
}

template <class Sparse>
Sparse read_fclib(const RawReader& raw, const std::string& name, std::size_t expected_rows,
                  std::size_t expected_columns) {
  const Index rows = raw.integer(name + "/m");
  const Index columns = raw.integer(name + "/n");
  const Index nz = raw.integer(name + "/nz");
  // Checked against the vectors before anything of that size is allocated.
  if (std::cmp_not_equal(rows, expected_rows))
    raw.fail(name + "/m", fmt::format("{} rows instead of {}", rows, expected_rows));
  if (std::cmp_not_equal(columns, expected_columns)) {
    raw.fail(name + "/n", fmt::format("{} columns instead of {}", columns, expected_columns));
  }
  if (nz < -2) raw.fail(name + "/nz", fmt::format("{} is no storage (>= 0 triplets, -1 CSC, -2 CSR)", nz));
  auto p = raw.integers(name + "/p");
  auto i = raw.integers(name + "/i");
  auto x = raw.reals(name + "/x");
  if (i.size() > kMaxEntries) raw.fail(name + "/i", "more than 2^31 - 1 entries");
  if (x.size() != i.size())
    raw.fail(name + "/x", fmt::format("has {} entries, but 'i' has {}", x.size(), i.size()));
  // The stored lengths count; nzmax may be larger in old files.
  std::vector<Index> expanded;
  if (nz >= 0) {
    if (p.size() != i.size())
      raw.fail(name + "/p", fmt::format("has {} entries, but 'i' has {}", p.size(), i.size()));
    if (count(i) < nz) raw.fail(name + "/i", fmt::format("has {} entries, but nz is {}", i.size(), nz));
  } else {
    const std::size_t outer = nz == -1 ? columns : rows;
    p = raw.integers(name + "/p", outer + 1);
    check_pointers(raw, name + "/p", p, i.size());
    expanded = expand(p);
  }
  const std::size_t stored = nz >= 0 ? nz : expanded.size();
  i = i.first(stored);
  x = x.first(stored);
  const std::span<const Index> outer = nz >= 0 ? p.first(stored) : std::span<const Index>(expanded);
  // Triplets and CSC: p (or its expansion) are columns, i rows. CSR: the other way round.
  const bool p_is_columns = nz != -2;
  check_range(raw, name + "/i", i, p_is_columns ? rows : columns);
  if (nz >= 0) check_range(raw, name + "/p", outer, columns);
  const auto row_indices = p_is_columns ? i : outer;
  const auto column_indices = p_is_columns ? outer : i;
  return Sparse::IsRowMajor ? compress<Sparse>(rows, columns, row_indices, column_indices, x)
                            : compress<Sparse>(rows, columns, column_indices, row_indices, x);
}

template <class Sparse>
Sparse read_scipy(const RawReader& raw, const std::string& name, Index rows, Index columns) {
  const std::string format = raw.has(name + "_format") ? raw.text(name + "_format") : "csr";
  if (format != "csr" && format != "csc")
    raw.fail(name + "_format", "is neither csr nor csc; convert the matrix with .tocsr()");
  const bool is_csr = format == "csr";
  if (raw.has(name + "_shape")) {
    const auto shape = raw.integers(name + "_shape", 2);
    if (shape[0] != rows || shape[1] != columns)
      raw.fail(name + "_shape", fmt::format("{}x{} instead of {}x{}", shape[0], shape[1], rows, columns));
  }
  const auto begin = raw.integers(name + "_indptr", static_cast<std::size_t>(is_csr ? rows : columns) + 1);
  auto inner = raw.integers(name + "_indices");
  auto x = raw.reals(name + "_data");
  if (inner.size() > kMaxEntries) raw.fail(name + "_indices", "more than 2^31 - 1 entries");
  if (x.size() != inner.size())
    raw.fail(name + "_data",
             fmt::format("has {} entries, but '{}_indices' has {}", x.size(), name, inner.size()));
  check_pointers(raw, name + "_indptr", begin, inner.size());
  const std::vector<Index> outer = expand(begin);
  inner = inner.first(outer.size());
  x = x.first(outer.size());
  check_range(raw, name + "_indices", inner, is_csr ? columns : rows);
  const bool same_order = is_csr == static_cast<bool>(Sparse::IsRowMajor);
  return same_order ? compress<Sparse>(rows, columns, outer, inner, x)
                    : compress<Sparse>(rows, columns, inner, outer, x);
}

template <class Sparse>
Sparse read_dense(const RawReader& raw, const std::string& name, Index rows, Index columns) {
  if (raw.tree().arrays.at(name).shape.size() == 1)
    raw.fail(name,
             fmt::format("is a vector instead of a matrix; the diagonal of one is named {}_diagonal", name));
  const auto values = raw.real_rows(name, columns);
  const std::uint64_t found = raw.tree().arrays.at(name).shape[0];
  if (std::cmp_not_equal(found, rows)) raw.fail(name, fmt::format("has {} rows instead of {}", found, rows));
  std::vector<Index> row, column;
  std::vector<double> x;
  for (std::size_t e = 0; e < values.size(); ++e) {
    if (values[e] == 0.0) continue;
    row.push_back(static_cast<Index>(e / columns));
    column.push_back(static_cast<Index>(e % columns));
    x.push_back(values[e]);
  }
  if (x.size() > kMaxEntries) raw.fail(name, "more than 2^31 - 1 entries that are not zero");
  return Sparse::IsRowMajor ? compress<Sparse>(rows, columns, row, column, x)
                            : compress<Sparse>(rows, columns, column, row, x);
}

template <class Sparse>
Sparse read_numpy(const RawReader& raw, const std::string& name, std::size_t rows, std::size_t columns) {
  const std::string diagonal = name + "_diagonal";
  const bool has_dense = raw.has(name), has_diagonal = raw.has(diagonal),
             has_sparse = raw.has(name + "_data");
  if (int{has_dense} + int{has_diagonal} + int{has_sparse} > 1)
    raw.fail(name, fmt::format("is there in two forms; keep one of {0}, {0}_diagonal and {0}_data", name));
  const Index m = static_cast<Index>(rows), n = static_cast<Index>(columns);
  if (has_dense) return read_dense<Sparse>(raw, name, m, n);
  if (has_sparse) return read_scipy<Sparse>(raw, name, m, n);
  if (!has_diagonal)
    raw.fail(name, fmt::format("missing (dense as {0}, sparse as {0}_data, {0}_indices, {0}_indptr)", name));
  if (m != n) raw.fail(diagonal, fmt::format("{} is {}x{}, not square", name, m, n));
  const auto values = raw.reals(diagonal, rows);
  std::vector<Index> begin(rows + 1);
  std::iota(begin.begin(), begin.end(), 0);
  return make_sparse<Sparse>(m, n, begin, std::span<const Index>(begin).first(rows), values);
}

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

SparseRows read_fclib_rows(const RawReader& raw, const std::string& name, std::size_t rows,
                           std::size_t columns) {
  return read_fclib<SparseRows>(raw, name, rows, columns);
}

SparseColumns read_fclib_columns(const RawReader& raw, const std::string& name, std::size_t rows,
                                 std::size_t columns) {
  return read_fclib<SparseColumns>(raw, name, rows, columns);
}

SparseRows read_numpy_rows(const RawReader& raw, const std::string& name, std::size_t rows,
                           std::size_t columns) {
  return read_numpy<SparseRows>(raw, name, rows, columns);
}

SparseColumns read_numpy_columns(const RawReader& raw, const std::string& name, std::size_t rows,
                                 std::size_t columns) {
  return read_numpy<SparseColumns>(raw, name, rows, columns);
}

void put_numpy_matrix(RawTree& tree, const std::string& name, const SparseRows& given) {
  SparseRows matrix = given;
  matrix.makeCompressed();
  const std::size_t entries = matrix.nonZeros();
  std::vector<Index> begin(matrix.rows() + 1, 0);
  if (matrix.rows() > 0) std::copy_n(matrix.outerIndexPtr(), begin.size(), begin.begin());
  tree.put(name + "_shape",
           std::vector<Index>{static_cast<Index>(matrix.rows()), static_cast<Index>(matrix.cols())});
  tree.put(name + "_indptr", std::move(begin));
  tree.put(name + "_indices", std::vector<Index>(matrix.innerIndexPtr(), matrix.innerIndexPtr() + entries));
  tree.put(name + "_data", std::vector<double>(matrix.valuePtr(), matrix.valuePtr() + entries));
}

StoredTriangle stored_triangle(const SparseRows& matrix) {
  bool below = false, above = false;
  for (Eigen::Index r = 0; r < matrix.rows(); ++r) {
    for (SparseRows::InnerIterator entry(matrix, r); entry; ++entry) {
      below = below || entry.col() < r;
      above = above || entry.col() > r;
    }
  }
  // filled up, twice the entries must be countable
  if (below == above || 2 * matrix.nonZeros() > kMaxEntries) return StoredTriangle::both;
  return above ? StoredTriangle::upper : StoredTriangle::lower;
}

SparseRows complete_triangle(SparseRows matrix, StoredTriangle stored) {
  if (stored == StoredTriangle::both) return matrix;
  std::vector<Index> row, column;
  std::vector<double> x;
  for (Index r = 0; r < matrix.rows(); ++r) {
    for (SparseRows::InnerIterator entry(matrix, r); entry; ++entry) {
      row.push_back(r);
      column.push_back(entry.index());
      x.push_back(entry.value());
      if (entry.col() == r) continue;
      row.push_back(entry.index());
      column.push_back(r);
      x.push_back(entry.value());
    }
  }
  return compress<SparseRows>(static_cast<Index>(matrix.rows()), static_cast<Index>(matrix.cols()), row,
                              column, x);
}

SparseRows triangle_of(const SparseRows& matrix, StoredTriangle stored) {
  if (stored == StoredTriangle::both) return matrix;
  SparseRows kept = matrix;
  kept.prune([&](Eigen::Index row, Eigen::Index column, double) {
    return stored == StoredTriangle::upper ? column >= row : column <= row;
  });
  return kept;
}

void put_fclib_matrix(RawTree& tree, const std::string& name, const SparseRows& given,
                      StoredTriangle stored) {
  const SparseRows matrix = triangle_of(given, stored);
  const std::size_t entries = matrix.nonZeros();
  std::vector<Index> row, column;
  std::vector<double> x;
  row.reserve(entries);
  column.reserve(entries);
  x.reserve(entries);
  for (Index r = 0; r < matrix.rows(); ++r) {
    for (SparseRows::InnerIterator entry(matrix, r); entry; ++entry) {
      row.push_back(r);
      column.push_back(entry.index());
      x.push_back(entry.value());
    }
  }
  const Index nz = count(x);
  tree.put(name + "/m", std::vector<Index>{static_cast<Index>(matrix.rows())});
  tree.put(name + "/n", std::vector<Index>{static_cast<Index>(matrix.cols())});
  tree.put(name + "/nz", std::vector<Index>{nz});
  tree.put(name + "/nzmax", std::vector<Index>{nz});
  tree.put(name + "/p", std::move(column));
  tree.put(name + "/i", std::move(row));
  tree.put(name + "/x", std::move(x));
}

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
