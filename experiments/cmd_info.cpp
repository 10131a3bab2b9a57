// signorini info: what a recording, an FCLib file or an npz problem holds, before anything is solved.

#include <fmt/format.h>

#include <memory>

#include "arguments.h"
#include "commands.h"
#include "fact_json.h"
#include "file_tables.h"
#include "json_output.h"
#include "scene/recording_facts.h"
#include "terminal.h"
#include "terminal_monitor.h"

namespace signorini {
namespace {

struct InfoArguments {
  std::vector<std::string> files;
  bool steps = false, facts = false;
  std::string matrix = "symmetric";
};

Colour verdict_colour(const FactVerdict& verdict) {
  if (verdict.holds) return Colour::green;
  return verdict.reached ? Colour::red : Colour::yellow;
}

/// The facts of every recording, one line each; fails when one differs.
int check_facts(const Program& program, const InfoArguments& a) {
  Json all = Json::array();
  TextTable table({{"file"}, {"fact"}, {"verdict"}, {"says"}});
  bool good = true;
  for (const std::string& path : a.files) {
    const std::string name = std::filesystem::path(path).filename().string();
    const std::vector<FactVerdict> verdicts = judge_recording(path);
    if (verdicts.empty()) say(name + ": its scene states no facts");
    for (const FactVerdict& verdict : verdicts) {
      good = good && is_acceptable(verdict);
      table.add({name, verdict.name, {verdict_text(verdict), verdict_colour(verdict)}, verdict.fact.says});
      Json one = {{"file", path}};
      one.update(to_json(verdict));
      all.push_back(std::move(one));
    }
  }
  if (program.json)
    print_json(all);
  else if (!table.empty())
    print(table.text());
  return good ? kSuccess : kRunFailed;
}

int info(const Program& program, const InfoArguments& a) {
  const auto matrix = parse_enum<MatrixReading>(a.matrix, "--matrix");
  std::string notes;
  Json all = Json::array();
  FileTables tables;
  for (const std::string& path : a.files) {
    TerminalMonitor monitor;
    const FileSummary file = summarise_file(path, {matrix, &monitor});
    notes += notes_text(file) + starts_text(file);
    if (program.json)
      all.push_back(to_json(file));
    else if (a.steps)
      print(snapshots_text(file));
    else
      tables.add(file);
  }
  if (program.json) {
    print_json(all);
    return kSuccess;
  }
  if (!a.steps) print(tables.text());
  if (notes.empty()) return kSuccess;
  print("\n");
  for (const std::string& line : wrapped_lines(notes, text_columns()))
    if (!line.empty()) print(line + "\n");
  return kSuccess;
}

}  // namespace

void add_info(CLI::App& app, Program& program) {
  CLI::App* command = app.add_subcommand(
      "info",
      "Show what a recording, an FCLib file or an npz problem holds\n"
      "\n"
      "First table, over the snapshots of a file: regions are groups of contacts connected through shared "
      "mass "
      "points (~: splitting there would not be exact), islands are groups connected through bodies; each is "
      "followed by the number of contacts in the largest. μ is the friction coefficient. diagonal is the "
      "largest diagonal entry of M divided by the smallest (of W where there is no M). asymmetry is the "
      "largest |A_ij - A_ji| / sqrt(A_ii A_jj) of that matrix as it was read; a line below the table names a "
      "matrix that is not symmetric and an M of which the file holds one triangle. 3m>n says whether "
      "there "
      "are more contact directions than degrees of freedom; the impulses are then not unique. A kind that "
      "ends with 2D means two directions per contact (2m>n).\n"
      "A line 'starts' below the table names what solvers may start from: impulses, contact states and "
      "friction bounds of the previous solve, and velocities at the beginning of the step. A file without "
      "the "
      "line holds none of them.\n"
      "Second table, over the steps of the simulation behind a finished recording: largest values where the "
      "title says ≤, sums of solves, iterations and unresolved steps, and the energy after the first and the "
      "last step.");
  command->footer(
      "Examples:\n"
      "  signorini info bucket.h5\n"
      "  signorini info bucket.h5 --steps             one line for every snapshot\n"
      "  signorini info bucket.h5 --facts             does the recording show what its scene states?\n"
      "  signorini info *.hdf5 --json\n"
      "\n"
      "With --json: a list with one object per file, with every snapshot, the number of snapshots "
      "that hold each start, and every column of the statistics, with units.\n"
      "Exit codes: 0 success; 1 a fact differs (with --facts); 2 wrong command line; 3 a file cannot be "
      "read; 5 out of memory.");
  auto a = std::make_shared<InfoArguments>();
  command->add_option("FILE", a->files, "Recordings (.h5), FCLib files (.hdf5) or npz problems (.npz)")
      ->required();
  command->add_flag("--steps", a->steps, "Show one line for every snapshot instead of one per file");
  add_matrix_option(*command, a->matrix);
  command->add_flag("--facts", a->facts,
                    "Check the facts that the scene of the recording states, e.g. 'the block stays at rest'");
  command->callback([&program, a] {
    program.command = [&program, a] { return a->facts ? check_facts(program, *a) : info(program, *a); };
  });
}

}  // namespace signorini
