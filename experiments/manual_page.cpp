#include "manual_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "harness/environment.h"

namespace signorini {
namespace {

/// Text as it stands: a dash is one that can be copied, and no line is taken for a request.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

/// Lines, an empty one between paragraphs. Lines that follow each other directly stay apart.
std::string paragraphs(const std::string& text) {
  std::string out;
  bool line_before = false;
  for (const std::string& line : split(text, '\n')) {
    if (line.empty())
      out += ".PP\n";
    else
      out += (line_before ? ".br\n" : "") + plain(line) + "\n";
    line_before = !line.empty();
  }
  return out;
}

std::string title_of(const CommandTable& table, const CommandRow& command) {
  return &command == &table.program ? command.name : table.program.name + "-" + command.name;
}

std::string synopsis(const CommandTable& table, const CommandRow& command) {
  if (&command == &table.program)
    return fmt::format(".B {}\n[\\fIoptions\\fR] [\\fICOMMAND\\fR]\n", command.name);
  std::string text = fmt::format(".B {} {}\n[\\fIoptions\\fR]", table.program.name, command.name);
  for (const OptionRow& argument : command.arguments) {
    const std::string name =
        fmt::format("\\fI{}\\fR{}", plain(argument.type), argument.repeated ? " ..." : "");
    text += argument.required ? " " + name : " [" + name + "]";
  }
  return text + "\n";
}

std::string entry(const OptionRow& option, bool argument) {
  std::vector<std::string> names;
  for (const std::string& name : option.names)
    names.push_back(fmt::format("\\f{}{}\\fR", argument ? 'I' : 'B', plain(name)));
  const std::string type =
      argument || option.type.empty() ? "" : fmt::format(" \\fI{}\\fR", plain(option.type));
  return fmt::format(".TP\n{}{}\n{}", fmt::join(names, ", "), type, paragraphs(option.help));
}

std::string entries(const char* title, const std::vector<OptionRow>& options, bool argument = false) {
  if (options.empty()) return {};
  std::string text = fmt::format(".SH {}\n", title);
  for (const OptionRow& option : options) text += entry(option, argument);
  return text;
}

/// The footer of --help in sections: lines with two spaces below "Examples:" are commands, a line that opens with
/// "Exit codes:" or "With --json:" has a section of its own, the others are notes.
std::string footer(const std::string& text) {
  std::string examples, notes, json, exit_codes;
  for (const std::string& line : split(text, '\n')) {
    const auto rest = [&line] { return plain(trim(line.substr(line.find(':') + 1))) + "\n"; };
    if (line.starts_with("  "))
      examples += plain(line.substr(2)) + "\n";
    else if (line.starts_with("Exit codes:"))
      exit_codes += rest();
    else if (line.starts_with("With --json:"))
      json += rest();
    else if (!line.empty() && line != "Examples:")
      notes += (notes.empty() ? "" : ".PP\n") + plain(line) + "\n";
  }
  std::string out;
  if (!examples.empty()) out += fmt::format(".SH EXAMPLES\n.nf\n{}.fi\n", examples);
  if (!notes.empty()) out += fmt::format(".SH NOTES\n{}", notes);
  if (!json.empty()) out += fmt::format(".SH JSON\nWith \\fB\\-\\-json\\fR: {}", json);
  if (!exit_codes.empty()) out += fmt::format(".SH EXIT STATUS\n{}", exit_codes);
  return out;
}

std::string commands(const CommandTable& table) {
  std::string text = ".SH COMMANDS\n";
  for (const CommandRow& command : table.commands)
    text += fmt::format(".TP\n\\fB{}\\fR\n{}\n", plain(command.name), plain(brief(command.description)));
  return text;
}

std::string see_also(const CommandTable& table, const CommandRow& own) {
  std::vector<std::string> names;
  if (&own != &table.program) names.push_back(table.program.name);
  for (const CommandRow& command : table.commands) {
    if (&command != &own) names.push_back(title_of(table, command));
  }
  std::string text = ".SH SEE ALSO\n";
  for (std::size_t i = 0; i < names.size(); ++i)
    text += fmt::format(".BR {} (1){}\n", plain(names[i]), i + 1 < names.size() ? "," : "");
  return text;
}

}  // namespace

std::string manual_page(const CommandTable& table, const CommandRow& command) {
  const bool whole = &command == &table.program;
  const std::string title = title_of(table, command);
  const std::size_t end = command.description.find('\n');
  const std::string more = end == std::string::npos ? "" : command.description.substr(end + 1);
  std::string text = fmt::format(".TH {} 1 \"\" \"signorini {}\" \"Signorini\"\n.nh\n.ad l\n", upper(title),
                                 build_facts().version);
  std::string summary = brief(command.description);
  if (summary.starts_with(title + " ")) summary.erase(0, title.size() + 1);
  text += fmt::format(".SH NAME\n{} \\- {}\n", plain(title), plain(summary));
  text += ".SH SYNOPSIS\n" + synopsis(table, command);
  if (!trim(more).empty()) text += ".SH DESCRIPTION\n" + paragraphs(std::string(trim(more)));
  text += entries("ARGUMENTS", command.arguments, true);
  text += entries("OPTIONS", command.options);
  text += whole ? commands(table) : entries("OPTIONS OF EVERY COMMAND", table.shared);
  return text + footer(command.footer) + see_also(table, command);
}

}  // namespace signorini
