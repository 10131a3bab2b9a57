// signorini info: what a recording or an FCLib file holds, before anything is solved.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>

#include "commands.h"
#include "contact/matrix_note.h"
#include "fact_json.h"
#include "interrupt.h"
#include "json_output.h"
#include "linalg/asymmetry.h"
#include "record/problem_file.h"
#include "record/recording_file.h"
#include "regions/region_partition.h"
#include "scene/facts.h"
#include "terminal.h"

namespace signorini {
namespace {

/// Smallest and largest of something over the snapshots.
struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
  void add(double x) {
    low = std::min(low, x);
    high = std::max(high, x);
  }
  bool empty() const { return low > high; }
  std::string text(const char* format = "{:.0f}") const {
    if (empty()) return "–";
    const std::string a = fmt::format(fmt::runtime(format), low), b = fmt::format(fmt::runtime(format), high);
    return a == b ? a : a + "–" + b;
  }
};

struct StepFacts {
  std::string step, kind;
  Index contacts = 0, dofs = 0;
  Index regions = 0, islands = 0, largest_region = 0, largest_island = 0;
  bool points_exact = false;  ///< splitting by mass points drops nothing
  Range mu;
  double diagonal_ratio = 1.0;  ///< largest over smallest diagonal entry of M, or of W where there is no M
  bool redundant = false;       ///< more contact directions than dofs: W is singular
  double asymmetry = 0.0;       ///< of M, or of W where there is no M (linalg/asymmetry.h)
  std::string note;             ///< contact/matrix_note.h
};

StepFacts examine(const ProblemFile& file, const std::string& step) {
  const ContactProblem problem = file.read(step);
  StepFacts facts;
  facts.step = step;
  facts.contacts = problem.contacts();
  facts.dofs = problem.dofs();
  facts.kind = !problem.has_primal()                        ? "dual"
               : problem.kind == ProblemKind::explicit_step ? "explicit"
               : problem.kind == ProblemKind::implicit_step ? "implicit"
                                                            : "primal";
  facts.points_exact = is_exact(problem, RegionMode::points);
  const RegionPartition points =
      partition_regions(problem, facts.points_exact ? RegionMode::points : RegionMode::points_approx);
  const RegionPartition islands = partition_regions(problem, RegionMode::islands);
  facts.regions = points.regions();
  facts.islands = islands.regions();
  facts.largest_region = facts.contacts > 0 ? points.largest() : 0;
  facts.largest_island = facts.contacts > 0 ? islands.largest() : 0;
  for (const double mu : problem.mu) facts.mu.add(mu);
  Range diagonal;
  const SparseRows& matrix = problem.has_primal() ? problem.M : problem.W;
  facts.asymmetry = asymmetry(matrix);
  facts.note = matrix_note(problem);
  const Vector entries = matrix.diagonal();
  for (const double entry : entries) diagonal.add(entry);
  if (!diagonal.empty() && diagonal.low > 0.0) facts.diagonal_ratio = diagonal.high / diagonal.low;
  facts.redundant = problem.has_primal() && 3 * facts.contacts > facts.dofs;
  return facts;
}

Json to_json(const StepFacts& f) {
  return {{"step", f.step},
          {"kind", f.kind},
          {"contacts", f.contacts},
          {"dofs", f.dofs},
          {"regions", f.regions},
          {"largest_region", f.largest_region},
          {"regions_exact", f.points_exact},
          {"islands", f.islands},
          {"largest_island", f.largest_island},
          {"mu_min", f.mu.empty() ? Json() : Json(f.mu.low)},
          {"mu_max", f.mu.empty() ? Json() : Json(f.mu.high)},
          {"diagonal_ratio", f.diagonal_ratio},
          {"redundant", f.redundant},
          {"asymmetry", f.asymmetry},
          {"note", f.note}};
}

using Columns = std::vector<TextTable::Column>;

/// `before`, what `fact_cells` says, `after`.
Columns with_facts(Columns before, const Columns& after) {
  for (const char* title :
       {"contacts", "dofs", "regions", "largest", "islands", "largest", "μ", "diagonal", "asymmetry", "3m>n"})
    before.push_back({title, Align::right});
  before.insert(before.end(), after.begin(), after.end());
  return before;
}

/// One step, or the ranges over several.
TextTable::Row fact_cells(std::span<const StepFacts> steps) {
  Range contacts, dofs, regions, largest_region, islands, largest_island, mu, ratio, unsymmetric;
  bool exact = true, redundant = false;
  for (const StepFacts& f : steps) {
    contacts.add(f.contacts);
    dofs.add(f.dofs);
    regions.add(f.regions);
    largest_region.add(f.largest_region);
    islands.add(f.islands);
    largest_island.add(f.largest_island);
    if (!f.mu.empty()) {
      mu.add(f.mu.low);
      mu.add(f.mu.high);
    }
    ratio.add(f.diagonal_ratio);
    unsymmetric.add(f.asymmetry);
    exact = exact && f.points_exact;
    redundant = redundant || f.redundant;
  }
  return {contacts.text(),         dofs.text(),          regions.text() + (exact ? "" : "~"),
          largest_region.text(),   islands.text(),       largest_island.text(),
          mu.text("{:.3g}"),       ratio.text("{:.3g}"), unsymmetric.text("{:.2g}"),
          redundant ? "yes" : "no"};
}

TextTable::Row step_row(const StepFacts& facts) {
  TextTable::Row row = fact_cells({&facts, 1});
  row.insert(row.begin(), facts.step);
  return row;
}

TextTable::Row summary_row(const std::string& path, const std::vector<StepFacts>& steps, double bytes) {
  TextTable::Row row{std::filesystem::path(path).filename().string(),
                     steps.empty() ? "–" : steps.front().kind, fmt::format("{}", steps.size())};
  for (TextTable::Cell& cell : fact_cells(steps)) row.push_back(std::move(cell));
  row.emplace_back(bytes_text(bytes));
  return row;
}

/// A column of the statistics of all steps.
struct Quantity {
  Range range;
  double sum = 0.0, first = 0.0, last = 0.0;
  std::size_t values = 0;  ///< steps that have one
};

std::map<std::string, Quantity> quantities(const StepTable& table) {
  std::map<std::string, Quantity> all;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    Quantity& quantity = all[table.columns[c]];
    for (const std::vector<double>& row : table.rows) {
      if (std::isnan(row[c])) continue;
      quantity.range.add(row[c]);
      quantity.sum += row[c];
      ++quantity.values;
    }
    if (table.rows.empty()) continue;
    quantity.first = table.rows.front()[c];
    quantity.last = table.rows.back()[c];
  }
  return all;
}

