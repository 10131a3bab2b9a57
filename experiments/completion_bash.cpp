#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <vector>

#include "shell_completion.h"

namespace signorini {
namespace {

using Source = ValueKind::Source;

/// What fills COMPREPLY for a value that is being typed.
std::string bash_offer(const ValueKind& kind) {
  switch (kind.source) {
    case Source::anything:
      return ":";
    case Source::words:
      return fmt::format("_signorini_words '{}' {}", fmt::join(kind.words, "\n"), kind.several ? "," : "");
    case Source::files:
      return "_signorini_paths -f";
    case Source::folders:
      return "_signorini_paths -d";
    case Source::names:
    case Source::names_and_files:
      break;
  }
  const std::string names =
      fmt::format("_signorini_words \"$(_signorini_names {})\" {}", kind.list, kind.several ? "," : "");
  return kind.source == Source::names ? names : names + "; _signorini_paths -f";
}

/// Patterns "solve:--solver" of the options with a value, by what is offered for it.
std::map<std::string, std::vector<std::string>> values_by_offer(const CommandTable& table) {
  std::map<std::string, std::vector<std::string>> offers;
  const auto add = [&offers](const std::string& command, const CommandRow& row) {
    for (const OptionRow& option : row.options) {
      if (option.type.empty()) continue;
      for (const std::string& name : option.names)
        offers[bash_offer(option.value)].push_back(command + ":" + name);
    }
  };
  add("*", table.program);
  for (const CommandRow& command : table.commands) add(command.name, command);
  return offers;
}

std::vector<std::string> names_of(const std::vector<OptionRow>& options) {
  std::vector<std::string> names;
  for (const OptionRow& option : options) names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

constexpr const char* kBashHead =
    R"bash(# Completion of signorini for bash, written by 'signorini completion bash'.

# Names that the program knows: solvers, scenes, experiments.
_signorini_names() {
    "${COMP_WORDS[0]/#\~/$HOME}" list "$1" --names 2> /dev/null
}

# Offers the lines of $1. With a separator in $2 the word is a list, and its last entry is completed.
_signorini_words() {
    local before='' typed=$current
    if [[ -n ${2-} ]]; then
        typed=${current##*"$2"}
        before=${current%"$typed"}
        compopt -o nospace 2> /dev/null
    fi
    local IFS=$'\n'
    COMPREPLY+=($(compgen -P "$before" -W "$1" -- "$typed"))
}

# Offers files (-f) or folders (-d).
_signorini_paths() {
    local IFS=$'\n'
    compopt -o filenames 2> /dev/null
    COMPREPLY+=($(compgen "$1" -- "$current"))
}

_signorini() {
    local current=${COMP_WORDS[COMP_CWORD]} command='' option='' word i
    COMPREPLY=()
    # The command, and the option whose value is being typed. bash makes '=' a word of its own.
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ $word == '=' ]]; then continue; fi
        if [[ -n $option ]]; then option=''; continue; fi
)bash";

constexpr const char* kTail = R"bash(
complete -F _signorini signorini
)bash";

}  // namespace

std::string bash_completion(const CommandTable& table) {
  const auto offers = values_by_offer(table);
  std::vector<std::string> with_value, commands;
  for (const auto& [offer, patterns] : offers)
    with_value.insert(with_value.end(), patterns.begin(), patterns.end());
  for (const CommandRow& command : table.commands) commands.push_back(command.name);

  std::string text = kBashHead;
  text += fmt::format(
      "        case $command:$word in\n"
      "            {}) option=$word ;;\n"
      "            *:-*) ;;\n"
      "            :*) command=$word ;;\n"
      "        esac\n"
      "    done\n"
      "    if [[ $current == '=' ]]; then current=''; fi\n\n"
      "    if [[ -n $option ]]; then\n"
      "        case $command:$option in\n",
      fmt::join(with_value, " | "));
  for (const auto& [offer, patterns] : offers)
    text += fmt::format("            {})\n                {} ;;\n", fmt::join(patterns, " | "), offer);
  text += fmt::format(
      "        esac\n"
      "        return\n"
      "    fi\n\n"
      "    if [[ $current == -* ]]; then\n"
      "        case $command in\n"
      "            '') _signorini_words '{}' ;;\n",
      fmt::join(names_of(table.program.options), "\n"));
  for (const CommandRow& command : table.commands) {
    std::vector<std::string> names = names_of(command.options);
    for (const std::string& name : names_of(table.shared)) names.push_back(name);
    text += fmt::format("            {}) _signorini_words '{}' ;;\n", command.name, fmt::join(names, "\n"));
  }
  text += fmt::format(
      "        esac\n"
      "        return\n"
      "    fi\n\n"
      "    case $command in\n"
      "        '') _signorini_words '{}' ;;\n",
      fmt::join(commands, "\n"));
  for (const CommandRow& command : table.commands) {
    for (const OptionRow& argument : command.arguments)
      text += fmt::format("        {}) {} ;;\n", command.name, bash_offer(argument.value));
  }
  return text + "    esac\n}" + kTail;
}

}  // namespace signorini
