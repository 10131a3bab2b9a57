#include "solvers/region_systems.h"

#include <numeric>
#include <utility>

#include "contact/delassus_parts.h"
#include "regions/region_extractor.h"
#include "solvers/region_schedule.h"

namespace signorini {

namespace {

/// Below about as many non-zeros (a few tens of microseconds) starting the threads costs more than they save.
constexpr Eigen::Index kSerialNonZeros = 20000;

/// Contacts of some regions, one region after the other, in the numbers of the problem at hand.
struct Parts {
  std::span<const Index> begin;  ///< regions + 1 offsets
  std::span<const Index> contacts;

  std::span<const Index> part(Index i) const {
    const std::size_t first = begin[i];
    return contacts.subspan(first, begin[i + 1] - first);
  }
  Index size() const { return count(begin) - 1; }
};

/// Cuts parts out of a W that is there.
class PartCutter {
 public:
  PartCutter(const ContactProblem& problem, const Parts& parts)
      : all_(assemble_reduced(problem)),
        parts_(parts),
        label_(problem.contacts()),
        rank_(problem.contacts()) {
    for (Index i = 0; i < parts.size(); ++i) {
      Index next = 0;
      for (const Index k : parts.part(i)) {
        label_[k] = i;
        rank_[k] = next++;
      }
    }
  }

  ReducedProblem cut(Index part) const {
    const std::span<const Index> own = parts_.part(part);
    const BlockSparseMatrix& from = all_.W;
    ReducedProblem out;
    BlockSparseMatrix& W = out.W;
    W.block_rows = W.block_columns = count(own);
    out.q.resize(3 * W.block_rows);
    Index most = 0;
    for (const Index k : own) most += from.row_begin[k + 1] - from.row_begin[k];
    W.row_begin.reserve(own.size() + 1);
    W.row_begin.push_back(0);
    W.column.reserve(most);
    W.values.reserve(9 * static_cast<std::size_t>(most) + BlockSparseMatrix::kPadding);  // in 64 bits
    for (std::size_t i = 0; i < own.size(); ++i) {
      for (Index b = from.row_begin[own[i]]; b < from.row_begin[own[i] + 1]; ++b) {
        const Index k = from.column[b];
        if (label_[k] != part) continue;  // a stored block of zeros
        W.column.push_back(rank_[k]);
        W.values.insert(W.values.end(), from.block(b), from.block(b) + 9);
      }
      W.row_begin.push_back(W.blocks());
      out.q.segment<3>(3 * i) = all_.q.segment<3>(3 * own[i]);
    }
    W.values.resize(9 * W.column.size() + BlockSparseMatrix::kPadding, 0.0);
    return out;
  }

 private:
  ReducedProblem all_;
  const Parts& parts_;
  std::vector<Index> label_, rank_;  ///< per contact: its part, and its place there
};

/// take(region(i), W and q of part i) one after the other.
template <class Region>
void take_parts(const ContactProblem& problem, Index node_size, const Parts& parts, const Region& region,
                FunctionRef<void(Index, ReducedProblem)> take) {
  if (problem.has_dual()) {
    const PartCutter cutter(problem, parts);
    for (Index i = 0; i < parts.size(); ++i) take(region(i), cutter.cut(i));
    return;
  }
  DelassusParts assembler(problem, node_size, parts.begin, parts.contacts);
  for (Index i = 0; i < parts.size(); ++i) take(region(i), assembler.assemble(i));
}

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

/// Place of every contact in its part of a partition.
std::vector<Index> ranks(const RegionPartition& partition) {
  std::vector<Index> rank(partition.label.size());
  for (Index i = 0; i < partition.regions(); ++i) {
    Index next = 0;
    for (const Index k : partition.region(i)) rank[k] = next++;
  }
  return rank;
}

/// Every group of regions becomes a problem of its own.
void take_groups(const ContactProblem& problem, const RegionPartition& partition, TaskArena& arena,
                 FunctionRef<void(Index, ReducedProblem)> take) {
  std::vector<double> sizes(partition.regions());
  for (Index i = 0; i < partition.regions(); ++i) sizes[i] = static_cast<double>(partition.region(i).size());
  const RegionSchedule schedule = schedule_regions(sizes, arena.threads());
  const RegionPartition groups = deal(partition, schedule);
  const RegionExtractor extractor(problem, groups);
  const std::vector<Index> rank = ranks(groups);
  arena.for_each_task(schedule.tasks(), [&](std::size_t g) {
    const std::span<const Index> regions = schedule.task(g);
    std::vector<Index> begin(1, 0), contacts;
    for (const Index region : regions) {
      for (const Index k : partition.region(region)) contacts.push_back(rank[k]);
      begin.push_back(count(contacts));
    }
    const ContactProblem group = extractor.extract_system(static_cast<Index>(g));
    take_parts(
        group, problem.node_size(), {begin, contacts}, [&](Index i) { return regions[i]; }, take);
  });
}

}  // namespace

bool too_small_for_threads(const ContactProblem& problem) {
  const Eigen::Index work =
      problem.has_dual() ? problem.W.nonZeros() : problem.M.nonZeros() + problem.H.nonZeros();
  return work < kSerialNonZeros;
}

void for_each_region_system(const ContactProblem& problem, const RegionPartition& partition, TaskArena* arena,
                            FunctionRef<void(Index, ReducedProblem)> take) {
  if (arena != nullptr) return take_groups(problem, partition, *arena, take);
  const Parts parts{partition.region_begin, partition.contacts};
  take_parts(
      problem, problem.node_size(), parts, [](Index i) { return i; }, take);
}

}  // namespace signorini
