#include "campaign/campaign_groups.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/check.h"
#include "base/csv_text.h"
#include "base/options.h"
#include "harness/environment.h"
#include "harness/run_record.h"
#include "harness/text_file.h"
#include "harness/trace_store.h"

namespace signorini {
namespace {

RunCell cell_of(const RunRecord& row) {
  return {row.file, row.step, row.contacts, row.solver, row.options, row.label, row.tolerance};
}

std::string cell_key(const std::string& experiment, const ConvergenceTrace& curve) {
  return signorini::cell_key(experiment,
                             {curve.file, curve.step, 0, curve.solver, curve.options, {}, curve.tolerance});
}

GroupTally tally_of(const RunGroup& group, double seconds) {
  const auto failed = std::ranges::count_if(
      group.rows, [](const RunRecord& row) { return row.status == SolveStatus::failed; });
  return {seconds, static_cast<int>(failed), static_cast<int>(group.rows.size()) + group.rows_there,
          static_cast<int>(group.curves.size()) + group.curves_there};
}

[[noreturn]] void refuse_unplanned(const std::string& experiment, const RunCell& cell) {
  throw_usage("{}: {} step {}, {} is not in cells.csv; plan the campaign again", experiment, cell.file,
              cell.step, cell.label);
}

}  // namespace

PlanGroups::PlanGroups(const Experiment& experiment, const CostModel& costs)
    : experiment_(experiment), costs_(costs) {}

bool PlanGroups::wants(const RunCell& cell) {
  if (!keys_.insert(cell_key(experiment_.id, cell)).second) return false;
  PlannedCell one;
  one.experiment = experiment_.id;
  one.cell = cell;
  for (const RegionMode mode : experiment_.regions)
    one.regions += fmt::format("{}{}", one.regions.empty() ? "" : " ", enum_name(mode));
  one.threads = fmt::format("{}", fmt::join(experiment_.threads_of(cell.label), " "));
  costs_.estimate(experiment_, one);
  cells_.push_back(std::move(one));
  return false;
}

ShardGroups::ShardGroups(std::string experiment, ResultHead planned,
                         const std::map<std::string, int>& shard_of, int shard, FinishedCells& finished,
                         CampaignPart& part)
    : experiment_(std::move(experiment)),
      planned_(std::move(planned)),
      shard_of_(shard_of),
      shard_(shard),
      finished_(finished),
      part_(part) {}

void ShardGroups::begin(const ResultHead& head, const std::string& env) {
  if (head != planned_)
    throw_usage("{}: this machine sees {}; its rows could not be merged. Plan again, or mend what differs",
                experiment_, planned_.difference(head));
  for (const PartOfExperiment& part : part_.earlier(experiment_)) {
    const bool alike = part.head == head && part.machine == machine_kind(env) &&
                       part.build == build_digest(env) && part.rounding == rounding_kind(env);
    if (alike) collect_begun(part);
  }
}

/// What cannot be read counts as not begun.
void ShardGroups::collect_begun(const PartOfExperiment& part) try {
  std::map<std::string, RunGroup> begun;
  for (RunRecord& row : read_run_table(part.folder / "runs.csv")) {
    const std::string key = cell_key(experiment_, cell_of(row));
    if (!part.finished.contains(key) && !finished_.contains(key)) begun[key].rows.push_back(std::move(row));
  }
  if (begun.empty()) return;
  for (ConvergenceTrace& curve : TraceStore::read(part.folder / "trace.h5")) {
    const auto found = begun.find(cell_key(experiment_, curve));
    if (found != begun.end()) found->second.curves.push_back(std::move(curve));
  }
  const std::string session = text_or_nothing(part.folder / "env.json");
  for (auto& [key, group] : begun) {
    group.session = session;
    RunGroup& most = begun_[key];
    if (group.rows.size() > most.rows.size()) most = std::move(group);
  }
} catch (const InputError&) {
}

RunGroup ShardGroups::begun(const RunCell& cell) {
  const auto found = begun_.find(cell_key(experiment_, cell));
  return found == begun_.end() ? RunGroup() : std::move(found->second);
}

bool ShardGroups::wants(const RunCell& cell) {
  const std::string key = cell_key(experiment_, cell);
  const auto found = shard_of_.find(key);
  if (found == shard_of_.end()) refuse_unplanned(experiment_, cell);
  return found->second == shard_ && !finished_.contains(key);
}

RunGroup ShardGroups::group(const RunCell&, const std::function<RunGroup()>& make) {
  const Stopwatch watch;
  RunGroup made = make();
  tally_ = tally_of(made, watch.seconds());
  return made;
}

void ShardGroups::kept(const RunCell& cell, const RunGroup&) {
  part_.add(experiment_, cell, tally_);
  ++made_;
  constexpr double kSeconds = 30.0;  // others may have finished groups of this shard meanwhile
  if (since_refresh_.seconds() < kSeconds) return;
  finished_.refresh();
  since_refresh_.restart();
}

MergeGroups::MergeGroups(const Campaign& campaign, const Experiment& experiment,
                         std::vector<PlannedCell> cells, ResultHead expected, MergeChoice choice,
                         RunMonitor& monitor)
    : campaign_(campaign.folder.string()),
      experiment_(experiment.id),
      expected_(std::move(expected)),
      parts_(parts_of(campaign.folder, experiment.id)) {
  check_parts();
  read_parts(monitor);
  if (!experiment.time && !experiment.self_stopped) choice.machines = Machines::any;
  choose(cells, choice);
}

void MergeGroups::check_parts() const {
  for (const PartOfExperiment& part : parts_) {
    for (const char* name : {"run.toml", "env.json"}) {
      if (!std::filesystem::is_regular_file(part.folder / name))
        throw_input(
            "{}: is missing, which says what made the rows beside it; move {} away and run its shard again",
            (part.folder / name).string(), part.folder.parent_path().string());
    }
    if (part.head != expected_)
      throw_usage("{}: its rows were made from {}; move the folder away, or plan and run the campaign again",
                  part.folder.string(), part.head.difference(expected_));
    if (part.build != parts_.front().build)
      throw_usage(
          "{}: its program was built otherwise than that of {} (compiler, flags or libraries; see their "
          "env.json); move one of the two away and run its shard again",
          part.folder.string(), parts_.front().folder.string());
    if (part.rounding != parts_.front().rounding)
      throw_usage(
          "{}: its numbers were rounded otherwise ({}) than those of {} ({}), so counts may differ; move one "
          "part away and run its shard again where kernels and BLAS are the other's",
          part.folder.string(), part.rounding, parts_.front().folder.string(), parts_.front().rounding);
  }
}

void MergeGroups::read_parts(RunMonitor& monitor) {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    monitor.stop_when_cancelled();
    const PartOfExperiment& part = parts_[i];
    try {
      std::map<std::string, RunGroup> groups;
      for (RunRecord& row : read_run_table(part.folder / "runs.csv")) {
        const std::string key = signorini::cell_key(experiment_, cell_of(row));
        if (part.finished.contains(key)) groups[key].rows.push_back(std::move(row));
      }
      for (ConvergenceTrace& curve : TraceStore::read(part.folder / "trace.h5")) {
        const auto found = groups.find(cell_key(experiment_, curve));
        if (found != groups.end()) found->second.curves.push_back(std::move(curve));
      }
      check_whole(part, groups);
      for (auto& [key, group] : groups) copies_[key].push_back({i, std::move(group)});
    } catch (const InputError& error) {
      if (unreadable_.empty()) unreadable_ = part.folder.parent_path().string();
      monitor.message(fmt::format(
          "  left out: {}; merge again, and where that does not help move {} away and run its shard again",
          error.what(), part.folder.parent_path().string()));
    }
  }
}

