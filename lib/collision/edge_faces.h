#pragma once

#include <array>
#include <vector>

#include "bodies/surface_model.h"

namespace signorini {

/// The faces of every edge of `surface`, −1 where there is none: two inside a surface, one at its border. Of an
/// edge with more faces the first two.
std::vector<std::array<Index, 2>> faces_of_edges(const SurfaceModel& surface);

}  // namespace signorini
