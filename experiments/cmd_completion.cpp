// signorini completion: scripts that complete the command line in a shell.

#include <memory>

#include "commands.h"
#include "json_output.h"
#include "shell_completion.h"
#include "terminal.h"

namespace signorini {

void add_completion(CLI::App& app, Program& program) {
  CLI::App* command = app.add_subcommand(
      "completion",
      "Print a script that completes commands in a shell\n"
      "\n"
      "It completes commands, options, the values that have names (solvers, scenes, experiments, sizes, "
      "region "
      "modes) and files. 'cmake --install' puts the three scripts where bash, zsh and fish look for them.");
  command->footer(
      "Examples:\n"
      "  signorini completion bash > ~/.local/share/bash-completion/completions/signorini\n"
      "  signorini completion fish > ~/.config/fish/completions/signorini.fish\n"
      "  signorini completion zsh > ~/.zfunc/_signorini      with fpath=(~/.zfunc $fpath) before compinit\n"
      "  source <(signorini completion bash)                 in the present bash only\n"
      "\n"
      "With --json: an object with shell and script.\n"
      "Exit codes: 0 success; 2 wrong command line; 5 out of memory.");
  auto shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "bash, zsh or fish")->required();
  command->callback([&program, &app, shell] {
    program.command = [&program, &app, shell] {
      const std::string script = completion_script(command_table(app), parse_enum<Shell>(*shell, "SHELL"));
      if (program.json)
        print_json({{"shell", *shell}, {"script", script}});
      else
        print(script);
      return static_cast<int>(kSuccess);
    };
  });
}

}  // namespace signorini
