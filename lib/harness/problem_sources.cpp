#include "harness/problem_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "base/check.h"
#include "base/output_file.h"
#include "harness/text_file.h"
#include "record/fclib_file.h"
#include "record/problem_file.h"
#include "regions/redundant_contacts.h"
#include "regions/region_extractor.h"

namespace signorini {
namespace {

namespace fs = std::filesystem;

/// A problem file is known by its stem, as a problem that the experiment brings along; a recording by its name.
std::string label_of(const fs::path& file) {
  const bool is_problem = file.extension() == ".hdf5" || file.extension() == ".npz";
  return (is_problem ? file.stem() : file.filename()).string();
}

/// `label_of` each file, with the ending where block.hdf5 and block.npz lie in one folder; those that would still be
/// alike get the names of the folders above them, as far as needed.
std::vector<std::string> labels_of(const std::vector<fs::path>& files) {
  std::map<fs::path, std::set<fs::path>> twins;
  for (const fs::path& file : files) {
    const fs::path whole = fs::absolute(file).lexically_normal();
    twins[whole.parent_path() / label_of(whole)].insert(whole);
  }
  std::vector<std::string> labels;
  std::vector<fs::path> above;
  for (const fs::path& file : files) {
    above.push_back(fs::absolute(file).lexically_normal().parent_path());
    const bool alone = twins[above.back() / label_of(file)].size() < 2;
    labels.push_back(alone ? label_of(file) : file.filename().string());
  }
  for (bool changed = true; changed;) {
    changed = false;
    const std::vector<std::string> before = labels;
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (std::ranges::count(before, before[i]) < 2 || !above[i].has_filename()) continue;
      labels[i] = (above[i].filename() / labels[i]).string();
      above[i] = above[i].parent_path();
      changed = true;
    }
  }
  return labels;
}

RecordedScene recorded(RecordingProvider& provider, const SceneVariant& wanted, bool keep_failed) {
  const fs::path path = provider.provide(wanted, keep_failed);
  return {path.filename().string(), path, fs::path(wanted.scene).stem().string(), wanted.set};
}

/// As an FCLib file. One that rows depend on is not replaced by another.
ProblemSource write_problem(const ResultFolder& results, const ConfigProblem& made,
                            const std::string& experiment) {
  const fs::path folder = results.path() / "problems";
  make_output_folder(folder);
  ProblemSource source{made.name, folder / (made.name + ".hdf5"), {}, {}, true};
  FclibFile file;
  file.problem = made.make();
  file.info.title = made.name;
  file.info.description = "made for experiment " + experiment;
  file.info.math_info = "normal component first; impulses in N s, velocities in m/s";
  const std::vector<std::byte> image = fclib_image(file, source.path.string());
  const std::string there = text_or_nothing(source.path);
  const auto bytes = std::as_bytes(std::span(there));
  if (std::equal(bytes.begin(), bytes.end(), image.begin(), image.end())) return source;
  std::error_code error;
  if (fs::exists(source.path, error) && results.keeps_results() && !results.replaces())
    throw_usage("{}: is another problem than the rows beside it need; --force replaces both",
                source.path.string());
  write_durable(source.path, image);
  return source;
}

/// Those within the sizes of [cut], at most `max_problems`, evenly spread.
std::vector<ConfigProblem> cut_regions(const Experiment& experiment,
                                       const std::vector<ProblemSource>& sources, const RunMonitor& monitor) {
  std::vector<ConfigProblem> regions;
  for (const ProblemSource& source : sources) {
    if (source.made || source.steps.empty()) continue;
    const ProblemFile file(source.path);
    std::string stem = fs::path(source.label).replace_extension().string();
    std::ranges::replace(stem, '/', '_');  // a label has folders where files have the same name
    for (const std::string& step : source.steps) {
      monitor.stop_when_cancelled();
      const ContactProblem problem = file.read(step);
      if (!is_exact(problem, RegionMode::points))
        throw_usage(
            "{}: key 'cut': step {} of {} couples mass points, its regions are no problems of their own",
            experiment.id, step, source.label);
      const RegionPartition partition = partition_regions(problem, RegionMode::points);
      const RegionExtractor extractor(problem, partition);
      for (Index region = 0; region < partition.regions(); ++region) {
        const auto contacts = static_cast<int>(partition.region(region).size());
        if (contacts < experiment.cut->min_contacts || contacts > experiment.cut->max_contacts) continue;
        regions.push_back(
            {fmt::format("{}_{}_{}", stem, step, region), [cut = extractor.extract(region)] { return cut; }});
      }
    }
  }
  std::vector<ConfigProblem> kept;
  for (const std::size_t i : spread(regions.size(), experiment.max_problems))
    kept.push_back(std::move(regions[i]));
  return kept;
}

/// <recording>-<size>.h5
bool is_recording_of(const ProblemSource& source, const std::string& recording) {
  const std::string stem = source.path.stem().string();
  return stem == recording || stem.substr(0, stem.rfind('-')) == recording;
}

/// Nobody need have these: what is not there is told and left out.
void add_optional_files(const ExperimentRequest& request, ExperimentSources& sources, RunMonitor& monitor) {
  for (const std::string& file : request.experiment.optional_files) {
    const fs::path path = (request.test_data / file).lexically_normal();
    std::error_code error;
    if (fs::exists(path, error)) {
      sources.problems.push_back({label_of(path), path});
      continue;
    }
    monitor.message(
        fmt::format("  {}: left out, {} is not there (SIGNORINI_DATA names the folder of test data)", file,
                    path.string()));
    sources.left_out += (sources.left_out.empty() ? "" : ", ") + file;
  }
}

/// Rows know a problem by its label alone.
void refuse_same_labels(const Experiment& experiment, const std::vector<ProblemSource>& sources) {
  std::map<std::string, fs::path> known;
  for (const ProblemSource& source : sources) {
    const auto [there, fresh] = known.emplace(source.label, source.path);
    if (!fresh)
      throw_usage("{}: two problems have the name {}: {} and {}; rename one", experiment.id, source.label,
                  there->second.string(), source.path.string());
  }
}

}  // namespace

