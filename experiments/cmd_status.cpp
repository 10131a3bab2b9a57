// signorini status: how far a campaign is.

#include <fmt/format.h>

#include <memory>

#include "arguments.h"
#include "base/text.h"
#include "campaign/campaign_status.h"
#include "campaign/scale_model.h"
#include "commands.h"
#include "json_output.h"
#include "terminal.h"

namespace signorini {
namespace {

TextTable::Row row_of(const ExperimentStatus& one) {
  return {one.id,
          fmt::format("{}", one.groups),
          fmt::format("{}", one.done),
          {fmt::format("{}", one.failed), one.failed > 0 ? Colour::red : Colour::none},
          fmt::format("{}", one.groups - one.done),
          duration_text(one.done_seconds),
          duration_text(one.left_seconds)};
}

Json json_of(const ExperimentStatus& one) {
  return {{"id", one.id},
          {"groups", one.groups},
          {"done", one.done},
          {"failed_rows", one.failed},
          {"left", one.groups - one.done},
          {"done_seconds", one.done_seconds},
          {"left_seconds", one.left_seconds}};
}

void print_status(const CampaignStatus& status) {
  using enum Align;
  TextTable table({{"experiment"},
                   {"groups", right},
                   {"done", right},
                   {"failed rows", right},
                   {"left", right},
                   {"took", right},
                   {"left, one process", right}});
  for (const ExperimentStatus& one : status.experiments) table.add(row_of(one));
  ExperimentStatus all = status.all;
  all.id = "all";
  table.add(row_of(all));
  print(table.text());
  std::string line = fmt::format("recordings: {} of {} there; processes at work: {} of {} started",
                                 status.recordings - status.missing_recordings, status.recordings,
                                 status.at_work, status.parts);
  if (status.all.done == status.all.groups && status.all.groups > 0)
    line += "; all groups of runs are done";
  else if (status.at_work > 0)
    line += fmt::format("; time left: about {}", duration_text(status.left_wall_seconds()));
  for (const std::string& part : wrapped_lines(line, text_columns())) print(part + "\n");
}

struct StatusArguments {
  std::string folder, scale;
  ScaleModel model;
};

/// Cells with what they took, where they are done, else with what is estimated.
std::vector<PlannedCell> costed_cells(const Campaign& campaign) {
  std::map<std::string, double> took;
  for (const FinishedCell& one : read_finished_cells(campaign.folder))
    took.emplace(cell_key(one.experiment, one.cell), one.tally.seconds);
  std::vector<PlannedCell> cells = read_cells(campaign);
  for (PlannedCell& one : cells) {
    const auto found = took.find(cell_key(one.experiment, one.cell));
    if (found == took.end()) continue;
    one.seconds = found->second;
    one.basis = CostBasis::measured;
  }
  return cells;
}

/// What the runs of the campaign would take on so many nodes.
int show_scale(const Program& program, const StatusArguments& a) {
  const std::vector<PlannedCell> cells = costed_cells(read_campaign(a.folder));
  constexpr int kRuns = 100;
  using enum Align;
  TextTable table({{"nodes", right},
                   {"tasks", right},
                   {"unit"},
                   {"all runs", right},
                   {"95 % of cases", right},
                   {"efficiency", right},
                   {"failures", right}});
  Json rows = Json::array();
  for (const std::string& text : split(a.scale, ',')) {
    ScaleModel model = a.model;
    model.nodes = static_cast<int>(
        parse_integer_option("--scale", text, {.least = 1, .most = 100000, .example = "10,100,1000"}));
    for (const ShardUnit unit : {ShardUnit::snapshot, ShardUnit::cell}) {
      for (const int tasks_per_node : {1, 4, 16}) {
        model.unit = unit;
        model.shards = model.nodes * tasks_per_node;
        const ScaleSummary one = summarise_scale(cells, model, kRuns);
        table.add({fmt::format("{}", model.nodes), fmt::format("{}", model.shards),
                   std::string(enum_name(unit)), duration_text(one.makespan),
                   duration_text(one.late_makespan), fmt::format("{:.0f} %", 100.0 * one.efficiency),
                   fmt::format("{:.0f}", one.failures)});
        rows.push_back({{"nodes", model.nodes},
                        {"tasks", model.shards},
                        {"unit", enum_name(unit)},
                        {"seconds", one.makespan},
                        {"late_seconds", one.late_makespan},
                        {"efficiency", one.efficiency},
                        {"failures", one.failures}});
      }
    }
  }
  if (program.json) {
    print_json({{"scale", rows}});
    return kSuccess;
  }
  print(table.text());
  double seconds = 0.0;
  std::size_t measured = 0;
  for (const PlannedCell& one : cells) {
    seconds += one.seconds;
    measured += one.basis == CostBasis::measured ? 1U : 0U;
  }
  say(
      fmt::format("simulated from {} groups of runs ({} measured), {} of one process: a task starts in {}, "
                  "{:.0f} % of the "
                  "nodes take {} times longer, a node fails every {:.0f} h and its task goes on after {}; "
                  "medians of {} cases",
                  cells.size(), measured, duration_text(seconds), seconds_text(a.model.start_seconds),
                  100.0 * a.model.slow_share, a.model.slow_factor, a.model.failure_hours,
                  seconds_text(a.model.restart_seconds), kRuns));
  return kSuccess;
}

int show_status(const Program& program, const std::string& folder) {
  const CampaignStatus status = status_of(read_campaign(folder));
  if (!program.json) {
    print_status(status);
    return kSuccess;
  }
  Json experiments = Json::array();
  for (const ExperimentStatus& one : status.experiments) experiments.push_back(json_of(one));
  Json all = json_of(status.all);
  all.erase("id");
  print_json({{"experiments", experiments},
              {"all", all},
              {"recordings", status.recordings},
              {"missing_recordings", status.missing_recordings},
              {"measured_over_estimated", status.ratio},
              {"processes_at_work", status.at_work},
              {"processes_started", status.parts},
              {"left_wall_seconds", status.left_wall_seconds()}});
  return kSuccess;
}

}  // namespace

void add_status(CLI::App& app, Program& program) {
  CLI::App* command = app.add_subcommand(
      "status",
      "Show how far a campaign is\n"
      "\n"
      "Groups of runs that are done, failed and left, by experiment, and the time left: estimated costs, "
      "multiplied by measured over estimated time so far, over the processes at work. A process counts as at "
      "work when it has not ended and has written something within the last 15 minutes.");
  command->footer(
      "Examples:\n"
      "  signorini status campaign\n"
      "  signorini status campaign --json\n"
      "  signorini status campaign --scale 10,100,1000   what it would take on so many nodes\n"
      "\n"
      "With --json: an object with experiments and all (groups and seconds), recordings, missing_recordings, "
      "measured_over_estimated, processes_at_work, processes_started, left_wall_seconds; with --scale: "
      "\"scale\", a list.\n"
      "Exit codes: 0 success; 2 wrong command line; 3 a file cannot be read; 5 out of memory.");
  auto a = std::make_shared<StatusArguments>();
  command->add_option("DIR", a->folder, "Folder of the campaign")->required();
  command
      ->add_option(
          "--scale", a->scale,
          "Instead: simulate the runs on these numbers of nodes, for 1, 4 and 16 tasks per node and both "
          "units of 'signorini plan', with slow and failing nodes")
      ->type_name("N[,N]");
  add_number(*command, "--slow-share", a->model.slow_share, {.least = 0.0, .most = 1.0, .example = "0.05"},
             "SHARE", "With --scale: share of the nodes that are slow (default: 0.05)");
  add_number(*command, "--slow-factor", a->model.slow_factor, {.least = 1.0, .most = 1000.0, .example = "2"},
             "FACTOR", "With --scale: how many times longer they take (default: 2)");
  add_number(*command, "--failure-hours", a->model.failure_hours,
             {.least = 0.01, .most = 1e9, .example = "1000"}, "HOURS",
             "With --scale: mean time between failures of a node, in h (default: 1000)");
  command->callback([&program, a] {
    program.command = [&program, a] {
      return a->scale.empty() ? show_status(program, a->folder) : show_scale(program, *a);
    };
  });
}

}  // namespace signorini
