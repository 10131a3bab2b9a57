#pragma once

#include "regions/contact_elements.h"

/// Algorithm 1 of Lazarevych, Szekely and Harders (2010) as it is printed, for comparison only. It is wrong.
///
///     for every contact k:  compare its mass points with those of the contacts before it;
///                           the first that shares one gives k its region number, else k opens a new region
///
/// (The print compares point sets with region numbers; read in the only way that types.) Region numbers are never merged,
/// so a contact that ties two older regions together leaves them apart: contacts {a}, {b}, {a, b} get two regions where the
/// truth is one, while {a, b}, {a}, {b} get one. It costs O(K²) comparisons. `partition_regions` replaces it.
namespace signorini {

/// Region numbers of the contacts, in the order in which the algorithm opens regions.
std::vector<Index> printed_algorithm_labels(const ContactElements& elements);

}  // namespace signorini
