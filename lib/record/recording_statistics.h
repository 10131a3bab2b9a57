#pragma once

#include <string>

#include "record/raw_tree.h"
#include "record/recording_file.h"

/// `/statistics` of a recording: one dataset per column, one number per finished step. The group's attributes
/// `columns` and `units` list names and units in the table's order, separated by commas ("1" = a count),
/// `rows` their length, `xxh3` a checksum of all. A recording without the group was interrupted, or is older
/// than it.
namespace signorini {

/// Throws `UsageError` "<context>: …" for a table that the format cannot hold: no column, a name twice, a
/// name other than [a-z0-9_]+, a unit with a comma, a row of another length.
void check_table(const StepTable& table, const std::string& context);

RawTree statistics_tree(const StepTable& table);
/// Throws `InputError` "<where>: …" for everything that `statistics_tree` does not write.
StepTable decode_statistics(const RawTree& tree, const std::string& where);

}  // namespace signorini
