// The catalogue fits the program: every measure is a column of runs.csv, every solver is listed.

#include "harness/catalogue.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "harness/run_record.h"
#include "solvers/registry.h"

namespace signorini::catalogue_test {
namespace {

TEST(Catalogue, EveryMeasureIsAColumnOfTheRows) {
  const std::vector<std::string> columns = split(run_record_header(), ',');
  EXPECT_FALSE(measures().empty());
  for (const MeasureEntry& measure : measures()) {
    EXPECT_STRNE(measure.unit, "") << measure.name;
    EXPECT_STRNE(measure.help, "") << measure.name;
    for (const std::string& name : split(measure.name, ','))
      EXPECT_NE(std::find(columns.begin(), columns.end(), std::string(trim(name))), columns.end()) << name;
  }
}

TEST(Catalogue, JsonNamesEverySolverOptionAndMeasure) {
  const std::string solvers = solvers_json();
  for (const SolverEntry& entry : solver_registry()) {
    EXPECT_NE(solvers.find(fmt::format("{{\"name\":\"{}\"", entry.name)), std::string::npos) << entry.name;
    for (const OptionDescription& option : entry.describe())
      EXPECT_NE(solvers.find(fmt::format("{{\"key\":\"{}\"", option.key)), std::string::npos) << option.key;
  }
  for (const MeasureEntry& measure : measures())
    EXPECT_NE(
        measures_json().find(fmt::format("{{\"name\":\"{}\",\"unit\":\"{}\"", measure.name, measure.unit)),
        std::string::npos)
        << measure.name;
}

}  // namespace
}  // namespace signorini::catalogue_test
