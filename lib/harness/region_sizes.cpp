#include "harness/region_sizes.h"

#include <fmt/format.h>

#include <map>

namespace signorini {

std::string region_sizes_header() { return "file,step,region_mode,size,count\n"; }

std::string region_sizes(const std::string& file, const std::string& step, const ContactProblem& problem,
                         const std::vector<RegionMode>& modes) {
  std::string text;
  for (const RegionMode mode : modes) {
    if (mode == RegionMode::none || !is_exact(problem, mode)) continue;
    const RegionPartition partition = partition_regions(problem, mode);
    std::map<std::size_t, int> sizes;
    for (Index region = 0; region < partition.regions(); ++region) ++sizes[partition.region(region).size()];
    for (const auto& [size, count] : sizes)
      text += fmt::format("{},{},{},{},{}\n", file, step, enum_name(mode), size, count);
  }
  return text;
}

}  // namespace signorini
