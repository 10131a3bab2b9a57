#include "harness/chosen_method.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace signorini {
namespace {

/// What the regions say, the most frequent first; what all say stands alone.
std::string counted_messages(std::span<const SolveReport> regions) {
  std::vector<std::pair<std::string_view, int>> said;
  for (const SolveReport& report : regions) {
    const std::string_view text = report.message;
    const auto same =
        std::find_if(said.begin(), said.end(), [&](const auto& one) { return one.first == text; });
    if (same == said.end()) {
      said.emplace_back(text, 1);
    } else {
      ++same->second;
    }
  }
  if (said.size() == 1) return std::string(said[0].first);
  std::stable_sort(said.begin(), said.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (const auto& [words, number] : said)
    text += fmt::format("{}{}: {} region{}", text.empty() ? "" : ", ", words, number, number == 1 ? "" : "s");
  return text;
}

/// Of a solve whose regions ended alike there is no region to blame.
bool ended_alike(std::span<const SolveReport> regions) {
  return std::ranges::all_of(regions,
                             [&](const SolveReport& one) { return one.status == regions[0].status; });
}

}  // namespace

std::string chosen_method(const ContactProblem& problem, const RegionSolver& solver,
                          const SolveReport& report) {
  const std::string why = solver.choice(problem);
  if (why.empty()) return "";
  const std::span<const SolveReport> regions = solver.region_reports();
  const std::string used =
      regions.empty() || !ended_alike(regions) ? report.message : counted_messages(regions);
  return used.empty() ? why : fmt::format("{} ({})", used, why);
}

}  // namespace signorini
