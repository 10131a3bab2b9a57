#include "campaign_session.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <utility>

#include "base/check.h"
#include "base/output_file.h"
#include "commands.h"
#include "configs.h"
#include "experiment_session.h"
#include "harness/environment.h"
#include "harness/problem_sources.h"
#include "harness/text_file.h"
#include "scene_recordings.h"
#include "terminal_monitor.h"

namespace signorini {
namespace {

namespace fs = std::filesystem;

std::vector<ExperimentRequest> requests_of(const Program& program, const Campaign& campaign,
                                           const fs::path& out) {
  std::vector<fs::path> configs;
  for (const PlannedExperiment& one : campaign.experiments)
    configs.push_back(find_config(program, ConfigKind::experiments, one.config));
  SessionOptions options;
  options.size = campaign.size;
  options.out = out.string();
  std::vector<ExperimentRequest> requests = make_requests(program, configs, options);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (requests[i].experiment.id == campaign.experiments[i].id) continue;
    throw_usage("{}: is experiment {}, the plan calls it {}; plan the campaign again", configs[i].string(),
                requests[i].experiment.id, campaign.experiments[i].id);
  }
  return requests;
}

SceneSize size_of(const Campaign& campaign) { return parse_enum<SceneSize>(campaign.size, "--size"); }

SceneRecordings recordings_of(const Program& program, RunMonitor& monitor, const Campaign& campaign) {
  return {program, monitor, campaign.folder, size_of(campaign), false};
}

/// What the plan was made for.
ResultHead head_of(const Campaign& campaign, const std::string& experiment) {
  const fs::path path = campaign.folder / "plan" / experiment / "run.toml";
  const std::string text = text_or_nothing(path);
  if (text.empty()) throw_input("{}: is not there; plan the campaign again", path.string());
  return ResultHead::of(text);
}

int most_threads(const std::vector<ExperimentRequest>& requests) {
  int threads = 1;
  for (const ExperimentRequest& one : requests) {
    for (const SolverVariant& variant : one.experiment.solvers)
      threads = std::max(threads, *std::ranges::max_element(one.experiment.threads_of(variant)));
  }
  return threads;
}

// ---- plan

/// A name as it stands, a file by its absolute path: shards may start in another folder.
std::string lasting_name(const std::string& name) {
  std::error_code error;
  return fs::exists(name, error) ? fs::absolute(name).lexically_normal().string() : name;
}

Campaign campaign_of(const Program& program, const PlanRequest& request) {
  Campaign campaign;
  const bool there = is_campaign(request.folder);
  if (there) campaign = read_campaign(request.folder);
  if (!there && request.experiments.empty())
    throw_usage("plan: name the experiments, e.g. 'signorini plan signorini_all -o {}'; {} holds no plan yet",
                request.folder, request.folder);
  campaign.folder = request.folder;
  campaign.program = build_facts().git;
  if (!request.size.empty()) campaign.size = request.size;
  if (!request.unit.empty()) campaign.unit = parse_enum<ShardUnit>(request.unit, "--unit");
  if (request.experiments.empty()) return campaign;
  campaign.experiments.clear();
  std::vector<std::string> names = request.experiments;
  if (names == std::vector<std::string>{"all"}) {
    names.clear();
    for (const fs::path& file : list_configs(program, ConfigKind::experiments))
      names.push_back(experiment_id(file));
  }
  std::set<std::string> ids;
  for (const std::string& name : names) {
    const std::string id = experiment_id(find_config(program, ConfigKind::experiments, name));
    if (!ids.insert(id).second) throw_usage("plan: {} is named twice", id);
    campaign.experiments.push_back({id, lasting_name(name)});
  }
  return campaign;
}

/// Seconds that a recording took, as the env.json beside it says; 0 when there is none.
double recorded_seconds(const std::vector<fs::path>& folders, const std::string& file) {
  for (const fs::path& folder : folders) {
    const std::string env =
        text_or_nothing(folder / "recordings" / fs::path(file).replace_extension(".env.json"));
    if (const double seconds = wall_seconds(env); seconds > 0.0) return seconds;
  }
  return 0.0;
}

class Planning {
 public:
  Planning(const Program& program, const PlanRequest& request)
      : program_(program), request_(request), folders_{request.folder} {
    for (const std::string& folder : request.costs) {
      std::error_code error;
      if (!fs::is_directory(folder, error)) throw_input("--costs {}: is no folder", folder);
      folders_.emplace_back(folder);
    }
    for (const fs::path& folder : folders_) costs_.learn(folder);
  }

