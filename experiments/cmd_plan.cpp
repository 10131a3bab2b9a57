// signorini plan: the runs of a campaign, for many processes and machines.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "arguments.h"
#include "campaign_session.h"
#include "commands.h"
#include "json_output.h"
#include "solvers/plugin/plugin_library.h"
#include "terminal.h"

namespace signorini {
namespace {

/// Of one experiment.
struct Amount {
  std::size_t cells = 0, measured = 0;
  std::set<std::string> snapshots;
  double seconds = 0.0;
};

std::map<std::string, Amount> amounts_of(const PlanOutcome& plan) {
  std::map<std::string, Amount> amounts;
  for (const PlannedCell& one : plan.cells) {
    Amount& amount = amounts[one.experiment];
    ++amount.cells;
    amount.measured += one.basis == CostBasis::measured ? 1U : 0U;
    amount.snapshots.insert(one.cell.file + " " + one.cell.step);
    amount.seconds += one.seconds;
  }
  return amounts;
}

/// Shards of ten minutes: many times their start, and none that holds up the rest (docs/notes/campaign-scale.md).
int good_shards(double seconds) {
  constexpr double kSecondsOfShard = 600.0, kMost = 1e6;
  return static_cast<int>(std::clamp(std::ceil(seconds / kSecondsOfShard), 1.0, kMost));
}

void print_plan(const PlanOutcome& plan) {
  using enum Align;
  TextTable table(
      {{"experiment"}, {"snapshots", right}, {"groups", right}, {"measured", right}, {"estimate", right}});
  const std::map<std::string, Amount> amounts = amounts_of(plan);
  double seconds = 0.0;
  for (const PlannedExperiment& one : plan.campaign.experiments) {
    const auto found = amounts.find(one.id);
    if (found == amounts.end()) {
      const bool waiting = std::ranges::find(plan.waiting, one.id) != plan.waiting.end();
      table.add({one.id, "-", "-", "-", waiting ? "needs recordings" : "no runs"});
      continue;
    }
    const Amount& amount = found->second;
    seconds += amount.seconds;
    table.add({one.id, fmt::format("{}", amount.snapshots.size()), fmt::format("{}", amount.cells),
               fmt::format("{}", amount.measured), duration_text(amount.seconds)});
  }
  print(table.text());
  const std::string folder = plan.campaign.folder.string();
  say(fmt::format("{}: {} groups of runs, about {} of one process; {} recordings, {} of them missing",
                  (plan.campaign.folder / "cells.csv").string(), plan.cells.size(), duration_text(seconds),
                  plan.recordings.size(), plan.missing.size()));
  if (!plan.missing.empty())
    say(fmt::format("next: signorini run --plan {} --recordings --shard I/N, then signorini plan -o {} again",
                    folder, folder));
  else
    say(fmt::format(
        "next: signorini run --plan {0} --shard I/N for I = 1 ... N, then signorini merge {0}; N = {1} makes "
        "shards of ten minutes",
        folder, good_shards(seconds)));
}

Json plan_json(const PlanOutcome& plan) {
  Json experiments = Json::array();
  const std::map<std::string, Amount> amounts = amounts_of(plan);
  double seconds = 0.0;
  for (const PlannedExperiment& one : plan.campaign.experiments) {
    const auto found = amounts.find(one.id);
    const Amount amount = found == amounts.end() ? Amount{} : found->second;
    experiments.push_back({{"id", one.id},
                           {"snapshots", amount.snapshots.size()},
                           {"groups", amount.cells},
                           {"measured", amount.measured},
                           {"estimated_seconds", amount.seconds}});
    seconds += amount.seconds;
  }
  return {{"folder", plan.campaign.folder.string()},
          {"size", plan.campaign.size},
          {"experiments", experiments},
          {"recordings", plan.recordings.size()},
          {"missing_recordings", plan.missing},
          {"waiting_experiments", plan.waiting},
          {"shards", good_shards(seconds)}};
}

}  // namespace

void add_plan(CLI::App& app, Program& program) {
  CLI::App* command = app.add_subcommand(
      "plan",
      "Plan a campaign: the runs of experiments, for many processes and machines\n"
      "\n"
      "Writes a folder with the list of recordings (recordings.csv) and of groups of runs (cells.csv: a "
      "solver on "
      "a snapshot to a tolerance, with its region modes and numbers of threads), each with an estimated "
      "cost. "
      "'signorini run --plan DIR --shard I/N' makes one part of N of them, on any machine that sees the "
      "folder; "
      "'signorini merge DIR' makes the results that one machine would have made; 'signorini status DIR' "
      "shows "
      "how far it is. Groups of an experiment are known when its recordings are there: plan again then, with "
      "-o alone.");
  command->footer(
      "Examples:\n"
      "  signorini plan signorini_all signorini_implicit -o campaign --record\n"
      "  signorini run --plan campaign --shard 1/2       on one machine,\n"
      "  signorini run --plan campaign --shard 2/2       on another\n"
      "  signorini merge campaign\n"
      "  scripts/report --out campaign\n"
      "\n"
      "Costs are estimated from times that were measured before (--costs, and the campaign's own), else from "
      "numbers of contacts. They decide who does what, never a result. Planning again keeps everything that "
      "is "
      "done. Solvers of a plugin need --plugin in plan, run --plan and merge.\n"
      "With --json: an object with folder, size, experiments (id, snapshots, groups, measured, "
      "estimated_seconds), recordings, missing_recordings, waiting_experiments, shards (of ten minutes).\n"
      "Exit codes: 0 success; 2 wrong command line or experiment; 3 a file cannot be read or written; 5 "
      "out of memory; 130 interrupted.");
  auto a = std::make_shared<PlanRequest>();
  command->add_option(
      "EXPERIMENT", a->experiments,
      "Experiment files, or names (see 'signorini list experiments'), or all (default: those of "
      "the plan that is there)");
  command->add_option("-o", a->folder, "Folder of the campaign")->type_name("DIR")->required();
  command->add_option("--size", a->size, "quick, medium or paper (default: that of the plan, else quick)")
      ->type_name("SIZE");
  command
      ->add_option("--unit", a->unit,
                   "What a shard holds whole: snapshot (all solvers on it are timed on one machine) or cell "
                   "(finer, for more processes than snapshots) (default: that of the plan, else snapshot)")
      ->type_name("UNIT");
  command
      ->add_option("--costs", a->costs,
                   "Folder of earlier results or of another campaign whose times are taken as costs; may be "
                   "repeated")
      ->type_name("DIR")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_flag("--record", a->record, "Record missing recordings now, one after the other");
  auto plugins = std::make_shared<std::vector<std::string>>();
  add_plugin_option(*command, *plugins);
  command->callback([&program, a, plugins] {
    program.command = [&program, a, plugins]() -> int {
      for (const std::string& file : *plugins) load_solver_plugin(file);
      const PlanOutcome plan = plan_campaign(program, *a);
      if (program.json)
        print_json(plan_json(plan));
      else
        print_plan(plan);
      return kSuccess;
    };
  });
}

}  // namespace signorini
