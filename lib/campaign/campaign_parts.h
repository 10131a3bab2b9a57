#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/durable_file.h"
#include "base/run_monitor.h"
#include "campaign/campaign.h"
#include "harness/result_head.h"

/// What the processes of a campaign have made so far.
namespace signorini {

/// What a group of runs took and left in a part.
struct GroupTally {
  double seconds = 0.0;
  int failed = 0;            ///< rows with status failed
  int rows = 0, curves = 0;  ///< 0 in parts of earlier programs, which did not say
};

/// A group of runs that is done, as a part says.
struct FinishedCell {
  std::string part, experiment;
  RunCell cell;
  GroupTally tally;
};

/// What a part has of one experiment.
struct PartOfExperiment {
  std::string part;
  std::filesystem::path folder;
  ResultHead head;
  std::string env;       ///< env.json
  std::string machine;   ///< `machine_kind`
  std::string build;     ///< `build_digest`
  std::string rounding;  ///< `rounding_kind`
  std::map<std::string, GroupTally>
      finished;  ///< by `cell_key`; of other groups rows or curves may be missing
};

/// The folder that one process writes: DIR/parts/<shard>-<digest of the host's name>-<random>.
class CampaignPart {
 public:
  /// Makes it. `name` opens its own, "3of8" say.
  CampaignPart(const std::filesystem::path& campaign, const std::string& name);
  ~CampaignPart();
  CampaignPart(const CampaignPart&) = delete;
  CampaignPart& operator=(const CampaignPart&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Those of the same name that have begun the experiment.
  std::vector<PartOfExperiment> earlier(const std::string& experiment) const;
  /// Rows and curves of the group are on disk.
  void add(const std::string& experiment, const RunCell& cell, const GroupTally& tally);
  /// The process comes to its end, the destructor says so too: nobody need wait for more.
  void end() const;

 private:
  std::string name_;
  std::filesystem::path path_;
  int descriptor_ = -1;
};

/// The groups that are done, kept up to date while others work: what was read once is not read again.
class FinishedCells {
 public:
  explicit FinishedCells(std::filesystem::path campaign) : folder_(std::move(campaign)) {}

  /// Looks at all parts.
  void refresh();
  bool contains(const std::string& key) const { return keys_.contains(key); }
  const std::vector<FinishedCell>& cells() const { return cells_; }
  /// A part that a process was writing within the last quarter of an hour and has not ended.
  int at_work() const { return at_work_; }
  int parts() const { return static_cast<int>(offsets_.size()); }

 private:
  std::filesystem::path folder_;
  std::map<std::string, std::size_t> offsets_;  ///< bytes read of the cells.csv of each part
  std::set<std::string> keys_;
  std::vector<FinishedCell> cells_;
  int at_work_ = 0;
};

std::vector<FinishedCell> read_finished_cells(const std::filesystem::path& campaign);

/// Those that have finished a group of it, in the order of their names.
std::vector<PartOfExperiment> parts_of(const std::filesystem::path& campaign, const std::string& experiment);

}  // namespace signorini
