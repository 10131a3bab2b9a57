#include "campaign/cell_cost.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/median.h"
#include "campaign/campaign_parts.h"
#include "harness/repetitions.h"
#include "harness/run_record.h"

namespace signorini {
namespace {

namespace fs = std::filesystem;

constexpr double kSecondsPerContact = 3e-4;
constexpr double kLeastSeconds = 1e-4;
constexpr double kWriteSeconds = 4e-3;  ///< the rows of a group onto the disk, measured

double total(const GroupTime& time, int repetitions) {
  double seconds = time.once;
  for (const double one : time.repeated) seconds += runs_in_turns(one, repetitions) * one;
  return seconds;
}

double median_total(const std::vector<GroupTime>& times, int repetitions) {
  std::vector<double> seconds;
  for (const GroupTime& time : times) seconds.push_back(total(time, repetitions));
  return median_of(std::move(seconds));
}

/// Adds what a row tells, as run_group runs it: of the protocol `time` every repetition has a row of its own.
void add_row(const RunRecord& row, GroupTime& time) {
  const double setup = std::max(0.0, row.setup_seconds), solve = std::max(0.0, row.solve_seconds);
  if (row.protocol == "self-stopped") {
    if (is_short(setup)) time.once += setup;  // the first, which warms caches
    time.repeated.push_back(setup + solve);
  } else if (row.protocol == "time") {
    time.once += std::max(solve, Experiment{}.minimum_time) + (repetitions_of(setup, 2) > 1 ? setup : 0.0);
  } else {
    time.once += setup + solve;
  }
}

void learn_rows(const fs::path& table, CostModel& model) {
  struct Group {
    RunCell cell;
    GroupTime time{.once = kWriteSeconds};
  };
  std::map<std::string, Group> groups;
  std::string experiment;
  for (const RunRecord& row : read_run_table(table)) {
    experiment = row.experiment;
    RunCell cell{row.file, row.step, row.contacts, row.solver, row.options, row.label, row.tolerance};
    Group& group = groups[cell_key(experiment, cell)];
    group.cell = std::move(cell);
    add_row(row, group.time);
  }
  for (const auto& [key, group] : groups) model.learn(experiment, group.cell, group.time);
}

}  // namespace

int runs_in_group(const Experiment& experiment, const std::string& label) {
  const auto modes = static_cast<int>(experiment.regions.size()),
             threads = static_cast<int>(experiment.threads_of(label).size());
  int runs = 0;
  if (experiment.converge) runs += modes;
  if (experiment.time) runs += modes * threads * experiment.repetitions;
  if (experiment.time || experiment.self_stopped) runs += modes * threads;
  return std::max(runs, 1);
}

void CostModel::Rate::add(double seconds, int contacts) {
  sum_of_logs += std::log(std::max(seconds, kLeastSeconds) / std::max(contacts, 1));
  ++groups;
}

double CostModel::Rate::mean() const { return std::exp(sum_of_logs / groups); }

void CostModel::learn(const fs::path& folder) {
  if (is_campaign(folder)) {
    for (const FinishedCell& one : read_finished_cells(folder))
      learn(one.experiment, one.cell, {one.tally.seconds, {}});
    return;
  }
  std::error_code error;
  std::vector<fs::path> tables;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (fs::is_regular_file(entry.path() / "runs.csv", error)) tables.push_back(entry.path() / "runs.csv");
  }
  std::ranges::sort(tables);
  for (const fs::path& table : tables) {
    try {
      learn_rows(table, *this);
    } catch (const InputError&) {
      continue;  // costs are a help: a table that cannot be read says nothing
    }
  }
}

void CostModel::learn(const std::string& experiment, const RunCell& cell, const GroupTime& time) {
  const double seconds = total(time, Experiment{}.repetitions);
  if (!std::isfinite(seconds) || seconds < 0.0) return;
  times_of_[cell_key(experiment, cell)].push_back(time);
  by_solver_[cell.solver].add(seconds, cell.contacts);
  all_.add(seconds, cell.contacts);
}

void CostModel::estimate(const Experiment& experiment, PlannedCell& one) const {
  const RunCell& cell = one.cell;
  const int runs = runs_in_group(experiment, cell.label);
  const auto found = times_of_.find(cell_key(one.experiment, cell));
  const auto solver = by_solver_.find(cell.solver);
  if (found != times_of_.end()) {
    one.seconds = median_total(found->second, experiment.repetitions);
    one.basis = CostBasis::measured;
  } else if (solver != by_solver_.end()) {
    one.seconds = solver->second.mean() * std::max(cell.contacts, 1);
    one.basis = CostBasis::solver;
  } else {
    one.seconds = (all_.groups > 0 ? all_.mean() : kSecondsPerContact * runs) * std::max(cell.contacts, 1);
    one.basis = CostBasis::counts;
  }
  // a traced run may take ten times the limit: the referee's time is not the solver's
  const double most = experiment.time_limit * (runs + (experiment.converge || experiment.time ? 10.0 : 0.0));
  one.seconds = std::clamp(one.seconds, kLeastSeconds, std::max(most, kLeastSeconds));
}

}  // namespace signorini
