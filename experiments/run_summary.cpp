#include "run_summary.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>

#include "base/median.h"
#include "harness/run_record.h"
#include "terminal.h"

namespace signorini {
namespace {

std::string summarised_protocol(const std::vector<RunRecord>& records) {
  std::set<std::string> protocols;
  for (const RunRecord& r : records) protocols.insert(r.protocol);
  for (const char* protocol : {"time", "converge"}) {
    if (protocols.contains(protocol)) return protocol;
  }
  return "self-stopped";
}

struct Key {
  std::string label, mode;
  int threads;
  auto operator<=>(const Key&) const = default;
};

/// The rows of one key.
struct Group {
  RunSummaryLine line;
  std::vector<double> iterations, setup, solve;

  void add(const RunRecord& r) {
    const bool converged = r.status == SolveStatus::converged;
    if (r.repetition == 0) {
      ++line.runs;
      line.converged += converged ? 1U : 0U;
      line.unsupported += r.status == SolveStatus::unsupported ? 1U : 0U;
      if (converged) iterations.push_back(r.iterations);
    }
    if (!converged) return;
    setup.push_back(r.setup_seconds);
    solve.push_back(r.solve_seconds);
  }
};

}  // namespace

std::vector<RunSummaryLine> summarise_runs(const std::filesystem::path& runs_csv) {
  const std::vector<RunRecord> records = read_run_table(runs_csv);
  const std::string protocol = summarised_protocol(records);
  std::vector<Key> order;
  std::map<Key, Group> groups;
  for (const RunRecord& r : records) {
    if (r.protocol != protocol) continue;
    const Key key{r.label, r.region_mode, r.threads};
    if (!groups.contains(key)) order.push_back(key);
    groups[key].add(r);
  }
  std::vector<RunSummaryLine> lines;
  for (const Key& key : order) {
    const Group& group = groups[key];
    RunSummaryLine line = group.line;
    line.solver = key.label;
    line.regions = key.mode;
    line.threads = key.threads;
    line.iterations = median_of(group.iterations);
    line.setup_seconds = median_of(group.setup);
    line.solve_seconds = median_of(group.solve);
    lines.push_back(std::move(line));
  }
  return lines;
}

void print_run_summary(const std::vector<RunSummaryLine>& lines) {
  TextTable table({{"solver"},
                   {"regions"},
                   {"threads", Align::right},
                   {"converged", Align::right},
                   {"iterations", Align::right},
                   {"setup", Align::right},
                   {"solve", Align::right}});
  for (const RunSummaryLine& line : lines) {
    TextTable::Cell converged{fmt::format("{}/{}", line.converged, line.runs),
                              line.converged == line.runs ? Colour::green : Colour::red};
    if (line.unsupported == line.runs) converged = {"unsupported"};  // by design, not a failure
    table.add({line.solver, line.regions, fmt::format("{}", line.threads), converged,
               std::isnan(line.iterations) ? "–" : fmt::format("{:g}", line.iterations),
               seconds_text(line.setup_seconds), seconds_text(line.solve_seconds)});
  }
  print(table.text());
}

Json to_json(const std::vector<RunSummaryLine>& lines) {
  Json all = Json::array();
  for (const RunSummaryLine& line : lines) {
    all.push_back({{"solver", line.solver},
                   {"region_mode", line.regions},
                   {"threads", line.threads},
                   {"runs", line.runs},
                   {"converged", line.converged},
                   {"unsupported", line.unsupported},
                   {"median_iterations", line.iterations},
                   {"median_setup_seconds", line.setup_seconds},
                   {"median_solve_seconds", line.solve_seconds}});
  }
  return all;
}

}  // namespace signorini
