#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "json_output.h"

namespace signorini {

struct Program;

/// Exit status of scripts/report for these experiments in OUT. With --json its text goes to standard error.
/// `replays`: whether it makes those that are missing.
int run_report(const Program& program, const std::string& out, const std::vector<std::string>& ids,
               bool replays);

/// Tables, figures and the page of `tables` (runs.csv) into `folder`. `InputError` when the script fails.
void report_runs(const Program& program, const std::vector<std::filesystem::path>& tables,
                 const std::filesystem::path& folder, bool replays);

/// OUT/claims.json as the report wrote it; null without one.
Json read_claims(const std::string& out);

}  // namespace signorini
