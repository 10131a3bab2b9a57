#include "solvers/retired_options.h"

#include <gtest/gtest.h>

#include "base/check.h"
#include "solvers/registry.h"

namespace signorini::retired_options_test {
namespace {

std::string refusal(std::string_view solver, const OptionMap& options) {
  try {
    make_solver(solver, options);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

std::vector<std::string_view> solvers_of(const RetiredOption& retired) {
  std::vector<std::string_view> names;
  for (const std::string_view name : retired.solvers)
    if (!name.empty()) names.push_back(name);
  return names;
}

TEST(RetiredOptions, AreRefusedWithWhatToWriteInstead) {
  for (const RetiredOption& retired : retired_options()) {
    for (const std::string_view solver : solvers_of(retired))
      EXPECT_EQ(refusal(solver, {{std::string(retired.key), "7"}, {"law", "cone"}}),
                fmt::format("solver '{}': option '{}' = 7 no longer exists: {}", solver, retired.key,
                            retired.instead));
  }
}

/// A row for a solver or an option that exists would be dead, or would refuse what works.
TEST(RetiredOptions, NameSolversThatExistAndOptionsThatDoNot) {
  for (const RetiredOption& retired : retired_options()) {
    EXPECT_FALSE(solvers_of(retired).empty()) << retired.key;
    for (const std::string_view solver : solvers_of(retired)) {
      const auto entries = solver_registry();
      const auto entry = std::ranges::find(entries, solver, &SolverEntry::name);
      ASSERT_NE(entry, entries.end()) << solver;
      for (const OptionDescription& option : entry->describe()) EXPECT_NE(option.key, retired.key) << solver;
    }
  }
}

TEST(RetiredOptions, DoNotTouchTheSameKeyOfOtherSolvers) {
  EXPECT_EQ(refusal("ica", {{"inner_max", "100"}}), "");
  EXPECT_EQ(refusal("cr-diag", {{"patience", "0"}, {"postpone", "0"}}), "");
  EXPECT_EQ(refusal("reference", {{"max_gib", "4"}}),
            "solver 'reference': unknown option 'max_gib' (known: law, frame, warm_start)");
}

}  // namespace
}  // namespace signorini::retired_options_test
