// signorini replay: a recording with answers of solvers as one page for a browser.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>

#include "arguments.h"
#include "base/check.h"
#include "base/durable_file.h"
#include "base/output_file.h"
#include "commands.h"
#include "harness/replay_data.h"
#include "python_script.h"
#include "replay_json.h"
#include "terminal.h"
#include "terminal_monitor.h"

namespace signorini {
namespace {

namespace fs = std::filesystem;

struct ReplayArguments {
  ReplayRequest request;
  std::string output, frame;
  bool force = false;
};

/// A file beside the output that goes with its scope, unless it was renamed before.
class TemporaryFile {
 public:
  explicit TemporaryFile(fs::path path) : path_(std::move(path)) {}
  ~TemporaryFile() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::vector<LockFile> claim(const ReplayArguments& a) {
  OutputPlan plan{.inputs = {a.request.file}, .outputs = {{"-o", a.output}}};
  plan.inputs.insert(plan.inputs.end(), a.request.solve.plugins.begin(), a.request.solve.plugins.end());
  if (a.force) plan.existing = ExistingOutput::replace;
  return claim_outputs(plan);
}

/// By scripts/render, which needs no browser.
int picture(const Program& program, const ReplayArguments& a) {
  const std::vector<LockFile> locks = claim(a);
  const TemporaryFile made(a.output + ".part.png");
  const int code = run_python_script(
      program, "render",
      {a.request.file, "--step", a.frame, "--glass", "--impulses", "-o", made.path().string()},
      ChildOutput::nowhere);  // it would name the part
  if (code != kSuccess) return code;
  publish_durable(made.path(), a.output);
  if (program.json) print_json({{"file", a.output}, {"input", a.request.file}, {"step", a.frame}});
  say(a.output);
  return kSuccess;
}

void check_words(const ReplayArguments& a) {
  const std::string extension = fs::path(a.output).extension().string();
  if (!a.frame.empty() && extension != ".png")
    throw_usage("-o {}: with --frame it is a picture; its name must end with .png", a.output);
  if (a.frame.empty() && extension != ".html" && extension != ".js") {
    throw_usage("-o {}: the name must end with .html (a page) or .js (data for a page of yours)", a.output);
  }
  const ReplayRequest& request = a.request;
  if (!a.frame.empty() && !(request.steps.empty() && request.every == 1 && request.solvers.empty()))
    throw_usage("--frame {}: a picture of one frame takes no --steps, --every or --solver", a.frame);
}

struct FailedAnswers {
  std::size_t count = 0;
  std::string first;  ///< why the first of them failed

