#pragma once

#include <string>
#include <vector>

#include "contact/contact_problem.h"
#include "regions/region_partition.h"

namespace signorini {

/// regions.csv: how many regions of which size the chosen snapshots have, in every mode whose regions are problems of
/// their own.
std::string region_sizes_header();
std::string region_sizes(const std::string& file, const std::string& step, const ContactProblem& problem,
                         const std::vector<RegionMode>& modes);

}  // namespace signorini
