#include "base/options.h"

#include <gtest/gtest.h>

namespace signorini {
namespace {

enum class Colour { red, green };

}  // namespace

template <>
struct EnumNames<Colour> {
  static constexpr std::array<std::pair<Colour, std::string_view>, 2> value{
      {{Colour::red, "red"}, {Colour::green, "green"}}};
};

namespace {

struct Sample {
  int count = 3;
  double omega = 0.1;
  bool loud = false;
  Colour colour = Colour::red;

  template <class Visitor>
  void visit(Visitor& v) {
    v("count", count, "how many");
    v("omega", omega, "0 < omega < 2");
    v("loud", loud, "noise");
    v("colour", colour, "paint");
  }
  void validate() const {
    if (!(omega > 0.0 && omega < 2.0)) throw_usage("omega: {} is not between 0 and 2", omega);
  }
};

std::string message_of(const OptionMap& values) {
  Sample sample;
  try {
    apply_options(sample, values, "solver 'x'");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Options, SetEveryFieldByName) {
  Sample sample;
  apply_options(sample, {{"count", "7"}, {"omega", "1.5"}, {"loud", "true"}, {"colour", "green"}}, "x");
  EXPECT_EQ(options_text(sample), "count=7;omega=1.5;loud=true;colour=green");
}

TEST(Options, UnknownKeyNamesTheNearest) {
  EXPECT_EQ(message_of({{"omgea", "1"}}), "solver 'x': unknown option 'omgea' (did you mean 'omega'?)");
}

TEST(Options, BadValuesAreRefused) {
  EXPECT_EQ(message_of({{"count", "3.5"}}), "solver 'x': option 'count': '3.5' is not a whole number");
  EXPECT_EQ(message_of({{"count", "99999999999"}}),
            "solver 'x': option 'count': 99999999999 does not fit a 32-bit integer");
  EXPECT_EQ(message_of({{"omega", "2"}}), "omega: 2 is not between 0 and 2");
  EXPECT_EQ(message_of({{"colour", "blue"}}),
            "solver 'x': option 'colour': unknown value 'blue' (known: red, green)");
  EXPECT_NE(message_of({{"omega", "nan"}}), "");
}

TEST(Options, TextOfADoubleReadsBackExactly) {
  Sample sample;
  sample.omega = 0.1 + 0.2;
  Sample copy;
  OptionMap values;
  for (const OptionDescription& row : describe_options(sample)) values[row.key] = row.value;
  apply_options(copy, values, "x");
  EXPECT_EQ(copy.omega, sample.omega);
}

}  // namespace
}  // namespace signorini
