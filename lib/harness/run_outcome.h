#pragma once

#include <string>

#include "harness/protocols.h"

/// What a solve tells, in a row: shared by the protocols.
namespace signorini {

/// "first; then", or the one of them that says something.
std::string joined(const std::string& first, const std::string& then);
/// What the row says of its matrices, and then what happened.
void set_message(RunRecord& record, const RunTarget& target, std::string text);
/// A row without errors that says why.
void fail(RunRecord& record, const RunTarget& target, SolveStatus status, std::string message);
/// Status, counters and message of a solve. Returns what `chosen_method` says.
std::string fill_report(RunRecord& record, const RunTarget& target, const RegionSolver& solver,
                        const SolveReport& report);
/// How busy the machine was.
void fill_use(RunRecord& record, const CpuUse& use);
/// Above the tolerance by the referee, with regions that W couples.
bool misses_by_coupling(const Residuals& errors, double tolerance, const RunTarget& target,
                        const RegionSolver& solver);
/// A solver stops by its own test for what the limits ask.
StopRule stop_rule(const RunLimits& limits);

}  // namespace signorini
