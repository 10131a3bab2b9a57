#include "harness/run_record.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "base/check.h"
#include "base/csv_text.h"
#include "base/input_file.h"
#include "base/options.h"
#include "base/text.h"

namespace signorini {
namespace {

/// What is stated of a column beside its type.
struct Heading {
  const char *name, *unit, *meaning;
  bool key = false;
};
constexpr bool kKey = true;

/// States every column once; header, row, JSON, reader, schema and key follow from it.
template <class Record, class Visitor>
void visit_columns(Record& r, Visitor&& v) {
  v(Heading{"experiment", "", "id of the experiment", kKey}, r.experiment);
  v(Heading{"file", "", "problem file or recording that the problem comes from", kKey}, r.file);
  v(Heading{"step", "", "snapshot of the file; STEP.ROUND where a step has several linearisations", kKey},
    r.step);
  v(Heading{"contacts", "1", "contacts of the problem"}, r.contacts);
  v(Heading{"dofs", "1", "velocity components of the problem, 0 where only W is given"}, r.dofs);
  v(Heading{"regions", "1", "parts that the problem was split into for this run"}, r.regions);
  v(Heading{"largest_region", "1", "contacts in the largest part"}, r.largest_region);
  v(Heading{"solver", "", "name of the solver", kKey}, r.solver);
  v(Heading{"options", "", "every option of the solver as key=value;…", kKey}, r.options);
  v(Heading{"law", "", "friction law: cone or pyramid"}, r.law);
  v(Heading{"region_mode", "", "how the problem was split: none, points, islands, …", kKey}, r.region_mode);
  v(Heading{"threads", "1", "threads that the solve was given", kKey}, r.threads);
  v(Heading{"repetition", "1", "running number of a timed solve among its repetitions", kKey}, r.repetition);
  v(Heading{"status", "",
            "how the solve ended: converged, iteration_limit, time_limit, stalled, diverged, unsupported, "
            "failed"},
    r.status);
  v(Heading{"iterations", "1", "iterations in the solver's own sense, with regions the maximum over them"},
    r.iterations);
  v(Heading{"residual", "1",
            "error that the tolerance limits, measured by the referee relative to the largest entry of q"},
    r.errors.residual);
  v(Heading{"natural_map", "1",
            "error of the projection onto the friction cone relative to the largest entry of q, cone only"},
    r.errors.natural_map);
  v(Heading{"siconos_error", "1",
            "error as Siconos 4 defines it, which depends on the units of the problem, cone only"},
    r.errors.siconos_error);
  v(Heading{"fischer_burmeister", "m/s",
            "norm of the Fischer-Burmeister function of impulses and velocities"},
    r.errors.fischer_burmeister);
  v(Heading{"penetration", "m", "deepest penetration at the end of the step, needs the time step"},
    r.errors.penetration);
  v(Heading{"cone_violation", "1",
            "friction beyond mu times the normal impulse, relative to the largest normal impulse"},
    r.errors.cone_violation);
  v(Heading{"dissipation_angle", "deg", "largest angle between friction and the opposite of sliding"},
    r.errors.dissipation_angle);
  v(Heading{"equation", "1", "error of the equation of motion for the velocities that the solver returned"},
    r.errors.equation);
  v(Heading{"setup_seconds", "s", "wall-clock time of the set-up"}, r.setup_seconds);
  v(Heading{"solve_seconds", "s", "wall-clock time of the solve without the set-up"}, r.solve_seconds);
  v(Heading{"tolerance", "1", "residual that was asked for", kKey}, r.tolerance);
  v(Heading{"protocol", "", "how the run was made: converge, time or self-stopped", kKey}, r.protocol);
  v(Heading{"phases", "", "iterations by kind, e.g. cg=12 gs=30; empty for solvers of one kind"}, r.phases);
  v(Heading{"products", "1", "products with W"}, r.products);
  v(Heading{"message", "", "what is to be known of M and W; what auto used and why; why a run failed"},
    r.message);
  v(Heading{"label", "", "the experiment's own name of solver and options"}, r.label);
  v(Heading{"mass_products", "1", "products with M"}, r.counters.mass_products);
  v(Heading{"direction_products", "1", "products with H or its transpose"}, r.counters.direction_products);
  v(Heading{"contact_sweeps", "1", "sweeps over all contacts, inner ones included"},
    r.counters.contact_sweeps);
  v(Heading{"triangular_solves", "1", "solves with a factor of M"}, r.counters.triangular_solves);
  v(Heading{"evaluations", "1", "evaluations of the states of all contacts"}, r.counters.evaluations);
  v(Heading{"state_changes", "1", "contacts that changed state"}, r.counters.state_changes);
  v(Heading{"restarts", "1", "conjugate directions given up"}, r.counters.restarts);
  v(Heading{"guards", "1", "breakdowns met and mended, fallbacks taken"}, r.counters.guards);
  v(Heading{"relinearisations", "1", "changes of rows within the solve, passes of staggered projections"},
    r.counters.relinearisations);
  v(Heading{"fb_normal", "m", "Fischer-Burmeister error of the worst normal constraint, needs the time step"},
    r.errors.fb_normal);
  v(Heading{"fb_static", "m", "Fischer-Burmeister error of the worst sticking contact, needs the time step"},
    r.errors.fb_static);
  v(Heading{"fb_kinetic", "m", "Fischer-Burmeister error of the worst sliding contact, needs the time step"},
    r.errors.fb_kinetic);
  v(Heading{"cpu_share", "1", "CPU time of this process over wall-clock time while the solve was timed"},
    r.cpu_share);
  v(Heading{"waited_share", "1",
            "time spent waiting for a processor over wall-clock time while the solve was timed"},
    r.waited_share);
  v(Heading{"involuntary_switches", "1",
            "times that a processor was taken from a thread while the solve was timed, -1 when untimed"},
    r.involuntary_switches);
  v(Heading{"solver_bytes", "B",
            "memory that the solver holds after its set-up and solve, -1 where the system does not tell"},
    r.solver_bytes);
  v(Heading{"factorisations", "1",
            "matrices factored within the solve, -1 where an earlier program did not count them"},
    r.counters.factorisations);
  v(Heading{"island_residual", "1",
            "the residual with each contact relative to the largest entry of q in its island"},
    r.errors.island_residual);
  v(Heading{"speedup_8", "1",
            "speed-up of a sweep on 8 cores over one, predicted from work and span; not measured"},
    r.speedup_8);
  v(Heading{"speedup_64", "1", "the same on 64 cores"}, r.speedup_64);
  v(Heading{"speedup_256", "1", "the same on 256 cores"}, r.speedup_256);
  v(Heading{"threads_used", "1",
            "most threads that a loop of the solve was shared among: 1 where the problem is too small for "
            "more, -1 "
            "where an earlier program did not tell"},
    r.threads_used);
}

/// Last columns of earlier versions of the table.
constexpr std::string_view kEarlierEnds[] = {
    "label",        "relinearisations", "fb_kinetic",      "involuntary_switches",
    "solver_bytes", "factorisations",   "island_residual", "speedup_256"};

/// Of a table that ends with this column. Before `factorisations`, `admm` counted its new factors as restarts, those
/// that failed as guards.
void complete_earlier(RunRecord& record, std::string_view end) {
  if (end == "factorisations" || end == "island_residual" || end == "speedup_256") return;
  SolveCounters& c = record.counters;
  c.factorisations = -1;
  if (record.solver != "admm" && record.solver != "admm-global") return;
  c.factorisations = c.restarts + c.guards;
  c.restarts = 0;
}

std::string cell(const std::string& value) { return csv_field(value); }
std::string cell(SolveStatus value) { return std::string(enum_name(value)); }
std::string cell(double value) { return exact_text(value); }
std::string cell(int value) { return fmt::format("{}", value); }
std::string cell(long long value) { return fmt::format("{}", value); }

template <class T>
constexpr std::string_view type_name() {
  if constexpr (std::is_same_v<T, double>) return "real";
  return std::is_integral_v<T> ? "integer" : "text";
}

template <class T>
void parse_cell(const std::string& text, const std::string& what, T& out) {
  if constexpr (std::is_same_v<T, std::string>) {
    out = text;
  } else if constexpr (std::is_same_v<T, SolveStatus>) {
    out = parse_enum<SolveStatus>(text, what);
  } else if constexpr (std::is_same_v<T, double>) {
    out = text.empty() ? std::numeric_limits<double>::quiet_NaN() : parse_double(text, what);
  } else {
    const long long number = parse_integer(text, what);
    if (!std::in_range<T>(number)) throw_usage("{}: {} is out of range", what, text);
    out = static_cast<T>(number);
  }
}

}  // namespace

std::vector<Column> run_columns() {
  std::vector<Column> columns;
  const RunRecord record;
  visit_columns(record, [&columns]<class T>(const Heading& heading, const T&) {
    columns.push_back({heading.name, type_name<T>(), heading.unit, heading.meaning, heading.key});
  });
  return columns;
}

std::string run_schema_json() {
  using Json = nlohmann::ordered_json;
  Json columns = Json::array();
  for (const Column& c : run_columns())
    columns.push_back(
        {{"name", c.name}, {"type", c.type}, {"unit", c.unit}, {"meaning", c.meaning}, {"key", c.key}});
  return Json{{"runs.csv", columns}}.dump(2) + "\n";
}

std::string run_record_header() {
  std::string text;
  const RunRecord record;
  visit_columns(record, [&text](const Heading& heading, const auto&) {
    text += (text.empty() ? "" : ",") + std::string(heading.name);
  });
  return text;
}

std::string run_record_row(const RunRecord& record) {
  std::string text;
  bool first = true;
  visit_columns(record, [&](const Heading&, const auto& value) {
    if (!first) text += ',';
    first = false;
    text += cell(value);
  });
  return text;
}

std::string run_record_json(const RunRecord& record) {
  using Json = nlohmann::ordered_json;
  Json row = Json::object();
  visit_columns(record, [&row]<class T>(const Heading& heading, const T& value) {
    if constexpr (std::is_same_v<T, SolveStatus>) {
      row[heading.name] = enum_name(value);
    } else {
      row[heading.name] = value;
    }
  });
  return row.dump(-1, ' ', false, Json::error_handler_t::replace);
}

namespace {

/// A line of a table with so many columns; the rest keeps what a new record has, NaN for measures.
RunRecord parse_row(const CsvLine& line, std::size_t columns) {
  RunRecord record;
  std::size_t column = 0;
  visit_columns(record, [&](const Heading& heading, auto& value) {
    if (column == columns) {
      if constexpr (std::is_same_v<std::remove_reference_t<decltype(value)>, double>)
        value = std::numeric_limits<double>::quiet_NaN();
      return;
    }
    if (column >= line.size()) throw_usage("too few columns");
    parse_cell(line[column++], heading.name, value);
  });
  if (column != line.size()) throw_usage("too many columns");
  return record;
}

}  // namespace

std::vector<RunRecord> read_run_table(const std::filesystem::path& path) {
  RunTableContent content = read_run_table_content(path);
  if (!content.bad.empty()) throw_input("{}: {}", path.string(), content.bad.front());
  return std::move(content.records);
}

RunTableContent read_run_table_content(const std::filesystem::path& path) {
  RunTableContent content;
  const std::vector<CsvLine> lines = parse_csv(read_input_file(path, "file"), &content.whole_bytes);
  if (lines.empty()) return content;
  const std::string header = fmt::format("{}", fmt::join(lines[0], ","));
  const std::string current = run_record_header();
  content.old_columns = current.starts_with(header + ",") &&
                        std::ranges::find(kEarlierEnds, lines[0].back()) != std::end(kEarlierEnds);
  if (header != current && !content.old_columns) {
    throw_input("{}: line 1: not a table of runs of this version (the columns differ); move it away",
                path.string());
  }
  for (std::size_t i = 1; i < lines.size(); ++i) {
    try {
      content.records.push_back(parse_row(lines[i], lines[0].size()));
      if (content.old_columns) complete_earlier(content.records.back(), lines[0].back());
    } catch (const UsageError& error) {
      content.bad.push_back(fmt::format("line {}: {}", i + 1, error.what()));
    }
  }
  return content;
}

std::string run_key(const RunRecord& record) {
  std::string key;
  visit_columns(record, [&key](const Heading& heading, const auto& value) {
    if (heading.key) key += cell(value) + '\x1f';
  });
  return key;
}

}  // namespace signorini
