#pragma once

#include <vector>

#include "solvers/primal_system.h"

namespace signorini {

/// Z per contact (Verschoor and Jalba 2019, section 3.4.1; docs/theory.md, C42):
/// Z_k = Σ_l |n_k·n_l| Π_i (1 − |w_ki − w_li|) over the union of the node blocks i of contacts k and l, l
/// over the contacts that share a node block with k, itself included. Contacts on pairs count whole: Z is the
/// number of contacts between the two bodies. 1 where W_D is not formed (primal_system.h): hundreds of contacts
/// of a node would each be compared with all others.
std::vector<double> duplicate_scales(const PrimalSystem& system);

}  // namespace signorini