Json to_json(const StepTable& table) {
  Json all = Json::object();
  const auto found = quantities(table);
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const Quantity& q = found.at(table.columns[c]);
    all[table.columns[c]] = {{"unit", table.units[c]},
                             {"least", q.range.empty() ? Json() : Json(q.range.low)},
                             {"most", q.range.empty() ? Json() : Json(q.range.high)},
                             {"mean", q.range.empty() ? Json() : Json(q.sum / static_cast<double>(q.values))},
                             {"first", q.first},
                             {"last", q.last}};
  }
  return {{"rows", table.rows.size()}, {"columns", all}};
}

/// What the simulation of a recording went through; "–" for what its table does not have.
TextTable::Row statistics_row(const std::string& path, const StepTable& table) {
  const auto all = quantities(table);
  const auto show = [&](const char* name, auto&& text) -> std::string {
    const auto found = all.find(name);
    return found == all.end() || found->second.range.empty() ? "–" : text(found->second);
  };
  const auto most = [](const Quantity& q) { return fmt::format("{:.4g}", q.range.high); };
  const auto sum = [](const Quantity& q) { return fmt::format("{:.0f}", q.sum); };
  double before = 0.0, after = 0.0;
  for (const char* kind : {"kinetic_energy", "elastic_energy", "potential_energy"}) {
    if (!all.contains(kind)) continue;
    before += all.at(kind).first;
    after += all.at(kind).last;
  }
  return {std::filesystem::path(path).filename().string(),
          fmt::format("{}", table.rows.size()),
          show("time", [](const Quantity& q) { return seconds_text(q.last); }),
          show("contacts", most),
          show("regions", most),
          show("islands", most),
          show("solves", sum),
          show("iterations", sum),
          show("detection_rounds", most),
          show("halvings", most),
          show("unresolved", sum),
          show("residual", [](const Quantity& q) { return error_text(q.range.high); }),
          show("penetration", [](const Quantity& q) { return fmt::format("{:.3g} m", q.range.high); }),
          fmt::format("{:.4g} → {:.4g} J", before, after)};
}

