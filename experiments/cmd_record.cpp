// signorini record: a scene becomes a recording. The only command with physics in it.

#include <fmt/format.h>

#include <memory>

#include "arguments.h"
#include "base/check.h"
#include "base/text.h"
#include "commands.h"
#include "configs.h"
#include "interrupt.h"
#include "record_summary.h"
#include "recording_context.h"
#include "terminal.h"
#include "terminal_monitor.h"

namespace signorini {
namespace {

struct RecordArguments {
  std::string scene, output, size = "quick";
  long long steps = 0;
  int threads = 1;
  std::vector<std::string> settings;
  double checkpoint_seconds = RecordingPolicy{}.checkpoint_seconds;
  bool resume = false, force = false, check = false;
};

OptionMap parse_overrides(const std::vector<std::string>& settings) {
  OptionMap overrides;
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw_usage("--set {}: must look like key=value, e.g. --set contact.friction=0.3", setting);
    }
    const std::string key = setting.substr(0, equals), value = setting.substr(equals + 1);
    const auto [given, fresh] = overrides.emplace(key, value);
    if (!fresh) throw_usage("--set: {} is given twice ({}, {}); give it once", key, given->second, value);
  }
  return overrides;
}

/// A scene as TOML that fits the screen: comments for which there is no room stand above their lines.
std::string narrow_scene(const std::string& scene) {
  constexpr std::string_view kComment = "  # ";
  std::string text;
  for (const std::string& line : split(scene, '\n')) {
    const std::size_t at = line.rfind(kComment);
    if (text_width(line) <= text_columns() || at == std::string::npos) {
      text += line + "\n";
      continue;
    }
    for (const std::string& part : wrapped_lines(line.substr(at + kComment.size()), text_columns() - 2))
      text += fmt::format("# {}\n", part);
    text += line.substr(0, at) + "\n";
  }
  text.pop_back();  // the scene ends with a line feed of its own
  return text;
}

int record(const Program& program, const RecordArguments& a) {
  if (a.resume && a.force) throw_usage("record: takes --resume or --force, not both");
  RecordRequest request;
  request.scene_path = find_config(program, ConfigKind::scenes, a.scene).string();
  request.size = parse_enum<SceneSize>(a.size, "--size");
  request.overrides = parse_overrides(a.settings);
  request.steps = a.steps;
  request.threads = a.threads;
  if (a.check) {
    const NothingToKeep checking;
    request.cancelled = interrupt_flag();
    const SceneRun built(request);
    const std::string scene = effective_scene(request);
    if (program.json)
      print_json({{"scene", request.scene_path}, {"size", a.size}, {"toml", scene}});
    else
      print(narrow_scene(scene));
    return kSuccess;
  }
  if (a.output.empty())
    throw_usage("record: -o FILE.h5 is missing; to check a scene without recording give --check");
  const ExistingRecording existing = a.force    ? ExistingRecording::replace
                                     : a.resume ? ExistingRecording::resume
                                                : ExistingRecording::refuse;
  TerminalMonitor monitor;
  const RecordingSummary summary =
      record_scene(request, a.output, {existing, a.checkpoint_seconds}, recording_context(program, monitor));
  if (program.json) print_json(to_json(request, a.output, summary));
  print_record_summary(request, a.output, summary);
  return kSuccess;
}

}  // namespace

void add_record(CLI::App& app, Program& program) {
  CLI::App* command = app.add_subcommand(
      "record",
      "Simulate a scene and record its contact problems\n"
      "\n"
      "Reads a scene file (TOML: bodies, materials, friction, time step, driving solver), simulates it, and "
      "writes every contact problem on the way as a snapshot into FILE.h5. Beside it come FILE.steps.csv "
      "(energies, contacts and times of every step) and FILE.env.json (program and machine). Snapshots and "
      "checkpoints are safe on disk as soon as they are written: after a kill, repeat the command with "
      "--resume; the file ends up with the same bytes.");
  command->footer(
      "Examples:\n"
      "  signorini record bucket -o bucket.h5\n"
      "  signorini record bucket -o slick.h5 --size medium --set contact.friction=0.1\n"
      "  signorini record my/scene.toml --check              check a scene, show all its settings\n"
      "  signorini record my/scene.toml -o trial.h5 --steps 100\n"
      "  signorini record bucket -o bucket.h5 --resume       continue after an interruption\n"
      "\n"
      "With --json: one object with the counts, energies and times that the screen shows (units in "
      "the key names) and the facts of the scene with their verdicts.\n"
      "Exit codes: 0 recorded; 1 a step could not be solved; 2 wrong command line or scene; 3 a file "
      "cannot be read or written; 5 out of memory; 130 interrupted.");
  auto a = std::make_shared<RecordArguments>();
  command->add_option("SCENE", a->scene, "Scene file, or the name of one (see 'signorini list scenes')")
      ->required();
  command->add_option("-o,--output", a->output, "Recording to write")->type_name("FILE.h5");
  command
      ->add_option("--size", a->size,
                   "quick (seconds), medium (minutes) or paper (the papers' object counts, up to hours) "
                   "(default: quick)")
      ->type_name("SIZE");
  add_integer(*command, "--steps", a->steps, {.least = 1, .example = "100"}, "N",
              "Stop after N time steps (default: as the scene says)");
  command
      ->add_option("--set", a->settings,
                   "Change a key of the scene file, e.g. contact.friction=0.3; may be repeated")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_integer(*command, "--threads", a->threads, {.least = 1, .most = 1024, .example = "2"}, "N",
              "Number of threads; the recording is the same for any number (default: 1)");
  add_number(*command, "--checkpoint-seconds", a->checkpoint_seconds, {.least = 0.0, .example = "0.5"}, "S",
             "Least time between two checkpoints, in seconds; 0: one after every step (default: 0.5)");
  command->add_flag("--resume", a->resume, "Continue an unfinished recording");
  command->add_flag("--check", a->check,
                    "Check the scene and print all its settings with their meaning; record nothing");
  command->add_flag("--force", a->force,
                    "Replace an existing recording; it stays until the new one is complete");
  command->callback([&program, a] { program.command = [&program, a] { return record(program, *a); }; });
}

}  // namespace signorini
