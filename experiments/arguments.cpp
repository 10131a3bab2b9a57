#include "arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <memory>
#include <vector>

#include "base/check.h"
#include "base/text.h"
#include "experiment_session.h"
#include "solve_options.h"
#include "terminal.h"

namespace signorini {
namespace {

// --- names of options --------------------------------------------------------------------------------------

/// The long name, "--output" of "-o,--output".
std::string long_name(const std::string& names) { return split(names, ',').back(); }

template <class Integer>
CLI::Option* add_whole(CLI::App& command, const std::string& name, Integer& value, const NumberRule& rule,
                       const char* type, const std::string& help) {
  NumberRule limited = rule;
  limited.most = std::min(rule.most, static_cast<double>(std::numeric_limits<Integer>::max()));
  const auto read = [&value, limited, option = long_name(name)](const std::string& text) {
    value = static_cast<Integer>(parse_integer_option(option, text, limited));
  };
  return command.add_option_function<std::string>(name, read, help)->type_name(type);
}

// --- mistakes --------------------------------------------------------------------------------------------

std::string command_of(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? std::string() : chosen.front()->get_name();
}

std::string see_help(const CLI::App& app) {
  const std::string command = command_of(app);
  return fmt::format("(see 'signorini {}{}--help')", command, command.empty() ? "" : " ");
}

/// Options of the chosen command, then those of every command.
std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  std::vector<const CLI::Option*> options;
  for (const CLI::App* chosen : app.get_subcommands()) {
    for (const CLI::Option* option : chosen->get_options()) options.push_back(option);
  }
  for (const CLI::Option* option : app.get_options()) options.push_back(option);
  return options;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : options_of(app)) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

bool is_option(const std::string& word) { return word.size() > 1 && word[0] == '-' && word != "--"; }

/// Words that are no option of the command. A single dash before a long name counts as two.
void check_unknown_options(const CLI::App& app) {
  const std::vector<std::string> known = option_names(app);
  for (const std::string& word : app.remaining(true)) {
    if (!is_option(word)) continue;
    const std::string name = word.substr(0, word.find('='));
    const std::string long_form = name[1] != '-' && name.size() > 2 ? "-" + name : name;
    const bool near = !nearest_name(long_form, known).empty();
    const std::string command = command_of(app);
    throw_usage("{}: unknown option{}{}{} {}", name, command.empty() ? "" : " of '", command,
                command.empty() ? "" : "'",
                near ? std::string(trim(suggestion(long_form, known))) : see_help(app));
  }
}

/// Empty values, values that are options themselves (the value was forgotten), values given twice.
void check_values(const CLI::App& app) {
  const std::vector<std::string> known = option_names(app);
  for (const CLI::Option* option : options_of(app)) {
    if (option->get_items_expected_max() == 0) continue;
    const std::string name = option->get_name();
    const std::vector<std::string>& values = option->results();
    for (const std::string& value : values) {
      if (value.empty()) throw_usage("{}: the value is empty; give {}", name, option->get_type_name());
      if (std::find(known.begin(), known.end(), value.substr(0, value.find('='))) != known.end())
        throw_usage("{}: the value is missing before {}; give {}", name, value, option->get_type_name());
    }
    if (values.size() > 1 && option->get_multi_option_policy() == CLI::MultiOptionPolicy::Throw &&
        option->get_expected_max() == 1)
      throw_usage("{}: given {} times ({}); give it once", name, values.size(), fmt::join(values, ", "));
  }
}

/// The option whose name, with or without its dashes, opens the message of CLI11; null when none does.
const CLI::Option* option_in(const CLI::App& app, std::string_view text) {
  for (const CLI::Option* option : options_of(app)) {
    const std::string name = option->get_name();
    const std::string bare = name.substr(std::min(name.size(), name.find_first_not_of('-')));
    for (const std::string& start : {name + ":", name + " ", bare + " "}) {
      if (text.starts_with(start)) return option;
    }
  }
  return nullptr;
}

std::string example_line(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  if (chosen.empty()) return {};
  for (const std::string& line : split(chosen.front()->get_footer(), '\n')) {
    if (!line.starts_with("  signorini ")) continue;
    const std::string_view words = trim(line);
    return fmt::format("; e.g. {}", trim(words.substr(0, words.find("   "))));
  }
  return {};
}

/// What CLI11 found wrong, in our words.
[[noreturn]] void throw_mistake(const CLI::App& app, const CLI::ParseError& error) {
  const std::string command = command_of(app);
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    for (const CLI::Option* option : options_of(app)) {
      if (option->get_required() && option->count() == 0)
        throw_usage("{}: {} is missing{} {}", command, option->get_name(), example_line(app), see_help(app));
    }
  }
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const std::vector<std::string> words = app.remaining(true);
    if (!words.empty()) throw_usage("{}: unexpected argument '{}' {}", command, words.front(), see_help(app));
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    if (const CLI::Option* option = option_in(app, error.what())) {
      if (option->get_items_expected_max() == 0)
        throw_usage("{}: takes no value {}", option->get_name(), see_help(app));
      throw_usage("{}: the value is missing; give {}", option->get_name(), option->get_type_name());
    }
  }
  throw_usage("the command line cannot be read {}", see_help(app));
}

