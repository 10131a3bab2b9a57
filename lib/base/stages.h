#pragma once

#include <cstddef>
#include <span>

#include "base/function_ref.h"
#include "base/parallel.h"

namespace signorini {

/// body(stage, i) for i in [0, sizes[stage]), each size ≥ 1, stage by stage: all of a stage end before the next begins.
/// For stages as short as microseconds, for which a loop of oneTBB each is too slow: threads spin while they wait, and
/// yield where that takes long. No thread waits for one that has not begun. Which thread does what is open. The body must
/// not throw. Allocates nothing of its own.
void for_each_stage(TaskArena& arena, std::span<const std::size_t> sizes,
                    FunctionRef<void(std::size_t, std::size_t)> body);

}  // namespace signorini
