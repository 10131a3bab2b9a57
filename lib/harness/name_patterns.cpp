#include "harness/name_patterns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>

#include "base/check.h"
#include "base/text.h"

namespace signorini {
namespace {

constexpr std::string_view kWildcards = "*?[";

/// The known names that an entry without its `-` stands for; at least one.
std::vector<std::string> matching(const std::string& pattern, std::string_view option,
                                  const std::vector<std::string>& known) {
  if (pattern == "all") return known;
  std::vector<std::string> found;
  for (const std::string& name : known) {
    if (fnmatch(pattern.c_str(), name.c_str(), 0) == 0) found.push_back(name);
  }
  if (!found.empty()) return found;
  if (pattern.find_first_of(kWildcards) == std::string::npos)
    throw_usage("{}: unknown solver '{}'{}", option, pattern, suggestion(pattern, known));
  std::string bare = pattern;
  std::erase_if(bare, [](char c) { return kWildcards.find(c) != std::string_view::npos; });
  throw_usage("{}: no solver fits '{}'{}", option, pattern, suggestion(bare, known));
}

}  // namespace

std::vector<std::string> choose_names(const std::vector<std::string>& entries, std::string_view option,
                                      const std::vector<std::string>& known) {
  std::vector<std::string> chosen, left_out;
  for (const std::string& entry : entries) {
    const bool excludes = entry.starts_with('-');
    std::vector<std::string>& into = excludes ? left_out : chosen;
    for (const std::string& name : matching(excludes ? entry.substr(1) : entry, option, known)) {
      if (std::ranges::find(into, name) == into.end()) into.push_back(name);
    }
  }
  if (chosen.empty() && !left_out.empty()) chosen = known;
  std::erase_if(chosen, [&left_out](const std::string& name) {
    return std::ranges::find(left_out, name) != left_out.end();
  });
  if (chosen.empty())
    throw_usage("{} {}: leaves no solver; the entries with '-' take away all others", option,
                fmt::join(entries, ","));
  return chosen;
}

}  // namespace signorini