// --- help ------------------------------------------------------------------------------------------------

constexpr std::size_t kTermColumns = 30;

/// A name and what it means, side by side.
std::string entry_text(const std::string& name, const std::string& meaning) {
  std::string text = "  " + name;
  bool first = true;
  for (const std::string& line : wrapped_lines(meaning, text_columns() - kTermColumns)) {
    if (first && text_width(text) + 1 < kTermColumns)
      text += std::string(kTermColumns - text_width(text), ' ');
    else
      text += "\n" + std::string(kTermColumns, ' ');
    text += line;
    first = false;
  }
  return text + "\n";
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// "  signorini …   what it does": too long a command goes on after a backslash, and what it does stands below.
std::string example_text(const std::string& line) {
  const std::string words = line.substr(line.find_first_not_of(' '));
  const std::size_t gap = std::min(words.find("   "), words.size());
  const std::string meaning = gap < words.size() ? words.substr(words.find_first_not_of(' ', gap)) : "";
  // An option and its value stay together.
  constexpr char kGlue = '\x01';
  std::string glued = words.substr(0, gap);
  for (std::size_t at = glued.find(" -"); at != std::string::npos; at = glued.find(" -", at + 1)) {
    const std::size_t space = glued.find(' ', at + 1);
    if (space < glued.size() && glued[space + 1] != '-') glued[space] = kGlue;
  }
  std::vector<std::string> command = wrapped_lines(glued, text_columns() - 8);
  for (std::string& part : command) std::ranges::replace(part, kGlue, ' ');
  std::string text = "  " + command.front();
  for (std::size_t i = 1; i < command.size(); ++i) text += " \\\n      " + command[i];
  text += "\n";
  if (meaning.empty()) return text;
  return text + fmt::format("      {}\n", fmt::join(wrapped_lines(meaning, text_columns() - 6), "\n      "));
}

std::string footer_text(const std::string& line) {
  if (text_width(line) <= text_columns()) return line + "\n";
  if (line.starts_with("  ")) return example_text(line);
  return fmt::format("{}\n", fmt::join(wrapped_lines(line, text_columns()), "\n"));
}

class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_description(const CLI::App* app) const override {
    return fmt::format("{}\n", fmt::join(wrapped_lines(app->get_description(), text_columns()), "\n"));
  }
  std::string make_usage(const CLI::App* app, std::string name) const override {
    return "\n" + CLI::Formatter::make_usage(app, std::move(name));
  }
  std::string make_option(const CLI::Option* option, bool positional) const override {
    return entry_text(make_option_name(option, positional) + make_option_opts(option),
                      option->get_description());
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_type_size() == 0) return {};
    if (option->get_positional()) return option->get_expected_max() > 1 ? " ..." : "";
    return " " + option->get_type_name();
  }
  /// The options of every command stand below those of each.
  std::string make_footer(const CLI::App* app) const override {
    std::string text;
    if (app->get_parent() != nullptr) {
      text = "Options of every command:\n";
      for (const CLI::Option* option : app->get_parent()->get_options()) {
        if (option == app->get_parent()->get_help_ptr() || option->check_lname("version")) continue;
        text += make_option(option, false);
      }
      text += "\n";
    }
    for (const std::string& line : split(app->get_footer(), '\n')) text += footer_text(line);
    return text;
  }
  std::string make_subcommand(const CLI::App* command) const override {
    return entry_text(command->get_name(), first_line(command->get_description()));
  }
};

}  // namespace