  PlanOutcome run() {
    out_.campaign = campaign_of(program_, request_);
    make_output_folder(request_.folder);
    const std::vector<ExperimentRequest> requests =
        requests_of(program_, out_.campaign, out_.campaign.folder / "plan");
    SceneRecordings recordings = recordings_of(program_, monitor_, out_.campaign);
    out_.campaign.threads = most_threads(requests);
    for (const ExperimentRequest& one : requests) plan_recordings(one, recordings);
    for (const ExperimentRequest& one : requests) plan_cells(one, recordings);
    write_recordings(out_.campaign, out_.recordings);
    write_cells(out_.campaign, out_.cells);
    write_campaign(out_.campaign);  // last: a plan that is there is complete
    return std::move(out_);
  }

 private:
  /// One folder has one recording of a name.
  static void require_same(const SceneRecordings& recordings, const SceneVariant& one,
                           const SceneVariant& other, const std::string& of_one,
                           const std::string& of_other) {
    if (one.scene == other.scene && one.set == other.set) return;
    if (recordings.scene_of(one) == recordings.scene_of(other)) return;
    throw_usage(
        "plan: {} and {} both have a recording '{}', with other settings; give one of them another name, or "
        "plan them in two campaigns",
        of_one, of_other, one.name);
  }

  void plan_recordings(const ExperimentRequest& request, SceneRecordings& recordings) {
    const std::vector<SceneVariant> wanted = wanted_recordings(request.experiment);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const fs::path file = recordings.path_of(wanted[i]);
      if (request_.record) recordings.provide(wanted[i], i >= request.experiment.scenes.size());
      std::error_code error;
      const bool there = fs::exists(file, error);
      if (!there) missing_of_.insert(request.experiment.id);
      const auto [found, first] = names_.try_emplace(wanted[i].name, wanted[i], request.experiment.id);
      if (!first) {
        require_same(recordings, found->second.first, wanted[i], found->second.second, request.experiment.id);
        continue;
      }
      const double seconds = recorded_seconds(folders_, file.filename().string());
      constexpr double kUnknown = 60.0;
      out_.recordings.push_back({wanted[i].name, wanted[i].scene, seconds > 0.0 ? seconds : kUnknown,
                                 seconds > 0.0 ? CostBasis::measured : CostBasis::counts});
      if (!there) out_.missing.push_back(wanted[i].name);
    }
  }

  void plan_cells(const ExperimentRequest& wanted, SceneRecordings& recordings) {
    if (missing_of_.contains(wanted.experiment.id)) {
      out_.waiting.push_back(wanted.experiment.id);
      return;
    }
    ExperimentRequest request = wanted;
    request.force = true;
    request.rows_only = true;
    PlanGroups groups(request.experiment, costs_);
    run_experiment(request, ResultFolder(request), recordings, monitor_, &groups);
    out_.cells.insert(out_.cells.end(), groups.cells().begin(), groups.cells().end());
  }

  const Program& program_;
  const PlanRequest& request_;
  std::vector<fs::path> folders_;
  CostModel costs_;
  TerminalMonitor monitor_;
  PlanOutcome out_;
  std::map<std::string, std::pair<SceneVariant, std::string>> names_;  ///< recordings, and who asked first
  std::set<std::string> missing_of_;
};

// ---- run --plan