std::vector<SceneVariant> wanted_recordings(const Experiment& experiment) {
  std::vector<SceneVariant> wanted;
  for (const std::string& scene : experiment.scenes)
    wanted.push_back({fs::path(scene).stem().string(), scene, {}, {}, {}});
  wanted.insert(wanted.end(), experiment.recordings.begin(), experiment.recordings.end());
  return wanted;
}

ExperimentSources collect_sources(const ExperimentRequest& request, const ResultFolder& results,
                                  RecordingProvider& provider, RunMonitor& monitor) {
  const Experiment& experiment = request.experiment;
  ExperimentSources sources;
  const std::vector<SceneVariant> wanted = wanted_recordings(experiment);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    sources.recorded.push_back(recorded(provider, wanted[i], i >= experiment.scenes.size()));
  for (const RecordedScene& scene : sources.recorded) sources.problems.push_back({scene.label, scene.path});
  const std::vector<std::string> labels = labels_of(experiment.files);
  for (std::size_t i = 0; i < labels.size(); ++i)
    sources.problems.push_back({labels[i], experiment.files[i]});
  for (const ConfigProblem& made : experiment.problems)
    sources.problems.push_back(write_problem(results, made, experiment.id));
  add_optional_files(request, sources, monitor);
  refuse_same_labels(experiment, sources.problems);
  return sources;
}

void choose_steps(const Experiment& experiment, ProblemSource& source, RunMonitor& monitor) {
  std::vector<std::string> steps;
  std::vector<int> contacts;
  for (SnapshotSize& snapshot : snapshot_sizes(source.path)) {
    steps.push_back(std::move(snapshot.step));
    contacts.push_back(snapshot.contacts);
  }
  if (source.made) {
    source.steps = std::move(steps);
    source.contacts = std::move(contacts);
    return;
  }
  for (const std::size_t i : select_steps(contacts, experiment)) {
    source.steps.push_back(steps[i]);
    source.contacts.push_back(contacts[i]);
  }
  if (source.steps.empty()) {
    monitor.message(fmt::format("  {}: none of {} snapshots has {} contacts or more; nothing to solve",
                                source.label, contacts.size(), experiment.min_contacts));
  }
}

void cut_sources(const Experiment& experiment, const ResultFolder& results,
                 std::vector<ProblemSource>& sources, RunMonitor& monitor) {
  const std::vector<ConfigProblem> regions = cut_regions(experiment, sources, monitor);
  std::erase_if(sources, [](const ProblemSource& source) { return !source.made; });
  for (const ConfigProblem& region : regions) {
    sources.push_back(write_problem(results, region, experiment.id));
    choose_steps(experiment, sources.back(), monitor);
  }
  monitor.message(fmt::format("  {} regions cut out of the snapshots", regions.size()));
}

void add_thinned_sources(const Experiment& experiment, const ResultFolder& results,
                         std::vector<ProblemSource>& sources, RunMonitor& monitor) {
  std::vector<ProblemSource> added;
  for (const ThinnedSnapshots& wanted : experiment.thinned) {
    int number = 0;
    long long before = 0, after = 0;
    for (const ProblemSource& source : sources) {
      if (source.made || !is_recording_of(source, wanted.recording)) continue;
      const ProblemFile file(source.path);
      for (const std::string& step : source.steps) {
        monitor.stop_when_cancelled();
        const ContactProblem problem = file.read(step);
        std::vector<Index> left_out = redundant_contacts(problem, wanted.cosine);
        if (wanted.at_random) left_out = contacts_at_random(problem, count(left_out));
        before += problem.contacts();
        after += problem.contacts() - count(left_out);
        const ConfigProblem made{fmt::format("{}_{:03}", wanted.name, number++),
                                 [&] { return without_contacts(problem, left_out); }};
        added.push_back(write_problem(results, made, experiment.id));
        choose_steps(experiment, added.back(), monitor);
      }
    }
    monitor.message(
        fmt::format("  {}: {} snapshots, {} of {} contacts stay", wanted.name, number, after, before));
  }
  std::move(added.begin(), added.end(), std::back_inserter(sources));
}

}  // namespace signorini
