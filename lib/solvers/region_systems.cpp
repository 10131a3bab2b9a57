#include "solvers/region_systems.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "regions/region_extractor.h"
#include "solvers/region_schedule.h"

namespace signorini {

namespace {

/// Below about as many non-zeros (a few tens of microseconds) starting the threads costs more than they save.
constexpr Eigen::Index kSerialNonZeros = 20000;

/// From so many contacts per region on, copying M and H costs less than copying W.
constexpr Index kLargeRegion = 32;

/// Place of every contact in its part of a partition.
std::vector<Index> ranks(const RegionPartition& partition) {
  std::vector<Index> rank(partition.label.size());
  for (Index i = 0; i < partition.regions(); ++i) {
    Index next = 0;
    for (const Index k : partition.region(i)) rank[k] = next++;
  }
  return rank;
}

/// Cuts regions out of W and q of one group.
class RegionCutter {
 public:
  RegionCutter(const RegionPartition& regions, std::span<const Index> rank)
      : regions_(regions), rank_(rank) {}

  /// `contacts`: those of the group, ascending; `row`: row of W of every contact of the whole problem.
  ReducedProblem cut(const ReducedProblem& group, std::span<const Index> contacts, std::span<const Index> row,
                     Index region) const {
    const std::span<const Index> own = regions_.region(region);
    const BlockSparseMatrix& from = group.W;
    ReducedProblem out;
    BlockSparseMatrix& W = out.W;
    W.block_rows = W.block_columns = count(own);
    out.q.resize(3 * W.block_rows);
    Index most = 0;
    for (const Index k : own) most += from.row_begin[row[k] + 1] - from.row_begin[row[k]];
    W.row_begin.reserve(own.size() + 1);
    W.row_begin.push_back(0);
    W.column.reserve(most);
    W.values.reserve(9 * static_cast<std::size_t>(most) + BlockSparseMatrix::kPadding);  // in 64 bits
    for (std::size_t i = 0; i < own.size(); ++i) {
      const Index r = row[own[i]];
      for (Index b = from.row_begin[r]; b < from.row_begin[r + 1]; ++b) {
        const Index k = contacts[from.column[b]];
        if (regions_.label[k] != region) continue;  // a stored block of zeros
        W.column.push_back(rank_[k]);
        W.values.insert(W.values.end(), from.block(b), from.block(b) + 9);
      }
      W.row_begin.push_back(W.blocks());
      out.q.segment<3>(3 * i) = group.q.segment<3>(3 * r);
    }
    W.values.resize(9 * W.column.size() + BlockSparseMatrix::kPadding, 0.0);
    return out;
  }

 private:
  const RegionPartition& regions_;
  std::span<const Index> rank_;
};

/// The parts are the tasks of the schedule.
RegionPartition deal(const RegionPartition& partition, const RegionSchedule& schedule) {
  std::vector<Index> group(partition.label.size());
  for (std::size_t g = 0; g < schedule.tasks(); ++g) {
    for (const Index region : schedule.task(g)) {
      for (const Index k : partition.region(region)) group[k] = static_cast<Index>(g);
    }
  }
  return partition_from_labels(partition.mode, std::move(group), static_cast<Index>(schedule.tasks()));
}

}  // namespace

bool too_small_for_threads(const ContactProblem& problem) {
  const Eigen::Index work =
      problem.has_dual() ? problem.W.nonZeros() : problem.M.nonZeros() + problem.H.nonZeros();
  return work < kSerialNonZeros;
}

void for_each_region_system(const ContactProblem& problem, const RegionPartition& partition, TaskArena* arena,
                            FunctionRef<void(Index, ReducedProblem)> take) {
  const std::vector<Index> rank = ranks(partition);
  const RegionCutter cutter(partition, rank);
  if (arena == nullptr && problem.contacts() < kLargeRegion * partition.regions()) {
    const ReducedProblem whole = assemble_reduced(problem);
    std::vector<Index> all(partition.label.size());
    std::iota(all.begin(), all.end(), Index{0});
    for (Index region = 0; region < partition.regions(); ++region) {
      take(region, cutter.cut(whole, all, all, region));
    }
    return;
  }
  std::vector<double> sizes(partition.regions());
  for (Index i = 0; i < partition.regions(); ++i) sizes[i] = static_cast<double>(partition.region(i).size());
  const RegionSchedule schedule = schedule_regions(sizes, arena != nullptr ? arena->threads() : 1);
  const RegionPartition groups = deal(partition, schedule);
  const RegionExtractor extractor(problem, groups);
  const std::vector<Index> row = ranks(groups);
  const auto run_group = [&](std::size_t g) {
    const auto group = static_cast<Index>(g);
    ReducedProblem system = assemble_reduced(extractor.extract_system(group), problem.node_size());
    if (schedule.task(g).size() == 1) {
      take(schedule.task(g)[0], std::move(system));
      return;
    }
    for (const Index region : schedule.task(g)) {
      take(region, cutter.cut(system, groups.region(group), row, region));
    }
  };
  if (arena != nullptr) {
    arena->for_each_task(schedule.tasks(), run_group);
  } else {
    for (std::size_t g = 0; g < schedule.tasks(); ++g) run_group(g);
  }
}

}  // namespace signorini