/// Keeps other shards of the campaign off this machine; waits for one that is at work.
std::unique_ptr<LockFile> hold_machine(const fs::path& campaign, RunMonitor& monitor) {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  make_output_folder(campaign / "nodes");
  const fs::path path = campaign / "nodes" / fmt::format("{}.lock", host.data());
  for (bool told = false;; told = true) {
    try {
      return std::make_unique<LockFile>(path, path.string() + ": this machine is measured on");
    } catch (const BusyError& busy) {
      if (!told)
        monitor.message(
            fmt::format("{} measures on this machine; waiting for its end (--beside starts at once, and "
                        "times count less)",
                        busy.holder()));
    }
    monitor.stop_when_cancelled();
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
}

/// Leaves the process the last `threads` of the processors that it may use: the first ones serve most interrupts.
void pin_to_processors(int threads) {
  remember_usable_threads();
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  int surplus = CPU_COUNT(&allowed) - threads;
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE && surplus > 0; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    CPU_CLR(cpu, &allowed);
    --surplus;
  }
  ::sched_setaffinity(0, sizeof allowed, &allowed);
}

class Shard {
 public:
  Shard(const Program& program, const ShardRequest& request)
      : program_(program),
        request_(request),
        campaign_(read_campaign(request.folder)),
        finished_(campaign_.folder) {
    if (campaign_.program != build_facts().git)
      throw_usage("{}: planned by program {}, this is {}; plan it again or run that program", request.folder,
                  campaign_.program, build_facts().git);
  }

  ShardOutcome run() {
    const Stopwatch watch;
    if (request_.recordings)
      record();
    else
      solve();
    out_.seconds = watch.seconds();
    return out_;
  }

 private:
  std::string name() const { return fmt::format("{}of{}", request_.shard.shard + 1, request_.shard.shards); }

  void record() {
    const std::vector<PlannedRecording> planned = read_recordings(campaign_);
    std::vector<CostedWork> work;
    for (const PlannedRecording& one : planned) work.push_back({one.name, one.seconds});
    const std::vector<int> shard_of = assign_shards(work, request_.shard.shards);
    std::set<std::string> mine;
    for (std::size_t i = 0; i < planned.size(); ++i) {
      if (shard_of[i] == request_.shard.shard) mine.insert(planned[i].name);
    }
    SceneRecordings recordings = recordings_of(program_, monitor_, campaign_);
    for (const ExperimentRequest& one : requests_of(program_, campaign_, campaign_.folder / "plan")) {
      const std::vector<SceneVariant> wanted = wanted_recordings(one.experiment);
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (mine.erase(wanted[i].name) == 0) continue;
        monitor_.stop_when_cancelled();
        recordings.provide(wanted[i], i >= one.experiment.scenes.size());
        ++out_.made;
      }
    }
  }

  void solve() {
    const std::vector<PlannedCell> cells = read_cells(campaign_);
    require_recordings();
    const std::vector<int> shards = assign_shards(cells, request_.shard.shards, campaign_.unit);
    for (std::size_t i = 0; i < cells.size(); ++i)
      shard_of_.emplace(cell_key(cells[i].experiment, cells[i].cell), shards[i]);
    finished_.refresh();
    const std::set<std::string> ids = experiments_to_do(cells);
    if (ids.empty()) return;
    std::unique_ptr<LockFile> machine;
    if (!request_.beside) machine = hold_machine(campaign_.folder, monitor_);
    finished_.refresh();  // the wait may have been long
    CampaignPart part(campaign_.folder, name());
    out_.part = part.path().string();
    const std::vector<ExperimentRequest> requests = requests_of(program_, campaign_, part.path());
    if (!request_.beside) pin_to_processors(most_threads(requests));
    for (const ExperimentRequest& one : requests) {
      if (ids.contains(one.experiment.id)) solve_experiment(one, part);
    }
    part.end();
  }

  void require_recordings() const {
    for (const PlannedRecording& one : read_recordings(campaign_)) {
      const fs::path file =
          campaign_.folder / "recordings" / fmt::format("{}-{}.h5", one.name, campaign_.size);
      std::error_code error;
      if (!fs::exists(file, error))
        throw_usage("{}: is not there; 'signorini run --plan {} --recordings' makes it, then plan again",
                    file.string(), request_.folder);
    }
  }

  /// Those with groups of this shard that nobody has made.
  std::set<std::string> experiments_to_do(const std::vector<PlannedCell>& cells) {
    std::set<std::string> ids;
    for (const PlannedCell& one : cells) {
      const std::string key = cell_key(one.experiment, one.cell);
      if (shard_of_.at(key) != request_.shard.shard) continue;
      if (finished_.contains(key))
        ++out_.elsewhere;
      else
        ids.insert(one.experiment);
    }
    return ids;
  }

  void solve_experiment(const ExperimentRequest& wanted, CampaignPart& part) {
    ExperimentRequest request = wanted;
    request.rows_only = true;
    ShardGroups groups(request.experiment.id, head_of(campaign_, request.experiment.id), shard_of_,
                       request_.shard.shard, finished_, part);
    SceneRecordings recordings = recordings_of(program_, monitor_, campaign_);
    const ExperimentResult result =
        run_experiment(request, ResultFolder(request), recordings, monitor_, &groups);
    out_.rows += result.rows;
    out_.failed += result.failed;
    out_.made += groups.made();
  }

  const Program& program_;
  const ShardRequest& request_;
  Campaign campaign_;
  FinishedCells finished_;
  std::map<std::string, int> shard_of_;
  TerminalMonitor monitor_;
  ShardOutcome out_;
};

}  // namespace

