// signorini: record contact problems, split them into regions, solve them with every solver, compare.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/text.h"
#include "commands.h"
#include "harness/environment.h"
#include "interrupt.h"
#include "terminal.h"

namespace signorini {
namespace {

constexpr const char* kDescription =
    "signorini: a testbed for frictional contact solvers on deformable bodies.\n"
    "\n"
    "A scene is simulated and every contact problem on its way is recorded; every solver then runs on\n"
    "the same recorded problems, whole and split into detached regions, and one referee measures all.";

constexpr const char* kExamples =
    "Examples:\n"
    "  signorini list solvers                               what can be compared, with all options\n"
    "  signorini record bucket -o bucket.h5                 simulate a scene, keep its contact problems\n"
    "  signorini info bucket.h5                             what is inside\n"
    "  signorini solve bucket.h5 --solver pgs,pcg-pgs       solve every recorded problem\n"
    "  signorini reproduce                                  record, run and report: tables, figures, claims\n"
    "\n"
    "Data goes to stdout, everything else to stderr. 'signorini COMMAND --help' explains each command.\n"
    "Exit codes: 0 success, 1 a run failed, 2 usage, 3 bad input file, 4 not converged\n"
    "(with --require-converged), 130 interrupted (what was finished is kept).";

/// The first word that is not an option, when it names no command.
void check_command(const CLI::App& app, const std::vector<std::string>& arguments) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    if (arguments[i] == "--configs") {
      ++i;
    } else if (arguments[i].rfind('-', 0) != 0) {
      if (std::find(names.begin(), names.end(), arguments[i]) == names.end()) {
        throw_usage("unknown command '{}'{}", arguments[i], suggestion(arguments[i], names));
      }
      return;
    }
  }
}

/// Usage line apart from the description, no type beside positional names that speak for themselves.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* app, std::string name) const override {
    return "\n" + CLI::Formatter::make_usage(app, std::move(name));
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_type_size() == 0) return {};
    if (option->get_positional() && option->get_type_name() == "TEXT")
      return option->get_expected_max() > 1 ? " ..." : "";
    return " " + option->get_type_name();
  }
};

int run_program(int argc, char** argv) {
  Program program;
  program.command_line.assign(argv, argv + argc);
  bool version = false;

  CLI::App app(kDescription, "signorini");
  app.footer(kExamples);
  auto formatter = std::make_shared<HelpFormatter>();
  formatter->column_width(30);
  app.formatter(formatter);
  app.set_help_flag("-h,--help", "Show this text and exit");
  app.add_flag("--version", version,
               "Version, git revision, compiler, flags and libraries (--json for machines)");
  app.add_flag("--json", program.json, "JSON instead of tables, where a command has it");
  app.add_option("--configs", program.configs,
                 "Folder with scenes/ and experiments/ (default: found beside the program)")
      ->type_name("DIR");
  app.require_subcommand(0, 1);
  app.fallthrough();
  add_list(app, program);
  add_record(app, program);
  add_info(app, program);
  add_solve(app, program);
  add_run(app, program);
  add_export(app, program);
  add_reproduce(app, program);

  check_command(app, program.command_line);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      app.exit(error);
      return kSuccess;
    }
    std::string text = error.what();
    for (char& c : text) c = c == '\n' ? ' ' : c;
    std::string command;
    for (const CLI::App* chosen : app.get_subcommands()) command = chosen->get_name() + " ";
    throw_usage("{} (see 'signorini {}--help')", trim(text), command);
  }
  if (version) {
    print((program.json ? build_json() : build_text()) + "\n");
    return kSuccess;
  }
  if (!program.command) {
    say(app.help());
    return kUsage;
  }
  return program.command();
}

}  // namespace
}  // namespace signorini

int main(int argc, char** argv) {
  using namespace signorini;
  install_interrupt_handlers();
  limit_blas_threads();
  try {
    return run_program(argc, argv);
  } catch (const Interrupted&) {
    const std::vector<std::string> words(argv, argv + argc);
    const bool resumable = std::any_of(words.begin(), words.end(), [](const std::string& word) {
      return word == "record" || word == "run" || word == "reproduce";
    });
    say(resumable ? "interrupted: what was finished is kept; the same command with --resume goes on"
                  : "interrupted: what was finished is kept");
    return kInterrupted;
  } catch (const UsageError& error) {
    say_error(error.what());
    return kUsage;
  } catch (const InputError& error) {
    say_error(error.what());
    return kBadInput;
  } catch (const std::bad_alloc&) {
    say_error("out of memory");
    return kRunFailed;
  } catch (const std::exception& error) {
    say_error(error.what());
    return kRunFailed;
  }
}
