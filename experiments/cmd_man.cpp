// signorini man: manual pages.

#include <algorithm>
#include <memory>

#include "base/check.h"
#include "base/text.h"
#include "commands.h"
#include "json_output.h"
#include "manual_page.h"
#include "terminal.h"

namespace signorini {
namespace {

const CommandRow& find_command(const CommandTable& table, const std::string& name) {
  if (name.empty()) return table.program;
  const auto found = std::ranges::find(table.commands, name, &CommandRow::name);
  if (found != table.commands.end()) return *found;
  std::vector<std::string> names;
  for (const CommandRow& command : table.commands) names.push_back(command.name);
  throw_usage("man: unknown command '{}'{}", name, suggestion(name, names));
}

}  // namespace

void add_man(CLI::App& app, Program& program) {
  CLI::App* command = app.add_subcommand(
      "man",
      "Print the manual page of a command, or of the program\n"
      "\n"
      "It says what --help says, for man. 'cmake --install' puts all pages where man looks for them.");
  command->footer(
      "Examples:\n"
      "  signorini man solve | man -l -      read it without installing\n"
      "  man signorini-solve                 read it where it is installed\n"
      "\n"
      "With --json: an object with name and page (the text with man(7) macros).\n"
      "Exit codes: 0 success; 2 wrong command line; 5 out of memory.");
  auto name = std::make_shared<std::string>();
  command->add_option("COMMAND", *name, "Command of signorini (default: the program as a whole)");
  command->callback([&program, &app, name] {
    program.command = [&program, &app, name] {
      const CommandTable table = command_table(app);
      const CommandRow& row = find_command(table, *name);
      const std::string page = manual_page(table, row);
      if (program.json)
        print_json({{"name", row.name}, {"page", page}});
      else
        print(page);
      return static_cast<int>(kSuccess);
    };
  });
}

}  // namespace signorini