  /// ", 2 runs failed (out of memory)"
  std::string text() const {
    if (count == 0) return {};
    return fmt::format(", {} run{} failed ({})", count, count == 1 ? "" : "s", first);
  }
};

FailedAnswers failed_answers(const ReplayData& data) {
  FailedAnswers failed;
  for (const ReplayFrame& frame : data.frames) {
    for (const ReplayAnswerPlace& answer : frame.answers) {
      if (answer.facts.status != SolveStatus::failed) continue;
      if (failed.count++ == 0) failed.first = answer.facts.message;
    }
  }
  return failed;
}

Json report_json(const ReplayArguments& a, const ReplayData& data) {
  Json answers = Json::array();
  for (const ReplayFrame& frame : data.frames) {
    for (std::size_t i = 0; i < frame.answers.size(); ++i) {
      const ReplayAnswer& facts = frame.answers[i].facts;
      const auto& variant = data.plan.answers[i];
      answers.push_back({{"step", frame.id},
                         {"solver", variant ? variant->label : kRecordedAnswer},
                         {"status", std::string(enum_name(facts.status))},
                         {"iterations", facts.iterations},
                         {"residual", facts.residual}});
    }
  }
  return {{"file", a.output},
          {"input", a.request.file},
          {"bytes", fs::file_size(a.output)},
          {"answers", answers}};
}

int page(const Program& program, const ReplayArguments& a) {
  const std::vector<LockFile> locks = claim(a);
  TerminalMonitor monitor;
  const ReplayData data = make_replay(a.request, monitor);
  const TemporaryFile raw(a.output + ".data"), made(a.output + ".part");
  write_replay(raw.path(), data);
  const bool script = fs::path(a.output).extension() == ".js";
  const int code = run_python_script(program, "replay_page",
                                     {raw.path().string(), script ? "--data" : "--page", "--name",
                                      fs::path(a.output).stem().string(), "-o", made.path().string()},
                                     ChildOutput::standard_error);
  if (code != kSuccess) return code;
  publish_durable(made.path(), a.output);
  if (program.json) print_json(report_json(a, data));
  const FailedAnswers failed = failed_answers(data);
  say(fmt::format("{}: {} frames, {}{}{}", a.output, data.frames.size(),
                  bytes_text(static_cast<double>(fs::file_size(a.output))), failed.text(),
                  script ? "" : "; open it in a browser"));
  return failed.count > 0 ? kRunFailed : kSuccess;
}

int replay(const Program& program, const ReplayArguments& a) {
  check_words(a);
  return a.frame.empty() ? page(program, a) : picture(program, a);
}

void declare_options(CLI::App& command, ReplayArguments& a) {
  command.add_option("FILE", a.request.file, "Recording (.h5)")->required();
  command
      .add_option("-o,--output", a.output,
                  "frames.html: a page that needs nothing else; frames.js: its data alone, for a page of "
                  "yours (docs/replay.md); with --frame a picture, frame.png")
      ->required()
      ->type_name("OUT");
  command
      .add_option(
          "--steps", a.request.steps,
          "Snapshots from step A to step B, both included; A:, :B and A alone too, A.2 for the second solve "
          "of step A, and lists: 120,150,200:210 (default: all)")
      ->type_name("A:B");
  add_integer(command, "--every", a.request.every, {.least = 1, .example = "5"}, "N",
              "Of these every N-th, from the first (default: 1)");
  command
      .add_option(
          "--solver", a.request.solvers,
          "Solvers whose answers are shown, see 'signorini list solvers'; 'recorded' is the answer of "
          "the solver that drove the scene (default: recorded, where the file has it; else auto)")
      ->type_name("NAME[,NAME]")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_plugin_option(command, a.request.solve.plugins);
  add_setting_option(command, a.request.solve.settings);
  add_limit_options(command, a.request.solve.tolerance, a.request.solve.max_iterations,
                    a.request.solve.time_limit);
  command.add_option("--frame", a.frame, "Draw this snapshot as a picture instead, with scripts/render")
      ->type_name("K");
  command.add_flag("--force", a.force, "Replace an existing output");
}

}  // namespace

void add_replay(CLI::App& app, Program& program) {
  CLI::App* command = app.add_subcommand(
      "replay",
      "Show a recording in a browser, with what solvers leave at every contact\n"
      "\n"
      "Writes one page that opens from disk and needs no network: bodies, obstacles, contacts coloured by "
      "region, state, impulse or residual, arrows of impulses and slip, two solvers side by side, and how "
      "the residual of every contact falls with the iterations. The numbers of a contact come with a click. "
      "Every frame is solved as 'signorini solve' does, and judged by the same code.");
  command->footer(
      "Examples:\n"
      "  signorini replay rings.h5 -o rings.html                       what was recorded\n"
      "  signorini replay rings.h5 --solver ica,cr-full -o rings.html\n      two solvers side by side\n"
      "  signorini replay rings.h5 --steps 50:150 --every 2 -o part.html\n"
      "  signorini replay rings.h5 --frame 150 -o rings_150.png        one picture\n"
      "\n"
      "The address takes a frame and solvers: rings.html#step=401&solver=ica,cr-full. The page needs the "
      "Debian package libjs-three when it is made (scripts/setup installs it), nothing when it is opened.\n"
      "With --json: one object with file, input, bytes and answers (step, solver, status, iterations, "
      "residual); with --frame file, input and step.\n"
      "Exit codes: 0 written; 1 a run failed (the page says which) or a package is missing; 2 wrong "
      "command line; 3 a file cannot be read or written; 5 out of memory; 130 interrupted.");
  auto a = std::make_shared<ReplayArguments>();
  a->request.solve.cancelled = TerminalMonitor().cancelled();
  declare_options(*command, *a);
  command->callback([&program, a] { program.command = [&program, a] { return replay(program, *a); }; });
}

}  // namespace signorini
