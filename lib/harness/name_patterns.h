#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Names of solvers as a command line asks for them: --solver of solve, compare and run.
///
///     pgs            this one
///     cr-*           those that fit the pattern of a shell (*, ?, [..]), in the order of `signorini list solvers`
///     all            every one
///     -reference     not this one, or with a pattern: not these
///
/// The choice is in the order of the entries, and a name that several of them give stands once, at its first place.
/// What an entry with `-` names is left out wherever the entry stands; entries with `-` alone mean all but those.
namespace signorini {

/// Out of `known`. `UsageError` for an entry that no name fits, with the nearest one, and where none is left. `option`
/// names the list in messages.
std::vector<std::string> choose_names(const std::vector<std::string>& entries, std::string_view option,
                                      const std::vector<std::string>& known);

}  // namespace signorini
