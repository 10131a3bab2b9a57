#pragma once

#include "harness/experiment.h"
#include "harness/strict_table.h"

/// The part of an experiment's file that the report reads: claims, figures, tables, rules. The program runs
/// nothing by them; it refuses what the report could not use, before hours are spent, and takes from them
/// what has to be kept of the recordings.
namespace signorini {

/// Throws `UsageError` naming file, line and key. Sets `steps` and the like of `e` where a claim or figure
/// needs them; `e` has its solvers and recordings already.
void check_report_keys(StrictTable& table, Experiment& e);

}  // namespace signorini
