#include "harness/run_record.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "base/check.h"
#include "base/options.h"
#include "base/text.h"

namespace signorini {
namespace {

/// Names every column once; header, row, JSON and reader follow from it.
template <class Record, class Visitor>
void visit_columns(Record& r, Visitor&& v) {
  v("experiment", r.experiment);
  v("file", r.file);
  v("step", r.step);
  v("contacts", r.contacts);
  v("dofs", r.dofs);
  v("regions", r.regions);
  v("largest_region", r.largest_region);
  v("solver", r.solver);
  v("options", r.options);
  v("law", r.law);
  v("region_mode", r.region_mode);
  v("threads", r.threads);
  v("repetition", r.repetition);
  v("status", r.status);
  v("iterations", r.iterations);
  v("residual", r.errors.residual);
  v("natural_map", r.errors.natural_map);
  v("siconos_error", r.errors.siconos_error);
  v("fischer_burmeister", r.errors.fischer_burmeister);
  v("penetration", r.errors.penetration);
  v("cone_violation", r.errors.cone_violation);
  v("dissipation_angle", r.errors.dissipation_angle);
  v("equation", r.errors.equation);
  v("setup_seconds", r.setup_seconds);
  v("solve_seconds", r.solve_seconds);
  v("tolerance", r.tolerance);
  v("protocol", r.protocol);
  v("first_phase", r.first_phase);
  v("products", r.products);
  v("message", r.message);
  v("label", r.label);
  v("mass_products", r.counters.mass_products);
  v("direction_products", r.counters.direction_products);
  v("contact_sweeps", r.counters.contact_sweeps);
  v("triangular_solves", r.counters.triangular_solves);
  v("evaluations", r.counters.evaluations);
  v("state_changes", r.counters.state_changes);
  v("restarts", r.counters.restarts);
  v("guards", r.counters.guards);
  v("relinearisations", r.counters.relinearisations);
  v("fb_normal", r.errors.fb_normal);
  v("fb_static", r.errors.fb_static);
  v("fb_kinetic", r.errors.fb_kinetic);
  v("cpu_share", r.cpu_share);
  v("waited_share", r.waited_share);
  v("involuntary_switches", r.involuntary_switches);
}

/// Last columns of earlier versions of the table.
constexpr std::string_view kEarlierEnds[] = {"label", "relinearisations", "fb_kinetic"};

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

std::string cell(const std::string& value) { return quoted(value); }
std::string cell(SolveStatus value) { return std::string(enum_name(value)); }
std::string cell(double value) { return exact_text(value); }
std::string cell(int value) { return fmt::format("{}", value); }
std::string cell(long long value) { return fmt::format("{}", value); }

template <class T>
void parse_cell(const std::string& text, const std::string& what, T& out) {
  if constexpr (std::is_same_v<T, std::string>) {
    out = text;
  } else if constexpr (std::is_same_v<T, SolveStatus>) {
    out = parse_enum<SolveStatus>(text, what);
  } else if constexpr (std::is_same_v<T, double>) {
    out = text.empty() ? std::numeric_limits<double>::quiet_NaN() : parse_double(text, what);
  } else {
    out = static_cast<T>(parse_integer(text, what));
  }
}

using Line = std::vector<std::string>;

/// RFC 4180. A last line without its line feed is torn and not returned.
std::vector<Line> parse_csv(const std::string& text, std::size_t* whole_bytes) {
  std::vector<Line> lines;
  Line line;
  std::string field;
  bool inside_quotes = false;
  std::size_t complete = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (inside_quotes) {
      if (c != '"') {
        field += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        field += '"';
        ++i;
      } else {
        inside_quotes = false;
      }
    } else if (c == '"') {
      inside_quotes = true;
    } else if (c == ',' || c == '\n') {
      line.push_back(std::move(field));
      field.clear();
      if (c == '\n') {
        lines.push_back(std::move(line));
        line.clear();
        complete = i + 1;
      }
    } else if (c != '\r') {
      field += c;
    }
  }
  if (whole_bytes != nullptr) *whole_bytes = complete;
  return lines;
}

std::string read_text(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    throw_input("{}: {}", path.string(),
                std::filesystem::exists(path, error) ? "not a regular file" : "no such file");
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) throw_input("{}: cannot be read", path.string());
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace

std::string run_record_header() {
  std::string text;
  const RunRecord record;
  visit_columns(record, [&text](const char* name, const auto&) {
    text += (text.empty() ? "" : ",") + std::string(name);
  });
  return text;
}

std::string run_record_row(const RunRecord& record) {
  std::string text;
  bool first = true;
  visit_columns(record, [&](const char*, const auto& value) {
    if (!first) text += ',';
    first = false;
    text += cell(value);
  });
  return text;
}

std::string run_record_json(const RunRecord& record) {
  using Json = nlohmann::ordered_json;
  Json row = Json::object();
  visit_columns(record, [&row]<class T>(const char* name, const T& value) {
    if constexpr (std::is_same_v<T, SolveStatus>) {
      row[name] = enum_name(value);
    } else {
      row[name] = value;
    }
  });
  return row.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::vector<RunRecord> read_run_table(const std::filesystem::path& path) {
  return read_run_table(path, nullptr);
}

std::vector<RunRecord> read_run_table(const std::filesystem::path& path, std::size_t* whole_bytes,
                                      bool* old_columns) {
  if (old_columns != nullptr) *old_columns = false;
  const std::vector<Line> lines = parse_csv(read_text(path), whole_bytes);
  std::vector<RunRecord> records;
  if (lines.empty()) return records;
  const std::string header = fmt::format("{}", fmt::join(lines[0], ","));
  const std::string current = run_record_header();
  const bool earlier = current.starts_with(header + ",") &&
                       std::ranges::find(kEarlierEnds, lines[0].back()) != std::end(kEarlierEnds);
  if (header != current && !earlier) {
    throw_input("{}: line 1: not a table of runs of this version (the columns differ); move it away",
                path.string());
  }
  if (old_columns != nullptr) *old_columns = earlier;
  const std::size_t columns = lines[0].size();
  for (std::size_t i = 1; i < lines.size(); ++i) {
    RunRecord record;
    std::size_t column = 0;
    visit_columns(record, [&](const char* name, auto& value) {
      if (column == columns) {
        if constexpr (std::is_same_v<std::remove_reference_t<decltype(value)>, double>)
          value = std::numeric_limits<double>::quiet_NaN();
        return;
      }
      if (column >= lines[i].size()) throw_input("{}: line {}: too few columns", path.string(), i + 1);
      try {
        parse_cell(lines[i][column++], name, value);
      } catch (const UsageError& error) {
        throw_input("{}: line {}: {}", path.string(), i + 1, error.what());
      }
    });
    if (column != lines[i].size()) throw_input("{}: line {}: too many columns", path.string(), i + 1);
    records.push_back(std::move(record));
  }
  return records;
}

std::string run_key(const RunRecord& r) {
  return fmt::format("{}\x1f{}\x1f{}\x1f{}\x1f{}\x1f{}\x1f{}\x1f{}\x1f{}\x1f{}", r.experiment, r.file, r.step,
                     r.solver, r.options, r.region_mode, r.threads, r.repetition, exact_text(r.tolerance),
                     r.protocol);
}

}  // namespace signorini
