#pragma once

#include <span>
#include <vector>

#include "base/function_ref.h"
#include "base/parallel.h"
#include "contact/delassus_operator.h"
#include "regions/region_partition.h"

/// u = W r + q of every region, assembled region by region from factors of M that are made once
/// (contact/delassus_parts.h). With an arena the regions are dealt to a few groups, and the groups are assembled side by
/// side. W couples no two regions of an exact partition, so nothing is lost, and the bits are those of any other grouping.
namespace signorini {

/// take(region, W_R and q_R) for every region, from the threads of `arena` at once. Without one nothing of the problem is
/// copied. `partition` is exact: by points or islands.
void for_each_region_system(const ContactProblem& problem, const RegionPartition& partition, TaskArena* arena,
                            FunctionRef<void(Index, ReducedProblem)> take);

/// True where one thread assembles everything sooner than several are started.
bool too_small_for_threads(const ContactProblem& problem);

}  // namespace signorini
