// signorini list: names, summaries, sources and options of everything that can be asked for.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/text.h"
#include "commands.h"
#include "configs.h"
#include "harness/experiment.h"
#include "solvers/registry.h"
#include "terminal.h"

namespace signorini {
namespace {

using Json = nlohmann::ordered_json;

struct Measure {
  const char *name, *unit, *help;
};
constexpr Measure kMeasures[] = {
    {"residual", "1",
     "the gate: largest Alart–Curnier error of a contact in velocity units, relative to max|q|; cone and "
     "pyramid"},
    {"natural_map", "1", "largest ‖r − P_K(r − ρ û)‖/ρ, relative to max|q|; cone only"},
    {"siconos_error", "unit-dependent",
     "Siconos' full error (ρ = 1); cone only, to compare with the literature"},
    {"fischer_burmeister", "m/s",
     "norm of the Fischer–Burmeister function of W_NN r_N and u_N, with friction terms"},
    {"penetration", "m", "deepest penetration that the answer leaves after the step; needs the time step"},
    {"cone_violation", "1", "largest max(0, ‖r_T‖ − μ r_N), relative to the largest r_N"},
    {"dissipation_angle", "degrees", "largest angle between −r_T and u_T of a sliding contact"},
    {"equation", "1", "‖D⁻¹(M v − H r − f)‖∞ relative to max|q|, of the v that a primal solver returned"},
    {"fb_normal, fb_static, fb_kinetic", "m",
     "Fischer–Burmeister error by class of constraint, multipliers scaled by S (Verschoor and Jalba 2019, "
     "Fig. 13); needs the time step"},
};

void list_solvers(const Program& program) {
  if (program.json) {
    Json all = Json::array();
    for (const SolverEntry& entry : solver_registry()) {
      Json options = Json::array();
      for (const OptionDescription& o : entry.describe()) {
        options.push_back({{"key", o.key}, {"type", o.type}, {"default", o.value}, {"help", o.help}});
      }
      all.push_back(
          {{"name", entry.name}, {"summary", entry.summary}, {"source", entry.source}, {"options", options}});
    }
    print(all.dump(2) + "\n");
    return;
  }
  for (const SolverEntry& entry : solver_registry()) {
    print(fmt::format("{}  {}\n", painted(entry.name, Colour::bold), entry.summary));
    print(fmt::format("    {}\n", painted(entry.source, Colour::dim)));
    TextTable table({{"    option"}, {"default"}, {"type"}, {"meaning"}});
    for (const OptionDescription& o : entry.describe()) table.add({"    " + o.key, o.value, o.type, o.help});
    print(table.text() + "\n");
  }
  say("Set an option with --set SOLVER.option=value, e.g. --set pgs.law=pyramid.");
}

void list_scenes(const Program& program) {
  Json all = Json::array();
  TextTable table({{"scene"}, {"summary"}});
  for (const auto& file : list_configs(program, ConfigKind::scenes)) {
    const std::string summary = read_toml_summary(file);
    all.push_back({{"name", file.stem().string()}, {"summary", summary}});
    table.add({file.stem().string(), summary});
  }
  if (program.json) {
    print(all.dump(2) + "\n");
    return;
  }
  print(table.text());
  say("Record one with: signorini record NAME -o NAME.h5");
}

void list_experiments(const Program& program) {
  Json all = Json::array();
  TextTable table({{"experiment"}, {"artefact"}, {"claim"}});
  for (const auto& file : list_configs(program, ConfigKind::experiments)) {
    const ExperimentSummary e = read_experiment_summary(file);
    all.push_back({{"name", e.id}, {"artefact", e.artefact}, {"claim", e.claim}});
    table.add({e.id, e.artefact, e.claim});
  }
  if (program.json) {
    print(all.dump(2) + "\n");
    return;
  }
  print(table.text());
  say("Run one, with its report: signorini reproduce NAME");
}

void list_measures(const Program& program) {
  Json all = Json::array();
  TextTable table({{"measure"}, {"unit"}, {"meaning (all by the referee, never by a solver)"}});
  for (const Measure& m : kMeasures) {
    all.push_back({{"name", m.name}, {"unit", m.unit}, {"meaning", m.help}});
    table.add({m.name, m.unit, m.help});
  }
  print(program.json ? all.dump(2) + "\n" : table.text());
}

int list(const Program& program, const std::string& what) {
  const std::vector<std::string> known{"solvers", "scenes", "experiments", "measures"};
  if (what == "solvers") {
    list_solvers(program);
  } else if (what == "scenes") {
    list_scenes(program);
  } else if (what == "experiments") {
    list_experiments(program);
  } else if (what == "measures") {
    list_measures(program);
  } else if (what.empty()) {
    if (program.json) throw_usage("list --json needs one of: {}", fmt::join(known, ", "));
    TextTable solvers({{"solver"}, {"summary"}});
    for (const SolverEntry& entry : solver_registry())
      solvers.add({std::string(entry.name), std::string(entry.summary)});
    print(solvers.text() + "\n");
    list_scenes(program);
    print("\n");
    list_experiments(program);
    print("\n");
    list_measures(program);
  } else {
    throw_usage("list: unknown kind '{}'{}", what, suggestion(what, known));
  }
  return kSuccess;
}

}  // namespace

void add_list(CLI::App& app, Program& program) {
  CLI::App* command =
      app.add_subcommand("list", "Names and summaries of solvers, scenes, experiments and measures");
  command->footer(
      "Examples:\n"
      "  signorini list                      everything in one screen\n"
      "  signorini list solvers              with all options, their defaults and what they mean\n"
      "  signorini list scenes --json        for machines");
  auto what = std::make_shared<std::string>();
  command->add_option("WHAT", *what, "solvers, scenes, experiments or measures; everything when left out");
  command->callback(
      [&program, what] { program.command = [&program, what] { return list(program, *what); }; });
}

}  // namespace signorini
