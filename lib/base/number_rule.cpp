#include "base/number_rule.h"

#include <fmt/format.h>

#include <cmath>

#include "base/check.h"
#include "base/text.h"

namespace signorini {
namespace {

std::string example_of(const std::string& option, const NumberRule& rule) {
  return fmt::format("e.g. {} {}", option, rule.example);
}

void check_range(const std::string& option, const std::string& text, double value, const NumberRule& rule) {
  if (rule.ends == NumberRule::Ends::least_excluded ? !(value > rule.least) : !(value >= rule.least)) {
    throw_usage("{} {}: must be {} {:g}, {}", option, text,
                rule.ends == NumberRule::Ends::least_excluded ? "above" : "at least", rule.least,
                example_of(option, rule));
  }
  if (value > rule.most) throw_usage("{} {}: must be at most {:.0f}", option, text, rule.most);
}

}  // namespace

double parse_number_option(const std::string& option, const std::string& text, const NumberRule& rule) {
  double value = 0.0;
  try {
    value = parse_double(text, option);
  } catch (const UsageError&) {
    throw_usage("{} {}: not a number, {}", option, text, example_of(option, rule));
  }
  if (!std::isfinite(value)) throw_usage("{} {}: must be finite, {}", option, text, example_of(option, rule));
  check_range(option, text, value, rule);
  return value;
}

long long parse_integer_option(const std::string& option, const std::string& text, const NumberRule& rule) {
  long long value = 0;
  try {
    value = parse_integer(text, option);
  } catch (const UsageError&) {
    double number = 0.0;
    try {
      number = parse_double(text, option);
    } catch (const UsageError&) {
      throw_usage("{} {}: not a number, {}", option, text, example_of(option, rule));
    }
    if (std::isfinite(number)) check_range(option, text, number, rule);
    throw_usage("{} {}: not a whole number in plain digits, {}", option, text, example_of(option, rule));
  }
  check_range(option, text, static_cast<double>(value), rule);
  return value;
}

}  // namespace signorini
