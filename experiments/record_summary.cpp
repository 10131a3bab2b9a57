#include "record_summary.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "fact_json.h"
#include "scene/facts.h"
#include "terminal.h"

namespace signorini {
namespace {

/// Kinetic, elastic and potential energy together, J.
struct Energies {
  double first_step = 0.0, last_step = 0.0;
};

Energies energies(const RecordingSummary& summary) {
  Energies sum;
  for (const char* kind : {"kinetic_energy", "elastic_energy", "potential_energy"}) {
    sum.first_step += summary.column(kind).first;
    sum.last_step += summary.column(kind).last;
  }
  return sum;
}

/// After how many steps surfaces passed through each other; nothing where no step was looked at.
std::optional<double> intersecting_steps(const RecordingSummary& summary) {
  const RecordingSummary::Column column = summary.column("intersects");
  if (std::isnan(column.most)) return std::nullopt;
  return column.sum;
}

std::string intersections_text(const RecordingSummary& summary) {
  const std::optional<double> steps = intersecting_steps(summary);
  if (!steps) return "no step was looked at for intersections";
  if (*steps == 0.0) return "none pass through each other (recorded steps and the last one)";
  return fmt::format("pass through each other after {:.0f} of the recorded steps and the last one", *steps);
}

/// "  name       text", broken into lines that fit the screen.
void say_entry(const std::string& name, const std::string& text) {
  constexpr std::size_t kName = 13;
  const std::vector<std::string> lines = wrapped_lines(text, text_columns() - kName);
  for (std::size_t i = 0; i < lines.size(); ++i) say(fmt::format("  {:<11}{}", i == 0 ? name : "", lines[i]));
}

void print_numbers(const std::string& output, const RecordingSummary& summary) {
  std::string spared;
  if (summary.kept > 0) spared += fmt::format(" ({} kept from before)", summary.kept);
  if (summary.first_step > 0) spared += fmt::format(", resumed after step {}", summary.first_step);
  say(fmt::format("{}: {} snapshots of {} steps{}, up to {} contacts, {}", output, summary.frames,
                  summary.steps, spared, summary.most_contacts(),
                  bytes_text(static_cast<double>(std::filesystem::file_size(output)))));
  const auto column = [&](const char* name) { return summary.column(name); };
  if (summary.prelude_steps > 0) {
    say_entry("prelude", fmt::format("{} steps before the first one, not recorded and not counted below: {}",
                                     summary.prelude_steps, seconds_text(summary.prelude_seconds)));
  }
  say_entry("contacts", fmt::format("in up to {:.0f} regions and {:.0f} islands", column("regions").most,
                                    column("islands").most));
  say_entry("solves", fmt::format("{:.0f} with {:.0f} iterations, worst residual {}; {:.0f} steps repeated "
                                  "without warm start",
                                  column("solves").sum, column("iterations").sum,
                                  error_text(column("residual").most), column("restarted").sum));
  say_entry("steps",
            fmt::format("up to {:.0f} detection rounds, {:.0f} halvings; {:.0f} unresolved",
                        column("detection_rounds").most, column("halvings").most, column("unresolved").sum));
  say_entry("geometry", fmt::format("deepest point {:.3g} m below a surface, largest rotation of a contact "
                                    "normal {:.3g}°, smallest volume ratio {:.3g}",
                                    column("deepest_point").most, column("largest_turn").most,
                                    column("volume_ratio").least));
  say_entry("surfaces", intersections_text(summary));
  const auto [before, after] = energies(summary);
  say_entry("energy", fmt::format("{:.4g} J after the first step, {:.4g} J at the end: {:+.3g} J", before,
                                  after, after - before));
  double total = 0.0;
  std::string phases;
  for (const std::string& name : summary.clocks.columns) total += summary.column(name).sum;
  for (const std::string& name : summary.clocks.columns) {
    const double seconds = summary.column(name).sum;
    phases +=
        fmt::format("{}{} {} ({:.0f} %)", phases.empty() ? "" : ", ", name.substr(0, name.find("_seconds")),
                    seconds_text(seconds), total > 0.0 ? 100.0 * seconds / total : 0.0);
  }
  say_entry("time",
            fmt::format("{} per step: {}", seconds_text(total / static_cast<double>(summary.steps)), phases));
}

/// Whether the scene shows what it says, as far as a run that was cut short can tell.
std::vector<FactVerdict> verdicts(const RecordRequest& request, const StepTable& statistics) {
  const std::string scene = effective_scene(request);
  const Facts facts = read_facts(scene, request.scene_path);
  const bool whole = runs_to_its_end(scene, statistics.rows.size(), request.scene_path);
  return judge_facts(facts, statistics, whole);
}

void print_facts(const RecordRequest& request, const StepTable& statistics) {
  for (const FactVerdict& verdict : verdicts(request, statistics))
    say_entry("fact", fmt::format("{}: {}: {}", verdict.name, verdict_text(verdict), verdict.fact.says));
}

}  // namespace

Json to_json(const RecordRequest& request, const std::string& output, const RecordingSummary& summary) {
  Json json = {{"file", output},
               {"bytes", std::filesystem::file_size(output)},
               {"snapshots", summary.frames},
               {"snapshots_kept", summary.kept},
               {"steps", summary.steps},
               {"resumed_after_step", summary.first_step},
               {"complete_already", summary.steps == 0}};
  if (summary.steps == 0) return json;
  const auto column = [&](const char* name) { return summary.column(name); };
  if (summary.prelude_steps > 0) {
    json["prelude_steps"] = summary.prelude_steps;
    json["prelude_seconds"] = summary.prelude_seconds;
  }
  const Energies energy = energies(summary);
  json.update(
      {{"seconds", summary.seconds},
       {"contacts_most", summary.most_contacts()},
       {"regions_most", column("regions").most},
       {"islands_most", column("islands").most},
       {"solves", column("solves").sum},
       {"iterations", column("iterations").sum},
       {"residual_worst", column("residual").most},
       {"steps_restarted_cold", column("restarted").sum},
       {"detection_rounds_most", column("detection_rounds").most},
       {"halvings_most", column("halvings").most},
       {"steps_unresolved", column("unresolved").sum},
       {"deepest_point_most_m", column("deepest_point").most},
       {"steps_intersecting", intersecting_steps(summary) ? Json(*intersecting_steps(summary)) : Json()},
       {"normal_turn_most_degrees", column("largest_turn").most},
       {"volume_ratio_least", column("volume_ratio").least},
       {"energy_first_step_J", energy.first_step},
       {"energy_last_step_J", energy.last_step}});
  Json clocks = Json::object();
  for (const std::string& name : summary.clocks.columns) clocks[name] = summary.column(name).sum;
  json["clocks"] = clocks;
  Json facts = Json::array();
  for (const FactVerdict& verdict : verdicts(request, summary.statistics)) facts.push_back(to_json(verdict));
  json["facts"] = facts;
  return json;
}

void print_record_summary(const RecordRequest& request, const std::string& output,
                          const RecordingSummary& summary) {
  if (summary.kept == summary.frames && summary.steps == 0) {
    say(fmt::format("{}: already complete, {} snapshots", output, summary.frames));
    return;
  }
  print_numbers(output, summary);
  if (!summary.why_empty.empty())
    say(fmt::format("warning: {}: no snapshots: {}", output, summary.why_empty));
  print_facts(request, summary.statistics);
}

}  // namespace signorini
