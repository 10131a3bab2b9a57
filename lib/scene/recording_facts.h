#pragma once

#include <string>
#include <vector>

#include "scene/facts.h"

namespace signorini {

/// Judges the facts that the scene of a finished recording states, by the recording's own statistics. Empty
/// when the scene states none. Throws `UsageError` for an FCLib file, `InputError` for an unfinished recording.
std::vector<FactVerdict> judge_recording(const std::string& path);

/// Not so when a fact differs; what could not be judged yet does no harm.
inline bool is_acceptable(const FactVerdict& verdict) { return verdict.holds || !verdict.reached; }

}  // namespace signorini
