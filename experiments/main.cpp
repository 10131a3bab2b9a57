// signorini: record contact problems, split them into regions, solve them with every solver, compare.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "arguments.h"
#include "base/check.h"
#include "base/memory_error.h"
#include "base/reason.h"
#include "base/text.h"
#include "base/usable_memory.h"
#include "commands.h"
#include "harness/environment.h"
#include "interrupt.h"
#include "linalg/factor_library.h"
#include "record/h5.h"
#include "terminal.h"
#include "terminal_monitor.h"

namespace signorini {
namespace {

constexpr const char* kDescription =
    "signorini compares solvers for frictional contact of deformable bodies.\n"
    "\n"
    "It simulates a scene and records every contact problem that comes up (a snapshot). Every solver then "
    "runs "
    "on the same snapshots, either on the whole problem or on its detached regions. The errors of all "
    "answers "
    "are measured by the same code, never by the solver itself.";

constexpr const char* kExamples =
    "Examples:\n"
    "  signorini list solvers                            the solvers and their options\n"
    "  signorini record bucket -o bucket.h5              simulate a scene, record its contact problems\n"
    "  signorini info bucket.h5                          show what the recording holds\n"
    "  signorini solve bucket.h5 --solver pgs,pcg-pgs    solve every recorded problem with two solvers\n"
    "  signorini compare bucket.h5 -o cmp/               every solver on it, with a table and a page\n"
    "  signorini reproduce lazarevych2010_fig1           make a paper's figure and check its claims\n"
    "\n"
    "'signorini COMMAND --help' explains a command. Results go to standard output, messages to standard "
    "error; with --json standard output is one JSON document. Units are SI: m, kg, s, N s.\n"
    "\n"
    "Exit codes: 0 success; 1 a run failed; 2 wrong command line or setting; 3 a file cannot be read or "
    "written; 4 not converged (only with solve --require-converged); 5 out of memory; 130 interrupted, "
    "finished "
    "results are kept.";

/// The first word must be a command: options of a command stand after it.
void check_command(const CLI::App& app, const std::vector<std::string>& arguments) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  const auto is_command = [&names](const std::string& word) {
    return std::find(names.begin(), names.end(), word) != names.end();
  };
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    const std::string name = word.substr(0, word.find('='));
    if (word == "--configs") {
      ++i;
    } else if (word.rfind('-', 0) != 0) {
      if (!is_command(word)) throw_usage("unknown command '{}'{}", word, suggestion(word, names));
      return;
    } else if (app.get_option_no_throw(name) == nullptr) {
      const auto command = std::find_if(arguments.begin() + 1, arguments.end(), is_command);
      if (command == arguments.end()) return;
      throw_usage("{}: stands before the command; write 'signorini {} ... {}'", name, *command, name);
    }
  }
}

/// What --version shows: long values go on below their beginning.
std::string version_text() {
  constexpr std::size_t kNames = 14;
  std::string text;
  for (const std::string& line : split(build_text(), '\n')) {
    if (text_width(line) <= text_columns() || line.size() <= kNames) {
      text += line + "\n";
      continue;
    }
    std::string margin = line.substr(0, kNames);
    for (const std::string& part : wrapped_lines(line.substr(kNames), text_columns() - kNames)) {
      text += fmt::format("{}{}\n", margin, part);
      margin.assign(kNames, ' ');
    }
  }
  return text;
}

int run_program(int argc, char** argv) {
  Program program;
  program.command_line.assign(argv, argv + argc);
  bool version = false;

  CLI::App app(kDescription, "signorini");
  app.footer(kExamples);
  app.set_help_flag("-h,--help", "Show this text and exit");
  app.add_flag("--version", version,
               "Show version, git revision, compiler, flags and libraries (with --json: as JSON)");
  app.add_flag("--json", program.json, "Write results as one JSON document to standard output");
  app.add_option("--configs", program.configs,
                 "Folder that holds scenes/ and experiments/ (default: the environment variable "
                 "SIGNORINI_CONFIGS, else the folder that came with the program)")
      ->type_name("DIR");
  app.require_subcommand(0, 1);
  app.fallthrough();
  add_list(app, program);
  add_record(app, program);
  add_info(app, program);
  add_solve(app, program);
  add_compare(app, program);
  add_run(app, program);
  add_export(app, program);
  add_replay(app, program);
  add_reproduce(app, program);
  add_plan(app, program);
  add_merge(app, program);
  add_status(app, program);
  add_completion(app, program);
  add_man(app, program);

  use_help_format(app);
  check_command(app, program.command_line);
  if (parse_arguments(app, argc, argv) == ParsedArguments::help_shown) return kSuccess;
  if (version) {
    print(program.json ? build_json() + "\n" : version_text());
    return kSuccess;
  }
  if (!program.command) {
    say_lines(app.help());
    return kUsage;
  }
  rounding_name();  // refuses a wrong SIGNORINI_ISA or SIGNORINI_FACTOR before anything is begun
  return program.command();
}