/// Where the clocks of recordings are kept, they too come from one kind of machine.
static void check_clocks(const Campaign& campaign, const Experiment& experiment, const MergeChoice& choice) {
  if (choice.machines != Machines::one || (!experiment.steps && !experiment.accuracy)) return;
  std::set<std::string> kinds;
  for (const SceneVariant& wanted : wanted_recordings(experiment))
    kinds.insert(machine_kind(text_or_nothing(campaign.folder / "recordings" /
                                              fmt::format("{}-{}.env.json", wanted.name, campaign.size))));
  if (kinds.size() > 1)
    throw_usage(
        "{}: recordings of {}, whose clocks it keeps, come from {} unlike machines; record them on one kind, "
        "or --by-machine takes them as they are",
        campaign.folder.string(), experiment.id, kinds.size());
}

PlanOutcome plan_campaign(const Program& program, const PlanRequest& request) {
  return Planning(program, request).run();
}

ShardOutcome run_shard(const Program& program, const ShardRequest& request) {
  return Shard(program, request).run();
}

MergeOutcome merge_campaign(const Program& program, const std::string& folder, const MergeChoice& choice) {
  const Campaign campaign = read_campaign(folder);
  const std::vector<PlannedCell> cells = read_cells(campaign);
  TerminalMonitor monitor;
  MergeOutcome out;
  for (ExperimentRequest request : requests_of(program, campaign, campaign.folder)) {
    const fs::path there = campaign.folder / request.experiment.id;
    std::error_code error;
    if (fs::exists(there / "runs.csv", error) && !is_merged(text_or_nothing(there / "env.json")))
      throw_usage("{}: holds rows that no merge made; move it away, they would be replaced", there.string());
    request.force = true;  // merged rows can be made again from the parts
    check_clocks(campaign, request.experiment, choice);
    MergeGroups groups(campaign, request.experiment, cells, head_of(campaign, request.experiment.id), choice,
                       monitor);
    request.sessions = groups.sessions();
    SceneRecordings recordings = recordings_of(program, monitor, campaign);
    const ExperimentResult result =
        run_experiment(request, ResultFolder(request), recordings, monitor, &groups);
    const std::string machines = groups.machines_table();
    const fs::path table = result.folder / "machines.csv";
    if (machines.empty())
      fs::remove(table, error);
    else
      write_text_file(table, machines);
    out.unlike_machines = out.unlike_machines || !machines.empty();
    out.folders.push_back(result.folder);
    out.rows += result.rows;
    out.failed += result.failed;
    out.missing += groups.missing();
  }
  return out;
}

}  // namespace signorini
