// signorini record: a scene becomes a recording. The only command with physics in it.

#include <fmt/format.h>

#include <memory>

#include "base/check.h"
#include "base/text.h"
#include "commands.h"
#include "configs.h"
#include "recorder.h"
#include "scene/facts.h"
#include "terminal.h"

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
    overrides[setting.substr(0, equals)] = setting.substr(equals + 1);
  }
  return overrides;
}

/// What happened, on one screen of stderr.
void print_summary(const std::string& output, const RecordingSummary& summary) {
  std::string spared;
  if (summary.kept > 0) spared += fmt::format(" ({} were there)", summary.kept);
  if (summary.first_step > 0) spared += fmt::format(", resumed after step {}", summary.first_step);
  say(fmt::format("{}: {} snapshots of {} steps{}, up to {} contacts, {}", output, summary.frames,
                  summary.steps, spared, summary.most_contacts(),
                  bytes_text(static_cast<double>(std::filesystem::file_size(output)))));
  const auto column = [&](const char* name) { return summary.column(name); };
  say(fmt::format("  contacts   up to {:.0f} regions, {:.0f} islands", column("regions").most,
                  column("islands").most));
  say(fmt::format(
      "  solves     {:.0f} with {:.0f} iterations, worst residual {}; {:.0f} steps restarted cold",
      column("solves").sum, column("iterations").sum, error_text(column("residual").most),
      column("restarted").sum));
  say(fmt::format("  steps      up to {:.0f} detection rounds, {:.0f} halvings; {:.0f} unresolved",
                  column("detection_rounds").most, column("halvings").most, column("unresolved").sum));
  say(fmt::format(
      "  deepest    penetration {:.3g} m, largest turn of a normal {:.3g}°, smallest volume ratio {:.3g}",
      column("penetration").most, column("largest_turn").most, column("volume_ratio").least));
  double before = 0.0, after = 0.0;
  for (const char* kind : {"kinetic_energy", "elastic_energy", "potential_energy"}) {
    before += column(kind).first;
    after += column(kind).last;
  }
  say(fmt::format("  energy     {:.4g} J after the first step, {:.4g} J at the end: {:+.3g} J", before, after,
                  after - before));
  double total = 0.0;
  std::string phases;
  for (const std::string& name : summary.clocks.columns) total += summary.column(name).sum;
  for (const std::string& name : summary.clocks.columns) {
    const double seconds = summary.column(name).sum;
    phases +=
        fmt::format("{}{} {} ({:.0f} %)", phases.empty() ? "" : ", ", name.substr(0, name.find("_seconds")),
                    seconds_text(seconds), total > 0.0 ? 100.0 * seconds / total : 0.0);
  }
  say(fmt::format("  time       {} per step: {}", seconds_text(total / static_cast<double>(summary.steps)),
                  phases));
}

/// Whether the scene shows what it says, as far as a run that was cut short can tell.
void print_facts(const RecordRequest& request, const StepTable& statistics) {
  const std::string scene = effective_scene(request);
  const Facts facts = read_facts(scene, request.scene_path);
  const bool whole = runs_to_its_end(scene, statistics.rows.size(), request.scene_path);
  for (const FactVerdict& verdict : judge_facts(facts, statistics, whole))
    say(fmt::format("  fact       {}: {}: {}", verdict.name, verdict_text(verdict), verdict.fact.says));
}

int record(const Program& program, const RecordArguments& a) {
  if (a.steps < 0) throw_usage("--steps {}: must not be negative", a.steps);
  if (a.threads < 1) throw_usage("--threads {}: must be at least 1", a.threads);
  if (a.resume && a.force) throw_usage("--resume and --force exclude each other");
  RecordRequest request;
  request.scene_path = find_config(program, ConfigKind::scenes, a.scene).string();
  request.size = parse_enum<SceneSize>(a.size, "--size");
  request.overrides = parse_overrides(a.settings);
  request.steps = a.steps;
  request.threads = a.threads;
  if (a.check) {
    const SceneRun built(request);
    print(effective_scene(request));
    return kSuccess;
  }
  if (a.output.empty()) throw_usage("record: -o FILE.h5 is missing (or --check, to record nothing)");
  const ExistingRecording existing = a.force    ? ExistingRecording::replace
                                     : a.resume ? ExistingRecording::resume
                                                : ExistingRecording::refuse;
  if (!(a.checkpoint_seconds >= 0.0))
    throw_usage("--checkpoint-seconds {}: must not be negative", a.checkpoint_seconds);
  const RecordingSummary summary = record_scene(program, request, a.output, {existing, a.checkpoint_seconds});
  if (summary.kept == summary.frames && summary.steps == 0) {
    say(fmt::format("{}: complete already, {} snapshots", a.output, summary.frames));
    return kSuccess;
  }
  print_summary(a.output, summary);
  print_facts(request, summary.statistics);
  return kSuccess;
}

}  // namespace

void add_record(CLI::App& app, Program& program) {
  CLI::App* command = app.add_subcommand("record", "Simulate a scene and record its contact problems");
  command->footer(
      "Beside FILE.h5 come FILE.steps.csv (energies, contacts, times of every step) and FILE.env.json.\n"
      "Frames and checkpoints are safe on disk as soon as they are written: after a kill the same command\n"
      "with --resume goes on from the newest checkpoint and ends with the same bytes.\n"
      "\n"
      "Examples:\n"
      "  signorini record bucket -o bucket.h5\n"
      "  signorini record bucket -o slick.h5 --size medium --set contact.friction=0.1\n"
      "  signorini record my/scene.toml --check                what it says, with every default\n"
      "  signorini record my/scene.toml -o trial.h5 --steps 100\n"
      "  signorini record bucket -o bucket.h5 --resume");
  auto a = std::make_shared<RecordArguments>();
  command->add_option("SCENE", a->scene, "Scene file, or the name of one (see 'signorini list scenes')")
      ->required();
  command->add_option("-o,--output", a->output, "Recording to write")->type_name("FILE.h5");
  command->add_option("--size", a->size, "quick, medium or paper (default quick)")->type_name("SIZE");
  command->add_option("--steps", a->steps, "Stop after N steps (default: as the scene says)")->type_name("N");
  command->add_option("--set", a->settings, "Change a key of the scene; may be repeated")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--threads", a->threads, "Threads; the recording does not depend on them (default 1)")
      ->type_name("N");
  command
      ->add_option("--checkpoint-seconds", a->checkpoint_seconds,
                   "Least time between checkpoints in s; 0 = one after every step (default 0.5)")
      ->type_name("S");
  command->add_flag("--resume", a->resume, "Go on with an unfinished recording");
  command->add_flag("--check", a->check,
                    "Build the scene, print it with every key, default and meaning; record nothing");
  command->add_flag("--force", a->force, "Replace an existing recording");
  command->callback([&program, a] { program.command = [&program, a] { return record(program, *a); }; });
}

}  // namespace signorini
