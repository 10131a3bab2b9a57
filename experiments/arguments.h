#pragma once

#include <CLI/App.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/number_rule.h"

/// The command line: numbers with their range, help in 100 columns, and every mistake told in one line that
/// names the option and the value and says what to do. CLI11 finds the words; its own messages never show.
namespace signorini {

struct SessionOptions;

/// A finite number within its rule. "inf" and "nan" are refused.
CLI::Option* add_number(CLI::App& command, const std::string& name, double& value, const NumberRule& rule,
                        const char* type, const std::string& help);
/// A whole number in decimal digits.
CLI::Option* add_integer(CLI::App& command, const std::string& name, int& value, const NumberRule& rule,
                         const char* type, const std::string& help);
CLI::Option* add_integer(CLI::App& command, const std::string& name, long long& value, const NumberRule& rule,
                         const char* type, const std::string& help);

/// --matrix of the commands that read problems.
void add_matrix_option(CLI::App& command, std::string& matrix);

/// --tolerance, --max-iterations and --time-limit of the commands that solve.
void add_limit_options(CLI::App& command, double& tolerance, int& max_iterations, double& time_limit,
                       std::string_view default_time_limit = "no limit");

/// --set of the commands that name solvers.
void add_setting_option(CLI::App& command, std::vector<std::string>& settings);

/// --plugin of the commands that name solvers.
void add_plugin_option(CLI::App& command, std::vector<std::string>& plugins);

enum class ParsedArguments { run, help_shown };

/// Puts `argv` into the variables of the options. `help_shown` when --help was asked for and is on stdout.
/// Throws `UsageError` for every mistake.
ParsedArguments parse_arguments(CLI::App& app, int argc, char** argv);

/// The look of --help: paragraphs and columns within 100 columns, options of every command at its end.
void use_help_format(CLI::App& app);

/// --size, --out, --resume, --again and --force, which `run` and `reproduce` share.
void add_result_options(CLI::App& command, SessionOptions& options);

}  // namespace signorini
