#include "record/fclib_matrix.h"

#include <fmt/format.h>

#include <span>
#include <utility>
#include <vector>

#include "record/raw_sparse.h"
#include "record/stored_triangle.h"

namespace signorini {
namespace {

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

}  // namespace

SparseRows read_fclib_rows(const RawReader& raw, const std::string& name, std::size_t rows,
                           std::size_t columns) {
  return read_fclib<SparseRows>(raw, name, rows, columns);
}

SparseColumns read_fclib_columns(const RawReader& raw, const std::string& name, std::size_t rows,
                                 std::size_t columns) {
  return read_fclib<SparseColumns>(raw, name, rows, columns);
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

}  // namespace signorini
