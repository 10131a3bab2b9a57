#include "record/numpy_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "record/raw_sparse.h"

namespace signorini {
namespace {

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

}  // namespace

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

}  // namespace signorini