/// What is said when a signal has ended the program. Takes no memory: nothing would catch that there is none.
const char* interrupted_text(std::span<char* const> words) {
  const auto has = [words](std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  if (has("--plan")) return "interrupted: finished results are kept; repeat the command to continue";
  const bool resumable = has("record") || has("run") || has("reproduce") || has("compare");
  return resumable ? "interrupted: finished results are kept; repeat the command with --resume to continue"
                   : "interrupted: finished results are kept";
}

/// need: what takes how much, where it is known.
int out_of_memory(const std::string& need = {}) try {
  const std::string& doing = last_activity();
  say_error(fmt::format(
      "out of memory{}{}{}{}; {} may be used here: take a smaller problem, or a machine with more",
      doing.empty() ? "" : " while ", doing, need.empty() ? "" : ": ", need, bytes_text(usable_memory())));
  return kOutOfMemory;
} catch (const std::bad_alloc&) {  // not even for the sentence
  std::fputs("signorini: error: out of memory\n", stderr);
  return kOutOfMemory;
}

/// Libraries end the program where memory runs out: HDF5 1.10 by exit(-1), libgomp by exit(1), others by std::terminate
/// (destructors that allocate, functions of std::filesystem that take an error code). The exit code and the last line are ours
/// then.
class ExitOfLibraries {
 public:
  ExitOfLibraries() {
    program = ::getpid();
    ::on_exit(at_exit, nullptr);
    before = std::set_terminate(at_terminate);
  }
  ~ExitOfLibraries() { program = 0; }
  ExitOfLibraries(const ExitOfLibraries&) = delete;
  ExitOfLibraries& operator=(const ExitOfLibraries&) = delete;
  static constexpr const char* kLine =
      "signorini: error: out of memory, most likely; a library ended the program\n";

 private:
  static void at_exit(int, void*) {
    if (program != ::getpid()) return;  // main has returned, or a child that it forked
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kLine, std::strlen(kLine));
    ::_exit(kOutOfMemory);
  }
  static bool is_out_of_memory() {
    const std::exception_ptr error = std::current_exception();
    if (!error) return true;  // std::filesystem says no more
    try {
      std::rethrow_exception(error);
    } catch (const std::bad_alloc&) {
      return true;
    } catch (...) {
      return false;
    }
  }
  [[noreturn]] static void at_terminate() {
    if (is_out_of_memory()) at_exit(0, nullptr);
    before();
    std::abort();
  }
  static inline pid_t program = 0;
  static inline std::terminate_handler before = nullptr;
};

}  // namespace
}  // namespace signorini

int main(int argc, char** argv) {
  using namespace signorini;
  const ExitOfLibraries exit_of_libraries;
  const char* interrupted_line = interrupted_text({argv, static_cast<std::size_t>(argc)});
  install_interrupt_handlers(interrupted_line);
  try {
    limit_blas_threads();
    h5::end_where_memory_runs_out(ExitOfLibraries::kLine, kOutOfMemory);
    h5::skip_cleanup_at_exit();
    return run_program(argc, argv);
  } catch (const Interrupted&) {
    say(interrupted_line);
    return kInterrupted;
  } catch (const UsageError& error) {
    say_error(error.what());
    return kUsage;
  } catch (const InputError& error) {
    say_error(error.what());
    return kBadInput;
  } catch (const std::filesystem::filesystem_error& error) {
    say_error(reason_of(error));
    return kBadInput;
  } catch (const MemoryError& error) {
    return out_of_memory(error.what());
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  } catch (const std::length_error&) {  // an array longer than any memory
    return out_of_memory();
  } catch (const std::exception& error) {
    say_error(error.what());
    return kRunFailed;
  }
}
