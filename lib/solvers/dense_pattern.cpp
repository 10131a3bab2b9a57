#include "solvers/dense_pattern.h"

#include "base/check.h"

#include <algorithm>
#include <cstring>

#include "regions/region_partition.h"

namespace signorini {

namespace {

/// Contacts per group, ascending: group g owns members[begin[g]] … members[begin[g + 1] − 1].
struct Groups {
  std::vector<Index> label;
  std::vector<Index> begin;
  std::vector<Index> members;
};

Groups group_contacts(Index contacts, std::span<const Index> label) {
  Groups groups;
  groups.label.assign(label.begin(), label.end());
  if (label.empty()) groups.label.assign(contacts, 0);
  Index count = 0;
  for (const Index g : groups.label) count = std::max(count, g + 1);
  groups.begin.assign(count + 1, 0);
  for (const Index g : groups.label) ++groups.begin[g + 1];
  for (Index g = 0; g < count; ++g) groups.begin[g + 1] += groups.begin[g];
  std::vector<Index> next(groups.begin.begin(), groups.begin.end() - 1);
  groups.members.resize(groups.label.size());
  for (Index k = 0; k < contacts; ++k) {
    const std::size_t g = groups.label[k];
    groups.members[next[g]++] = k;
  }
  return groups;
}

}  // namespace

BlockSparseMatrix fill_pattern(const BlockSparseMatrix& W, std::span<const Index> label) {
  const Groups groups = group_contacts(W.block_rows, label);
  BlockSparseMatrix full;
  full.block_rows = W.block_rows;
  full.block_columns = W.block_columns;
  full.row_begin.push_back(0);
  for (Index k = 0; k < W.block_rows; ++k) {
    const std::size_t g = groups.label[k];
    full.column.insert(full.column.end(), groups.members.begin() + groups.begin[g],
                       groups.members.begin() + groups.begin[g + 1]);
    full.row_begin.push_back(count(full.column));
  }
  full.values.assign(9 * full.column.size() + BlockSparseMatrix::kPadding, 0.0);
  for (Index k = 0; k < W.block_rows; ++k) {
    const std::size_t row = k;
    Index target = full.row_begin[row];
    for (Index b = W.row_begin[row]; b < W.row_begin[row + 1]; ++b) {
      while (full.column[target] != W.column[b]) {
        SIGNORINI_CHECK(++target < full.row_begin[row + 1]);  // W couples no two groups
      }
      std::memcpy(full.block(target), W.block(b), 9 * sizeof(double));
    }
  }
  return full;
}

std::vector<Index> island_labels(const ContactProblem& problem) {
  return partition_regions(problem, RegionMode::islands).label;
}

std::string dense_refusal(Index contacts, std::span<const Index> label) {
  const Groups groups = group_contacts(contacts, label);
  double blocks = 0.0;
  for (std::size_t g = 0; g + 1 < groups.begin.size(); ++g) {
    const double size = groups.begin[g + 1] - groups.begin[g];
    blocks += size * size;
  }
  const double gib = 76.0 * blocks / 1073741824.0;  // nine doubles and a column number
  if (gib <= kMostDenseGib && blocks < 2147483647.0) return "";
  return fmt::format(
      "a dense W of {} contacts would need {:.3g} GiB, more than {} GiB: take a solver that stores no dense "
      "W (pgs or pcg with kernel = sparse, ica, cr-full)",
      contacts, gib, kMostDenseGib);
}

std::string KernelOptions::refusal(Index contacts) const {
  return kernel == DelassusKernel::sparse ? std::string() : dense_refusal(contacts);
}

BlockSparseMatrix KernelOptions::stored(BlockSparseMatrix W) const {
  return kernel == DelassusKernel::sparse ? std::move(W) : fill_pattern(W);
}

}  // namespace signorini
