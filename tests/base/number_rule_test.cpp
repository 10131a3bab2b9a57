// Numbers of options: what is taken, and the line that says what is wrong with the rest.

#include "base/number_rule.h"

#include <gtest/gtest.h>

#include "base/check.h"

namespace signorini::number_rule_test {
namespace {

constexpr NumberRule kTolerance{.least = 0.0, .example = "1e-6", .ends = NumberRule::Ends::least_excluded};
constexpr NumberRule kThreads{.least = 1, .most = 1024, .example = "2"};

template <class Call>
std::string mistake(Call&& call) {
  try {
    call();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}
std::string number_mistake(const std::string& text) {
  return mistake([&] { parse_number_option("--tolerance", text, kTolerance); });
}
std::string integer_mistake(const std::string& text) {
  return mistake([&] { parse_integer_option("--threads", text, kThreads); });
}

TEST(NumberRule, TakesWhatLiesWithin) {
  EXPECT_EQ(parse_number_option("--tolerance", "1e-6", kTolerance), 1e-6);
  EXPECT_EQ(parse_number_option("--x", "-0.25", {}), -0.25);
  EXPECT_EQ(parse_integer_option("--threads", "1", kThreads), 1) << "ends are included";
  EXPECT_EQ(parse_integer_option("--threads", "1024", kThreads), 1024);
  EXPECT_EQ(parse_integer_option("--seed", "9007199254740993", {}), 9007199254740993LL)
      << "more digits than a double has";
}

TEST(NumberRule, TellsTheOptionTheTextAndAnExample) {
  EXPECT_EQ(number_mistake("abc"), "--tolerance abc: not a number, e.g. --tolerance 1e-6");
  EXPECT_EQ(number_mistake("inf"), "--tolerance inf: must be finite, e.g. --tolerance 1e-6");
  EXPECT_EQ(number_mistake("nan"), "--tolerance nan: must be finite, e.g. --tolerance 1e-6");
  EXPECT_EQ(number_mistake("0"), "--tolerance 0: must be above 0, e.g. --tolerance 1e-6");
  EXPECT_EQ(integer_mistake("x"), "--threads x: not a number, e.g. --threads 2");
  EXPECT_EQ(integer_mistake("0"), "--threads 0: must be at least 1, e.g. --threads 2");
  EXPECT_EQ(integer_mistake("1025"), "--threads 1025: must be at most 1024");
}

TEST(NumberRule, WholeNumbersArePlainDigits) {
  EXPECT_EQ(integer_mistake("1e2"), "--threads 1e2: not a whole number in plain digits, e.g. --threads 2");
  EXPECT_EQ(integer_mistake("1.5"), "--threads 1.5: not a whole number in plain digits, e.g. --threads 2");
  EXPECT_EQ(integer_mistake("1e5"), "--threads 1e5: must be at most 1024") << "the range is told first";
  EXPECT_EQ(integer_mistake("99999999999999999999"), "--threads 99999999999999999999: must be at most 1024");
}

}  // namespace
}  // namespace signorini::number_rule_test