/// A table that was cut reads well as far as it goes.
void MergeGroups::check_whole(const PartOfExperiment& part,
                              const std::map<std::string, RunGroup>& groups) const {
  int rows = 0, curves = 0;
  for (const auto& [key, tally] : part.finished) {
    const auto found = groups.find(key);
    const RunGroup none;
    const RunGroup& group = found == groups.end() ? none : found->second;
    rows += std::max(tally.rows - static_cast<int>(group.rows.size()), 0);
    curves += std::max(tally.curves - static_cast<int>(group.curves.size()), 0);
  }
  if (rows > 0)
    throw_input("{}: {} rows of finished groups are missing", (part.folder / "runs.csv").string(), rows);
  if (curves > 0)
    throw_input("{}: {} curves of finished groups are missing", (part.folder / "trace.h5").string(), curves);
}

/// The kind of machine that has made every one of these, "" when none has. Of several the first part's.
std::string MergeGroups::machine_of_all(const std::vector<const PlannedCell*>& cells) const {
  for (const PartOfExperiment& part : parts_) {
    const bool all = std::ranges::all_of(cells, [&](const PlannedCell* one) {
      const auto found = copies_.find(signorini::cell_key(experiment_, one->cell));
      return found != copies_.end() && std::ranges::any_of(found->second, [&](const Copy& copy) {
               return parts_[copy.part].machine == part.machine;
             });
    });
    if (all) return part.machine;
  }
  return {};
}

