#pragma once

#include <span>
#include <vector>

#include "contact/contact_problem.h"

/// Which regions run together as one task, and in which order (longest processing time first, Graham 1969).
///
/// With c_R the predicted cost of region R, C = Σ c_R and p threads: a region with c_R ≥ C/(4p) is a task of
/// its own, the rest is packed in descending order into batches of at least C/(16p). A batch only saves
/// start-up time: every region is solved by its own solver instance, so the schedule may depend on p without
/// changing any result.
namespace signorini {

struct RegionSchedule {
  std::vector<Index> order;             ///< regions, largest predicted cost first; ties by number
  std::vector<std::size_t> task_begin;  ///< tasks + 1 offsets into `order`

  std::size_t tasks() const { return task_begin.size() - 1; }
  std::span<const Index> task(std::size_t i) const {
    return std::span<const Index>(order).subspan(task_begin[i], task_begin[i + 1] - task_begin[i]);
  }
};

RegionSchedule schedule_regions(std::span<const double> costs, int threads);

/// Number of 3×3 blocks of the region's W, as a measure of the cost of an iteration: counted for a stored W,
/// else Σ over nodes of (contacts at the node)² where M couples no nodes, and m² where it does.
double predicted_cost(const ContactProblem& region);

}  // namespace signorini
