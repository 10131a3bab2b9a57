#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "campaign/campaign.h"
#include "campaign/campaign_parts.h"
#include "campaign/cell_cost.h"
#include "harness/run_groups.h"

/// What the steps of a campaign do with the groups of an experiment (harness/run_groups.h): list them, make some of them,
/// take over those that others made. `run_experiment` walks over the groups in all three, so a merged table has the rows and
/// the order of a table that one process made.
namespace signorini {

/// Lists the groups and makes none.
class PlanGroups : public RunGroups {
 public:
  PlanGroups(const Experiment& experiment, const CostModel& costs);
  bool wants(const RunCell& cell) override;
  /// In their order.
  const std::vector<PlannedCell>& cells() const { return cells_; }

 private:
  const Experiment& experiment_;
  const CostModel& costs_;
  std::set<std::string> keys_;
  std::vector<PlannedCell> cells_;
};

/// Makes the groups of a shard that nobody has made yet, and notes them in a part.
class ShardGroups : public RunGroups {
 public:
  /// `planned`: what rows have to depend on. `shard_of`: of every key of the campaign.
  ShardGroups(std::string experiment, ResultHead planned, const std::map<std::string, int>& shard_of,
              int shard, FinishedCells& finished, CampaignPart& part);
  /// Throws `UsageError` where this machine sees another program, experiment or problem file.
  void begin(const ResultHead& head, const std::string& env) override;
  /// Throws `UsageError` for a group that is not in the plan.
  bool wants(const RunCell& cell) override;
  /// What earlier processes of this shard left of it, on the same kind of machine with the same build.
  RunGroup begun(const RunCell& cell) override;
  RunGroup group(const RunCell& cell, const std::function<RunGroup()>& make) override;
  void kept(const RunCell& cell, const RunGroup& group) override;
  std::size_t made() const { return made_; }

 private:
  void collect_begun(const PartOfExperiment& part);

  std::string experiment_;
  ResultHead planned_;
  const std::map<std::string, int>& shard_of_;
  int shard_;
  FinishedCells& finished_;
  CampaignPart& part_;
  Stopwatch since_refresh_;
  GroupTally tally_;                       ///< of the last group
  std::map<std::string, RunGroup> begun_;  ///< by `cell_key`
  std::size_t made_ = 0;
};

/// How times of unlike machines are treated.
enum class Machines {
  one,          ///< a table of times comes from one kind of machine, else it is refused
  by_snapshot,  ///< rows of a snapshot come from one kind; those of different snapshots may not
  any           ///< nothing is timed
};

struct MergeChoice {
  Machines machines = Machines::one;
  bool partial = false;  ///< groups that nobody has made are left out
};

/// Takes the rows and curves of an experiment from the parts.
class MergeGroups : public RunGroups {
 public:
  /// `cells`: of the plan. `expected`: what the rows have to depend on, as the plan says. Throws `UsageError` for parts of
  /// another program, experiment, problem file or build, for unlike machines, and for groups that are missing, and
  /// `InputError` for missing ones where a part cannot be read; every one names what to do.
  MergeGroups(const Campaign& campaign, const Experiment& experiment, std::vector<PlannedCell> cells,
              ResultHead expected, MergeChoice choice, RunMonitor& monitor);

  void begin(const ResultHead& head, const std::string& env) override;
  /// Throws `UsageError` for a group that is not in the plan.
  bool wants(const RunCell& cell) override;
  RunGroup group(const RunCell& cell, const std::function<RunGroup()>& make) override;

  std::size_t missing() const { return missing_; }
  /// env.json of the parts that rows come from.
  std::vector<std::string> sessions() const;
  /// machines.csv: file, step, machine; empty where one kind of machine made all.
  std::string machines_table() const;

 private:
  struct Copy {
    std::size_t part = 0;
    RunGroup group;
  };
  using Copies =
      std::map<std::string, std::vector<Copy>>;  ///< by `cell_key`, parts in the order of their names

  void check_parts() const;
  void read_parts(RunMonitor& monitor);
  void check_whole(const PartOfExperiment& part, const std::map<std::string, RunGroup>& groups) const;
  void choose(const std::vector<PlannedCell>& cells, MergeChoice choice);
  std::string machine_of_all(const std::vector<const PlannedCell*>& cells) const;
  /// From this kind of machine, or from any where it is "".
  void take(const std::vector<const PlannedCell*>& cells, const std::string& machine);

  std::string campaign_, experiment_;
  ResultHead expected_;
  std::vector<PartOfExperiment> parts_;
  Copies copies_;
  std::set<std::string> planned_;  ///< `cell_key` of all groups of the experiment
  std::map<std::string, const Copy*> chosen_;
  std::map<std::pair<std::string, std::string>, std::string> machine_of_;  ///< by file and step
  std::set<std::size_t> used_;
  std::size_t missing_ = 0;
  std::string unreadable_;  ///< the first part that was left out
};

}  // namespace signorini
