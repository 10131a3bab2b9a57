#include "comparison_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "base/median.h"
#include "base/options.h"
#include "terminal.h"

namespace signorini {
namespace {

constexpr std::size_t kPage = 80, kMostNames = 22;

using Snapshot = std::pair<std::string, std::string>;  ///< file, step
using Variant = std::tuple<std::string, std::string, int>;

/// The repetitions of one variant on one snapshot.
struct Outcome {
  std::string law;
  SolveStatus status = SolveStatus::failed;
  double iterations = 0.0;
  std::vector<double> seconds;

  bool solved() const { return status == SolveStatus::converged; }
};

/// The least time on a snapshot, apart for every friction law: they are different problems.
using Least = std::map<std::pair<std::string, Snapshot>, double>;
using Outcomes = std::map<Variant, std::map<Snapshot, Outcome>>;

Outcomes outcomes_of(std::span<const RunRecord> rows) {
  const bool timed = std::ranges::find(rows, "time", &RunRecord::protocol) != rows.end();
  Outcomes all;
  for (const RunRecord& r : rows) {
    if (r.protocol != (timed ? "time" : "self-stopped")) continue;
    Outcome& one = all[{r.label, r.region_mode, r.threads}][{r.file, r.step}];
    one.law = r.law;
    one.status = r.status;
    one.iterations = r.iterations;
    one.seconds.push_back(r.setup_seconds + r.solve_seconds);
  }
  return all;
}

Least least_seconds(const Outcomes& all) {
  Least least;
  for (const auto& [variant, outcomes] : all) {
    for (const auto& [snapshot, one] : outcomes) {
      if (!one.solved()) continue;
      const auto [found, fresh] = least.emplace(std::pair(one.law, snapshot), median_of(one.seconds));
      if (!fresh) found->second = std::min(found->second, median_of(one.seconds));
    }
  }
  return least;
}

ComparisonLine line_of(const std::map<Snapshot, Outcome>& outcomes, const Least& least) {
  ComparisonLine line;
  std::vector<double> iterations, ratios;
  std::map<SolveStatus, int> others;
  for (const auto& [snapshot, one] : outcomes) {
    ++line.snapshots;
    if (!one.solved()) {
      ++others[one.status];
      continue;
    }
    ++line.solved;
    const double best = least.at({one.law, snapshot}), own = median_of(one.seconds);
    line.fastest += own == best ? 1U : 0U;
    iterations.push_back(one.iterations);
    if (best > 0.0) ratios.push_back(own / best);
  }
  line.iterations = median_of(iterations);
  line.times_best = median_of(ratios);
  for (const auto& [status, times] : others)
    line.not_solved += fmt::format("{}{} {}", line.not_solved.empty() ? "" : ", ", times, enum_name(status));
  return line;
}

/// "pgs", "pgs, points", "pgs, points, 2 threads": what the runs do not share.
std::string name_of(const Variant& variant, bool modes, bool threads) {
  const auto& [label, mode, count] = variant;
  std::string name = label;
  if (modes) name += ", " + mode;
  if (threads) name += fmt::format(", {} thread{}", count, count == 1 ? "" : "s");
  return name;
}

std::string ratio_text(double ratio) {
  if (std::isnan(ratio)) return "–";
  return ratio < 99.95 ? fmt::format("{:.1f}", ratio) : fmt::format("{:.3g}", ratio);
}

/// At least one line.
std::vector<std::string> cell_lines(const std::string& text, std::size_t width) {
  std::vector<std::string> lines = wrapped_lines(text, width);
  if (lines.empty()) lines.emplace_back();
  return lines;
}

TextTable::Row row_of(const ComparisonLine& line, const std::string& name, const std::string& reason) {
  const bool all = line.solved == line.snapshots;
  return {name,
          {fmt::format("{}/{}", line.solved, line.snapshots), all ? Colour::green : Colour::red},
          fmt::format("{}", line.fastest),
          std::isnan(line.iterations) ? "–" : fmt::format("{:g}", line.iterations),
          ratio_text(line.times_best),
          {reason, Colour::dim}};
}

}  // namespace

Comparison compare_runs(std::span<const RunRecord> rows) {
  const Outcomes all = outcomes_of(rows);
  const Least least = least_seconds(all);
  std::set<std::string> modes;
  std::set<int> threads;
  std::set<Snapshot> snapshots, solved;
  for (const auto& [variant, outcomes] : all) {
    modes.insert(std::get<1>(variant));
    threads.insert(std::get<2>(variant));
    for (const auto& [snapshot, one] : outcomes) snapshots.insert(snapshot);
  }
  for (const auto& [key, seconds] : least) solved.insert(key.second);
  Comparison found;
  found.snapshots = snapshots.size();
  found.solved_by_none = snapshots.size() - solved.size();
  for (const auto& [variant, outcomes] : all) {
    found.lines.push_back(line_of(outcomes, least));
    found.lines.back().variant = name_of(variant, modes.size() > 1, threads.size() > 1);
  }
  const auto better = [](const ComparisonLine& a, const ComparisonLine& b) {
    if (a.solved != b.solved) return a.solved > b.solved;
    return a.fastest != b.fastest ? a.fastest > b.fastest : a.times_best < b.times_best;
  };
  std::stable_sort(found.lines.begin(), found.lines.end(), better);
  return found;
}

void print_comparison(const Comparison& comparison) {
  TextTable table({{"solver"},
                   {"solved", Align::right},
                   {"fastest", Align::right},
                   {"iterations", Align::right},
                   {"time/best", Align::right},
                   {"not solved"}});
  std::size_t names = 6, solved = 6;
  for (const ComparisonLine& line : comparison.lines) {
    names = std::max(names, std::min(kMostNames, text_width(line.variant)));
    solved = std::max(solved, fmt::format("{}/{}", line.solved, line.snapshots).size());
  }
  const std::size_t room = kPage - names - solved - 7 - 10 - 9 - 5 * 2;
  for (const ComparisonLine& line : comparison.lines) {
    const std::vector<std::string> name = cell_lines(line.variant, kMostNames);
    const std::vector<std::string> reason = cell_lines(line.not_solved, room);
    table.add(row_of(line, name.front(), reason.front()));
    for (std::size_t i = 1; i < std::max(name.size(), reason.size()); ++i)
      table.add({i < name.size() ? "  " + name[i] : "",
                 "",
                 "",
                 "",
                 "",
                 {i < reason.size() ? reason[i] : "", Colour::dim}});
  }
  print(table.text());
  std::string below =
      fmt::format("{} snapshot{}", comparison.snapshots, comparison.snapshots == 1 ? "" : "s");
  if (comparison.solved_by_none > 0)
    below += fmt::format(", {} solved by no solver", comparison.solved_by_none);
  print(below + "; medians over the solved ones, time with set-up\n");
}

Json to_json(const Comparison& comparison) {
  Json lines = Json::array();
  for (const ComparisonLine& line : comparison.lines) {
    lines.push_back({{"solver", line.variant},
                     {"snapshots", line.snapshots},
                     {"solved", line.solved},
                     {"fastest", line.fastest},
                     {"median_iterations", line.iterations},
                     {"median_time_over_best", line.times_best},
                     {"not_solved", line.not_solved}});
  }
  return {
      {"snapshots", comparison.snapshots}, {"solved_by_none", comparison.solved_by_none}, {"solvers", lines}};
}

}  // namespace signorini
