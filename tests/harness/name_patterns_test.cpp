#include "harness/name_patterns.h"

#include <gtest/gtest.h>

#include "base/check.h"

namespace signorini::name_patterns_test {
namespace {

using Names = std::vector<std::string>;
const Names kKnown{"pgs", "pcg", "pcg-pgs", "cr-diag", "cr-full", "reference"};

Names chosen(const Names& entries) { return choose_names(entries, "--solver", kKnown); }

std::string refusal(const Names& entries) {
  try {
    chosen(entries);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "none";
}

TEST(NamePatterns, KeepTheOrderAskedForAndEachNameOnce) {
  EXPECT_EQ(chosen({"cr-full", "pgs", "cr-*", "pgs"}), (Names{"cr-full", "pgs", "cr-diag"}));
  EXPECT_EQ(chosen({"all"}), kKnown);
  EXPECT_EQ(chosen({"p?s", "pc[g]"}), (Names{"pgs", "pcg"}));
}

TEST(NamePatterns, ExceptionsHoldWhereverTheyStand) {
  const Names rest{"pgs", "pcg", "pcg-pgs", "cr-diag", "cr-full"};
  EXPECT_EQ(chosen({"all", "-reference"}), rest);
  EXPECT_EQ(chosen({"-reference", "all"}), rest);
  EXPECT_EQ(chosen({"-reference"}), rest);
  EXPECT_EQ(chosen({"-cr-*", "-p*"}), Names{"reference"});
  EXPECT_EQ(chosen({"pgs", "-reference"}), Names{"pgs"});
}

TEST(NamePatterns, MistakesNameTheNearest) {
  EXPECT_EQ(refusal({"pgz"}), "--solver: unknown solver 'pgz' (did you mean 'pgs'?)");
  EXPECT_EQ(refusal({"all", "-referense"}),
            "--solver: unknown solver 'referense' (did you mean 'reference'?)");
  EXPECT_EQ(refusal({"cr-dig*"}), "--solver: no solver fits 'cr-dig*' (did you mean 'cr-diag'?)");
  EXPECT_NE(refusal({"qq*"}).find("(known: pgs, pcg,"), std::string::npos) << refusal({"qq*"});
  EXPECT_NE(refusal({"pgs", "-p*"}).find("--solver pgs,-p*: leaves no solver"), std::string::npos);
  EXPECT_NE(refusal({"-"}).find("unknown solver ''"), std::string::npos) << refusal({"-"});
}

}  // namespace
}  // namespace signorini::name_patterns_test
