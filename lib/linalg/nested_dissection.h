#pragma once

#include <span>
#include <vector>

#include "linalg/types.h"

namespace signorini {

/// Order of the dofs of a symmetric pattern by nested dissection (METIS, through CHOLMOD): order[k] is the dof at place k of
/// P M Pᵀ = L Lᵀ. On the mesh of a large body L has half of the numbers that minimum degree leads to, and takes a quarter of
/// the operations.
///
/// METIS draws from rand() and takes over the handlers of SIGTERM and SIGABRT while it works. So it works in a child process:
/// handlers and rand() of this one stay as they are, and the same pattern gives the same order, whatever other threads do.
///
/// Upper triangle by columns: the rows of column j are index[begin[j]] … index[begin[j + 1] − 1], ascending, the diagonal
/// with them; begin has one entry more than there are dofs. Empty where there is no METIS, no child process or no memory.
std::vector<Index> nested_dissection(std::span<const Index> begin, std::span<const Index> index);

}  // namespace signorini
