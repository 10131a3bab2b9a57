#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "base/options.h"
#include "option_table.h"

/// Scripts that complete the command line of signorini in a shell. Names of solvers, scenes and experiments are asked
/// from the program when they are needed, all else stands in the script.
namespace signorini {

enum class Shell { bash, zsh, fish };
template <>
struct EnumNames<Shell> {
  static constexpr std::array<std::pair<Shell, std::string_view>, 3> value{
      {{Shell::bash, "bash"}, {Shell::zsh, "zsh"}, {Shell::fish, "fish"}}};
};

std::string completion_script(const CommandTable& table, Shell shell);

std::string bash_completion(const CommandTable& table);
std::string zsh_completion(const CommandTable& table);
std::string fish_completion(const CommandTable& table);

}  // namespace signorini
