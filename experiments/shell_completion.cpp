#include "shell_completion.h"

namespace signorini {

std::string completion_script(const CommandTable& table, Shell shell) {
  switch (shell) {
    case Shell::bash:
      return bash_completion(table);
    case Shell::zsh:
      return zsh_completion(table);
    case Shell::fish:
      break;
  }
  return fish_completion(table);
}

}  // namespace signorini
