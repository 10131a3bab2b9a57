#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <vector>

#include "shell_completion.h"

namespace signorini {
namespace {

using Source = ValueKind::Source;

/// A description for '…[DESCRIPTION]' or 'NAME:DESCRIPTION' within single quotes.
std::string zsh_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";
    else if (std::string_view("[]:\\").find(c) != std::string_view::npos)
      out += std::string("\\") + c;
    else
      out += c;
  }
  return out;
}

/// The action of an _arguments specification. A space before a function: it is called with these words only.
std::string action(const ValueKind& kind) {
  switch (kind.source) {
    case Source::anything:
      return " ";
    case Source::words:
      return kind.several ? fmt::format(" _values -s , word {}", fmt::join(kind.words, " "))
                          : fmt::format("({})", fmt::join(kind.words, " "));
    case Source::files:
      return "_files";
    case Source::folders:
      return "_files -/";
    case Source::names:
      return fmt::format(" _signorini_names {}{}", kind.list, kind.several ? " several" : "");
    case Source::names_and_files:
      break;
  }
  return fmt::format(" _signorini_names_and_files {}", kind.list);
}

/// One specification of _arguments for all names of an option: '(-o --output)'{-o,--output=}'[…]:FILE:_files'.
std::string option_spec(const OptionRow& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.names) {
    const bool with_value = !option.type.empty();
    names.push_back(with_value && name.starts_with("--") ? name + "=" : name);
  }
  std::string excluded = option.repeated ? "*" : fmt::format("({})", fmt::join(option.names, " "));
  std::string tail = fmt::format("[{}]", zsh_escaped(brief(option.help)));
  if (!option.type.empty()) tail += fmt::format(":{}:{}", zsh_escaped(option.type), action(option.value));
  return names.size() == 1 ? fmt::format("'{}{}{}'", excluded, names.front(), tail)
                           : fmt::format("'{}'{{{}}}'{}'", excluded, fmt::join(names, ","), tail);
}

std::string argument_spec(const OptionRow& argument) {
  return fmt::format("'{}:{}:{}'",
                     argument.repeated   ? "*"
                     : argument.required ? "1"
                                         : "1:",
                     zsh_escaped(argument.type), action(argument.value));
}

std::string arguments(const std::vector<OptionRow>& options, const char* indent) {
  std::string text;
  for (const OptionRow& option : options) text += fmt::format(" \\\n{}{}", indent, option_spec(option));
  return text;
}

constexpr const char* kZshHead = R"zsh(#compdef signorini
# Completion of signorini for zsh, written by 'signorini completion zsh'.

# Names that the program knows: solvers, scenes, experiments. "several": a list with commas.
_signorini_names() {
  local -a names
  names=(${(f)"$(_call_program names ${(q)signorini} list $1 --names 2> /dev/null)"})
  if [[ -n ${2-} ]]; then
    _values -s , $1 $names
  else
    compadd -a names
  fi
}

_signorini_names_and_files() {
  _signorini_names $1
  _files
}

_signorini() {
  local curcontext=$curcontext signorini=$words[1] state state_descr line
  typeset -A opt_args
  local -a commands
)zsh";

}  // namespace

std::string zsh_completion(const CommandTable& table) {
  std::string text = kZshHead;
  text += "  commands=(\n";
  for (const CommandRow& command : table.commands)
    text += fmt::format("    '{}:{}'\n", command.name, zsh_escaped(brief(command.description)));
  text += fmt::format(
      "  )\n"
      "  _arguments -C{} \\\n"
      "    '1:command:->command' '*::argument:->argument' && return\n"
      "  case $state in\n"
      "    command) _describe command commands ;;\n"
      "    argument)\n"
      "      case $words[1] in\n",
      arguments(table.program.options, "    "));
  for (const CommandRow& command : table.commands) {
    text += fmt::format("        {})\n          _arguments{}{}", command.name,
                        arguments(command.options, "            "), arguments(table.shared, "            "));
    for (const OptionRow& argument : command.arguments)
      text += fmt::format(" \\\n            {}", argument_spec(argument));
    text += " ;;\n";
  }
  return text +
         "      esac ;;\n"
         "  esac\n"
         "}\n\n"
         "if [[ $funcstack[1] == _signorini ]]; then _signorini \"$@\"; else compdef _signorini signorini; "
         "fi\n";
}

}  // namespace signorini