/// The facts of every recording, one line each; fails when one differs.
int check_facts(const Program& program, const std::vector<std::string>& paths) {
  Json all = Json::array();
  TextTable table({{"file"}, {"fact"}, {"verdict"}, {"says"}});
  bool good = true;
  for (const std::string& path : paths) {
    if (ProblemFile(path).kind() != ProblemFileKind::recording)
      throw_usage("{}: is an FCLib file; only recordings have facts", path);
    const RecordingReader reader(path, RecordingReader::Parts::checked);
    const auto statistics = reader.statistics();
    if (!statistics)
      throw_input(
          "{}: the recording is unfinished, so its facts cannot be checked; continue it with 'signorini "
          "record ... --resume'",
          path);
    const std::string name = std::filesystem::path(path).filename().string();
    const Facts facts = read_facts(reader.header().config, path + ": scene");
    if (facts.empty()) say(name + ": its scene states no facts");
    const bool whole = runs_to_its_end(reader.header().config, statistics->rows.size(), path + ": scene");
    for (const FactVerdict& verdict : judge_facts(facts, *statistics, whole)) {
      good = good && (verdict.holds || !verdict.reached);
      table.add({name,
                 verdict.name,
                 {verdict_text(verdict), verdict.holds     ? Colour::green
                                         : verdict.reached ? Colour::red
                                                           : Colour::yellow},
                 verdict.fact.says});
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

/// A line for every thing that the notes of some steps say.
std::string notes_text(const std::string& path, const std::vector<StepFacts>& steps) {
  std::map<std::string, std::size_t> found;
  for (const StepFacts& f : steps) {
    if (!f.note.empty()) ++found[f.note];
  }
  std::string text;
  for (const auto& [note, count] : found) {
    text += std::filesystem::path(path).filename().string() + ": " + note;
    text += steps.size() > 1 ? fmt::format(" ({} of {} steps)\n", count, steps.size()) : "\n";
  }
  return text;
}

int info(const Program& program, const std::vector<std::string>& paths, bool list_steps,
         MatrixReading reading) {
  std::string notes;
  Json all = Json::array();
  TextTable simulated({{"simulation"},
                       {"steps", Align::right},
                       {"time", Align::right},
                       {"contacts ≤", Align::right},
                       {"regions ≤", Align::right},
                       {"islands ≤", Align::right},
                       {"solves", Align::right},
                       {"iterations", Align::right},
                       {"rounds ≤", Align::right},
                       {"halvings ≤", Align::right},
                       {"unresolved", Align::right},
                       {"residual ≤", Align::right},
                       {"penetration ≤", Align::right},
                       {"energy"}});
  TextTable summary(with_facts({{"file"}, {"kind"}, {"steps", Align::right}}, {{"size", Align::right}}));
  for (const std::string& path : paths) {
    const ProblemFile file(path, reading);
    const auto bytes = static_cast<double>(std::filesystem::file_size(path));
    Progress progress("reading " + path, static_cast<long long>(file.steps().size()));
    std::vector<StepFacts> steps;
    for (const std::string& step : file.steps()) {
      stop_when_interrupted();
      steps.push_back(examine(file, step));
      progress.update(static_cast<long long>(steps.size()), "step " + step);
    }
    progress.clear();
    notes += notes_text(path, steps);
    std::optional<StepTable> statistics;
    if (file.kind() == ProblemFileKind::recording)
      statistics = RecordingReader(path, RecordingReader::Parts::checked).statistics();
    if (statistics && !list_steps) simulated.add(statistics_row(path, *statistics));
    if (program.json) {
      Json list = Json::array();
      for (const StepFacts& f : steps) list.push_back(to_json(f));
      all.push_back({{"file", path},
                     {"title", file.title()},
                     {"bytes", std::filesystem::file_size(path)},
                     {"steps", list},
                     {"statistics", statistics ? to_json(*statistics) : Json()}});
    } else if (list_steps) {
      TextTable table(with_facts({{"step"}}, {}));
      for (const StepFacts& f : steps) table.add(step_row(f));
      print(fmt::format("{}  {}\n{}\n", painted(path, Colour::bold), file.title(), table.text()));
    } else {
      summary.add(summary_row(path, steps, bytes));
    }
  }
  if (program.json) {
    print_json(all);
  } else if (!summary.empty()) {
    print(summary.text());
    if (!simulated.empty()) print("\n" + simulated.text());
  }
  if (!program.json && !notes.empty()) print("\n" + notes);
  return kSuccess;
}

}  // namespace

void add_info(CLI::App& app, Program& program) {
  CLI::App* command = app.add_subcommand(
      "info",
      "Show what a recording or an FCLib file holds\n"
      "\n"
      "First table, over the snapshots of a file: regions are groups of contacts connected through shared "
      "mass "
      "points (~: splitting there would not be exact), islands are groups connected through bodies; each is "
      "followed by the number of contacts in the largest. μ is the friction coefficient. diagonal is the "
      "largest diagonal entry of M divided by the smallest (of W where there is no M). asymmetry is the "
      "largest |A_ij - A_ji| / sqrt(A_ii A_jj) of that matrix as it was read; a line below the table names a "
      "matrix that is not symmetric and an M of which the file holds one triangle. 3m>n says whether "
      "there "
      "are more contact directions than degrees of freedom; the impulses are then not unique.\n"
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
      "With --json: a list with one object per file, with every snapshot and every column of the "
      "statistics and their units.\n"
      "Exit codes: 0 success; 1 a fact differs (with --facts); 2 wrong command line; 3 a file "
      "cannot be read.");
  struct Arguments {
    std::vector<std::string> files;
    bool steps = false, facts = false;
    std::string matrix = "symmetric";
  };
  auto a = std::make_shared<Arguments>();
  command->add_option("FILE", a->files, "Recordings (.h5) or FCLib files (.hdf5)")->required();
  command->add_flag("--steps", a->steps, "Show one line for every snapshot instead of one per file");
  command
      ->add_option("--matrix", a->matrix,
                   "How to read an M of which the file holds one triangle: symmetric (fill up the other "
                   "triangle) or as-stored (default: symmetric)")
      ->type_name("HOW");
  command->add_flag("--facts", a->facts,
                    "Check the facts that the scene of the recording states, e.g. 'the block stays at rest'");
  command->callback([&program, a] {
    program.command = [&program, a] {
      return a->facts ? check_facts(program, a->files)
                      : info(program, a->files, a->steps, parse_enum<MatrixReading>(a->matrix, "--matrix"));
    };
  });
}

}  // namespace signorini