void MergeGroups::take(const std::vector<const PlannedCell*>& cells, const std::string& machine) {
  for (const PlannedCell* one : cells) {
    const std::string key = signorini::cell_key(experiment_, one->cell);
    for (const Copy& copy : copies_.at(key)) {
      if (!machine.empty() && parts_[copy.part].machine != machine) continue;
      chosen_.emplace(key, &copy);
      used_.insert(copy.part);
      break;
    }
    machine_of_[{one->cell.file, one->cell.step}] = machine;
  }
}

void MergeGroups::choose(const std::vector<PlannedCell>& cells, MergeChoice choice) {
  std::vector<const PlannedCell*> there;
  std::map<std::pair<std::string, std::string>, std::vector<const PlannedCell*>> by_snapshot;
  for (const PlannedCell& one : cells) {
    if (one.experiment != experiment_) continue;
    planned_.insert(signorini::cell_key(experiment_, one.cell));
    if (!copies_.contains(signorini::cell_key(experiment_, one.cell))) {
      ++missing_;
      continue;
    }
    there.push_back(&one);
    by_snapshot[{one.cell.file, one.cell.step}].push_back(&one);
  }
  if (missing_ > 0 && !choice.partial && !unreadable_.empty())
    throw_input(
        "{}: {} of {} groups of runs of {} are not done or in parts that cannot be read, such as {}; merge "
        "again, "
        "--partial merges what is there",
        campaign_, missing_, missing_ + there.size(), experiment_, unreadable_);
  if (missing_ > 0 && !choice.partial)
    throw_usage(
        "{}: {} of {} groups of runs of {} are not done; 'signorini status {}' shows them, --partial merges "
        "what is there",
        campaign_, missing_, missing_ + there.size(), experiment_, campaign_);
  if (there.empty()) return;
  const std::string machine = machine_of_all(there);
  if (!machine.empty() || choice.machines == Machines::any) return take(there, machine);
  if (choice.machines == Machines::one)
    throw_usage(
        "{}: times of {} come from unlike machines, and none has made all of its groups; run the shards on "
        "one kind, or --by-machine keeps the rows of each snapshot to one",
        campaign_, experiment_);
  for (const auto& [snapshot, of_snapshot] : by_snapshot) {
    const std::string kind = machine_of_all(of_snapshot);
    if (kind.empty())
      throw_usage(
          "{}: groups of {}, {} step {}, come from unlike machines, and none has made all of them; plan with "
          "--unit snapshot and run its shard on one machine",
          campaign_, experiment_, snapshot.first, snapshot.second);
    take(of_snapshot, kind);
  }
}

void MergeGroups::begin(const ResultHead& head, const std::string&) {
  if (head == expected_) return;
  throw_usage("{}: planned for {}; plan the campaign again", experiment_, head.difference(expected_));
}

bool MergeGroups::wants(const RunCell& cell) {
  const std::string key = signorini::cell_key(experiment_, cell);
  if (!planned_.contains(key)) refuse_unplanned(experiment_, cell);
  return chosen_.contains(key);
}

RunGroup MergeGroups::group(const RunCell& cell, const std::function<RunGroup()>&) {
  return chosen_.at(signorini::cell_key(experiment_, cell))->group;
}

std::vector<std::string> MergeGroups::sessions() const {
  std::vector<std::string> sessions;
  for (const std::size_t part : used_) sessions.push_back(parts_[part].env);
  return sessions;
}

std::string MergeGroups::machines_table() const {
  std::set<std::string> kinds;
  for (const auto& [snapshot, machine] : machine_of_) kinds.insert(machine);
  if (kinds.size() < 2) return {};
  std::string text = "file,step,machine\n";
  for (const auto& [snapshot, machine] : machine_of_)
    text +=
        fmt::format("{},{},{}\n", csv_field(snapshot.first), csv_field(snapshot.second), csv_field(machine));
  return text;
}

}  // namespace signorini
