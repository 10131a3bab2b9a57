#pragma once

#include <string>
#include <vector>

#include "json_output.h"

namespace signorini {

struct Program;

/// Exit status of scripts/report for these experiments in OUT. With --json its text goes to standard error.
int run_report(const Program& program, const std::string& out, const std::vector<std::string>& ids);

/// OUT/claims.json as the report wrote it; null without one.
Json read_claims(const std::string& out);

}  // namespace signorini