CLI::Option* add_number(CLI::App& command, const std::string& name, double& value, const NumberRule& rule,
                        const char* type, const std::string& help) {
  const auto read = [&value, rule, option = long_name(name)](const std::string& text) {
    value = parse_number_option(option, text, rule);
  };
  return command.add_option_function<std::string>(name, read, help)->type_name(type);
}

CLI::Option* add_integer(CLI::App& command, const std::string& name, int& value, const NumberRule& rule,
                         const char* type, const std::string& help) {
  return add_whole(command, name, value, rule, type, help);
}

CLI::Option* add_integer(CLI::App& command, const std::string& name, long long& value, const NumberRule& rule,
                         const char* type, const std::string& help) {
  return add_whole(command, name, value, rule, type, help);
}

void add_matrix_option(CLI::App& command, std::string& matrix) {
  command
      .add_option("--matrix", matrix,
                  "How to read an M of which the file holds one triangle: symmetric (fill up the other "
                  "triangle) or as-stored (default: symmetric)")
      ->type_name("HOW");
}

void add_limit_options(CLI::App& command, double& tolerance, int& max_iterations, double& time_limit,
                       std::string_view default_time_limit) {
  add_number(command, "--tolerance", tolerance,
             {.least = 0.0, .example = "1e-6", .ends = NumberRule::Ends::least_excluded}, "T",
             "Stop when the residual is at most T. The residual is relative and has no unit; see "
             "'signorini list measures' (default: 1e-6)");
  add_integer(command, "--max-iterations", max_iterations, {.least = 1, .example = "10000"}, "N",
              "Stop after N iterations (default: 10000)");
  add_number(command, "--time-limit", time_limit,
             {.least = 0.0, .example = "60", .ends = NumberRule::Ends::least_excluded}, "S",
             fmt::format("Stop each solve after S seconds (default: {})", default_time_limit));
}

void add_setting_option(CLI::App& command, std::vector<std::string>& settings) {
  command
      .add_option(
          "--set", settings,
          "Change an option of a solver; may be repeated ('signorini list solvers' shows the options)")
      ->type_name("NAME.KEY=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_plugin_option(CLI::App& command, std::vector<std::string>& plugins) {
  command
      .add_option(
          "--plugin", plugins,
          "Also know the solvers of this shared library; may be repeated. It is code that runs with your "
          "rights: load only what you trust (docs/adding-a-solver.md)")
      ->type_name("LIB.so")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

ParsedArguments parse_arguments(CLI::App& app, int argc, char** argv) {
  for (CLI::App* part : app.get_subcommands([](const CLI::App*) { return true; })) {
    for (CLI::Option* option : part->get_options()) {
      if (option->get_items_expected_max() == 0) option->disable_flag_override();
    }
  }
  for (CLI::Option* option : app.get_options()) {
    if (option->get_items_expected_max() == 0) option->disable_flag_override();
  }
  const auto check = [&app] {
    check_unknown_options(app);
    check_values(app);
  };
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      app.exit(error);
      return ParsedArguments::help_shown;
    }
    check();
    throw_mistake(app, error);
  } catch (const UsageError&) {
    check();
    throw;
  }
  check();
  return ParsedArguments::run;
}

void use_help_format(CLI::App& app) {
  auto formatter = std::make_shared<HelpFormatter>();
  formatter->label("Positionals", "Arguments");
  formatter->label("OPTIONS", "options");
  formatter->label("SUBCOMMAND", "COMMAND");
  app.formatter(formatter);
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    command->formatter(formatter);
    command->group("Commands");
  }
}

void add_result_options(CLI::App& command, SessionOptions& options) {
  command
      .add_option("--size", options.size,
                  "quick (seconds), medium (minutes) or paper (the papers' object counts, up to hours) "
                  "(default: quick)")
      ->type_name("SIZE");
  command.add_option("--out", options.out, "Folder for results (default: results/out)")->type_name("DIR");
  command.add_flag("--resume", options.resume,
                   "Keep finished rows of the same program, experiment and recording");
  add_list(
      command, "--again", options.again,
      "With --resume: make runs again that ended so: time_limit (a busy machine meets it early), failed, "
      "iteration_limit, stalled, diverged, unsupported or converged",
      "STATUS[,STATUS]");
  command.add_flag("--force", options.force,
                   "Replace existing results (with --resume: those that do not fit) and recordings of other "
                   "versions");
}

}  // namespace signorini
