#pragma once

#include <limits>
#include <string>

/// Numbers on a command line: which ones an option takes, and what is wrong with the others in one line that
/// names the option and the text and gives an example.
namespace signorini {

/// Which numbers an option takes; the error messages name them.
struct NumberRule {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::max();
  const char* example = "1";
  enum class Ends { included, least_excluded } ends = Ends::included;
};

/// A finite number within its rule. Throws `UsageError`.
double parse_number_option(const std::string& option, const std::string& text, const NumberRule& rule);
/// The same for a whole number in decimal digits: "1e4" is refused.
long long parse_integer_option(const std::string& option, const std::string& text, const NumberRule& rule);

}  // namespace signorini
