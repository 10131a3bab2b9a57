#pragma once

#include <filesystem>

#include "harness/replay_data.h"
#include "json_output.h"

namespace signorini {

/// What tells a viewer where the arrays of a replay are and what they mean; docs/replay.md lists the keys.
Json replay_json(const ReplayData& data);

/// The file that scripts/replay_page reads: a line "signorini-replay 1 N", N bytes of JSON, the arrays.
void write_replay(const std::filesystem::path& path, const ReplayData& data);

}  // namespace signorini
