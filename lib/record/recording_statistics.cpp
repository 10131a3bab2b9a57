#include "record/recording_statistics.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/check.h"
#include "base/digest.h"
#include "base/text.h"

namespace signorini {

namespace {

constexpr const char* kChecksum = "xxh3";
constexpr std::size_t kMaxColumns = 256;

std::string checksum_of(RawTree tree) {
  tree.attributes.erase(kChecksum);
  return digest_text(digest_of(tree));
}

bool is_column_name(const std::string& name) {
  return !name.empty() && name.size() <= 64 &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
}

/// What is wrong with names and units, or "".
std::string defect_of(const std::vector<std::string>& columns, const std::vector<std::string>& units) {
  if (columns.empty()) return "has no columns";
  if (columns.size() > kMaxColumns) return fmt::format("has more than {} columns", kMaxColumns);
  if (columns.size() != units.size())
    return fmt::format("has {} columns and {} units", columns.size(), units.size());
  for (const std::string& name : columns) {
    if (!is_column_name(name)) return fmt::format("'{}' is not the name of a column ([a-z0-9_]+)", name);
  }
  if (std::set<std::string>(columns.begin(), columns.end()).size() != columns.size())
    return "has a column twice";
  for (const std::string& unit : units) {
    if (unit.empty() || unit.find(',') != std::string::npos)
      return fmt::format("'{}' is not a unit (\"1\" for a count, no commas)", unit);
  }
  return "";
}

}  // namespace

void check_table(const StepTable& table, const std::string& context) {
  const std::string defect = defect_of(table.columns, table.units);
  if (!defect.empty()) throw_usage("{}: the table of statistics {}", context, defect);
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    if (table.rows[i].size() != table.columns.size()) {
      throw_usage("{}: row {} of the table of statistics has {} values for {} columns", context, i + 1,
                  table.rows[i].size(), table.columns.size());
    }
  }
}

RawTree statistics_tree(const StepTable& table) {
  check_table(table, "recording");
  RawTree tree;
  tree.attributes["columns"] = fmt::format("{}", fmt::join(table.columns, ","));
  tree.attributes["units"] = fmt::format("{}", fmt::join(table.units, ","));
  tree.attributes["rows"] = static_cast<std::uint64_t>(table.rows.size());
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    std::vector<double> values(table.rows.size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = table.rows[i][c];
    tree.put(table.columns[c], std::move(values));
  }
  tree.attributes[kChecksum] = checksum_of(tree);
  return tree;
}

StepTable decode_statistics(const RawTree& tree, const std::string& where) {
  const RawReader raw(tree, where);
  if (raw.text_attribute(kChecksum) != checksum_of(tree)) raw.fail("damaged (the checksum does not match)");
  StepTable table;
  table.columns = split(raw.text_attribute("columns"), ',');
  table.units = split(raw.text_attribute("units"), ',');
  const std::string defect = defect_of(table.columns, table.units);
  if (!defect.empty()) raw.fail(defect);
  if (tree.arrays.size() != table.columns.size()) {
    raw.fail(fmt::format("has {} datasets for {} columns", tree.arrays.size(), table.columns.size()));
  }
  const std::uint64_t rows = raw.count_attribute("rows");
  // The first column bounds `rows` by what the file really holds before memory is taken.
  raw.reals(table.columns.front(), rows);
  table.rows.assign(rows, std::vector<double>(table.columns.size()));
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const auto values = raw.reals(table.columns[c], rows);
    for (std::size_t i = 0; i < values.size(); ++i) table.rows[i][c] = values[i];
  }
  return table;
}

}  // namespace signorini
