#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <vector>

#include "shell_completion.h"

namespace signorini {
namespace {

using Source = ValueKind::Source;

std::string fish_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

/// What stands behind `complete …` for a value: -x takes no files, -F files too.
std::string fish_offer(const ValueKind& kind) {
  switch (kind.source) {
    case Source::anything:
      return "-x";
    case Source::words:
      return kind.several
                 ? fmt::format("-x -a \"(__fish_complete_list , 'string split \\\" \\\" \\\"{}\\\"')\"",
                               fmt::join(kind.words, " "))
                 : fmt::format("-x -a '{}'", fmt::join(kind.words, " "));
    case Source::files:
      return "-r -F";
    case Source::folders:
      return "-x -a '(__fish_complete_directories)'";
    case Source::names:
      return kind.several
                 ? fmt::format("-x -a \"(__fish_complete_list , '__signorini_names {}')\"", kind.list)
                 : fmt::format("-x -a '(__signorini_names {})'", kind.list);
    case Source::names_and_files:
      break;
  }
  return fmt::format("-r -F -a '(__signorini_names {})'", kind.list);
}

std::string option_lines(const std::string& condition, const std::vector<OptionRow>& options) {
  std::string text;
  for (const OptionRow& option : options) {
    text += fmt::format("complete -c signorini -n {}", fish_quoted(condition));
    for (const std::string& name : option.names)
      text += name.starts_with("--") ? fmt::format(" -l {}", name.substr(2))
                                     : fmt::format(" -s {}", name.substr(1));
    if (!option.type.empty()) text += " " + fish_offer(option.value);
    text += fmt::format(" -d {}\n", fish_quoted(brief(option.help)));
  }
  return text;
}

constexpr const char* kFishHead =
    R"fish(# Completion of signorini for fish, written by 'signorini completion fish'.

# The command on the command line.
function __signorini_command
    set -l value no
    for word in (commandline -opc)[2..]
        if test $value = yes
            set value no
        else if test "$word" = --configs
            set value yes
        else if not string match -q -- '-*' $word
            echo $word
            return 0
        end
    end
    return 1
end

function __signorini_has
    test "$(__signorini_command)" = $argv[1]
end

# Names that the program knows: solvers, scenes, experiments.
function __signorini_names
    set -l words (commandline -opc)
    $words[1] list $argv[1] --names 2>/dev/null
end

complete -c signorini -f
)fish";

}  // namespace

std::string fish_completion(const CommandTable& table) {
  std::string text = kFishHead;
  const std::string none = "not __signorini_command > /dev/null";
  text += option_lines(none, table.program.options);
  for (const CommandRow& command : table.commands)
    text += fmt::format("complete -c signorini -n {} -a {} -d {}\n", fish_quoted(none), command.name,
                        fish_quoted(brief(command.description)));
  for (const CommandRow& command : table.commands) {
    const std::string condition = "__signorini_has " + command.name;
    text += "\n" + option_lines(condition, command.options) + option_lines(condition, table.shared);
    for (const OptionRow& argument : command.arguments)
      text +=
          fmt::format("complete -c signorini -n {} {}\n", fish_quoted(condition), fish_offer(argument.value));
  }
  return text;
}

}  // namespace signorini
