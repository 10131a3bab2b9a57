#include "harness/result_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/output_file.h"
#include "harness/environment.h"
#include "harness/run_table.h"
#include "harness/text_file.h"

namespace signorini {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHead = "run.toml";
constexpr const char* kEarlierHead = "config.toml";  ///< of program versions before run.toml

/// What rows come with, and what scripts made for these rows (compare_siconos, problem_facts). The head is the
/// last: where it lies in replaced/, everything before it does.
constexpr std::array<const char*, 17> kResults{"runs.csv",
                                               "runs.schema.json",
                                               "trace.h5",
                                               "trace.h5.parts",
                                               "follow.csv",
                                               "env.json",
                                               "regions.csv",
                                               "recordings.csv",
                                               "series.csv",
                                               "steps.csv",
                                               "accuracy.csv",
                                               "siconos.csv",
                                               "problems.csv",
                                               "siconos.schema.json",
                                               "siconos.partial.csv",
                                               kEarlierHead,
                                               kHead};

fs::path made_out_folder(const fs::path& out) {
  make_output_folder(out);
  return out;
}

bool has_head(const fs::path& folder) {
  std::error_code error;
  return fs::exists(folder / kHead, error) || fs::exists(folder / kEarlierHead, error);
}

}  // namespace

ResultFolder::ResultFolder(const ExperimentRequest& request)
    : path_(made_out_folder(request.output) / request.experiment.id),
      lock_(lock_of(path_), path_.string() + ": is being written"),
      head_{request.size, build_facts().git, experiment_digest(request.experiment), {}},
      text_(request.experiment.text),
      force_(request.force) {
  std::error_code error;
  if (fs::exists(path_, error) && !fs::is_directory(path_, error))
    throw_usage("{}: is a file; results need a folder of this name", path_.string());
  there_ = has_head(path_) || fs::exists(path_ / "runs.csv", error);
  if ((there_ || fs::exists(path_ / "replaced", error)) && !request.resume && !force_) {
    const std::string rows = text_or_nothing(path_ / "runs.csv");
    throw_usage(
        "{}: holds results already ({} rows); --resume keeps them and makes what is missing, --force starts "
        "again",
        path_.string(), std::max<std::ptrdiff_t>(std::count(rows.begin(), rows.end(), '\n') - 1, 0));
  }
  if (!there_) return;
  const bool earlier = has_head(path_) && !fs::exists(path_ / kHead, error);
  const ResultHead before = ResultHead::of(text_or_nothing(path_ / kHead));
  const bool same = before.equals_but_for_inputs(head_);
  if (request.resume && !same && !force_)
    refuse(earlier ? "an experiment of the earlier form (config.toml instead of run.toml)"
                   : before.difference(head_));
  keeps_results_ = request.resume && same;
}

void ResultFolder::begin(RunMonitor& monitor) const {
  make_output_folder(path_);
  if (there_ && !keeps_results_) set_aside(monitor);
}

bool ResultFolder::open(const std::vector<std::string>& inputs, RunMonitor& monitor) {
  head_.inputs = inputs;
  const std::string text = head_.text() + text_;
  const std::string there = text_or_nothing(path_ / kHead);
  const ResultHead before = ResultHead::of(there);
  // as it will be read: the experiment's own text may open with such lines too
  const ResultHead now = ResultHead::of(text);
  bool kept = keeps_results_;
  if (kept && before != now) {
    if (!force_) refuse(before.difference(now));
    set_aside(monitor);
    kept = false;
  }
  if (!kept || there != text) write_text_file(path_ / kHead, text);
  return kept;
}

void ResultFolder::refuse(const std::string& difference) const {
  throw_usage("{}: its rows were made from {}; --force replaces them, another --out keeps them",
              path_.string(), difference);
}

void ResultFolder::set_aside(RunMonitor& monitor) const {
  const fs::path aside = path_ / "replaced";
  std::error_code error;
  // A forced run that was killed: its rows go, the complete ones before it stay.
  const bool kept_before = has_head(aside);
  const bool has_rows = fs::exists(path_ / "runs.csv", error);
  make_output_folder(aside);
  for (const char* name : kResults) {
    if (!fs::exists(path_ / name, error)) continue;
    if (kept_before || fs::exists(aside / name, error)) {
      fs::remove_all(path_ / name, error);
    } else {
      fs::rename(path_ / name, aside / name, error);
    }
    if (error) throw_input("{}: cannot be set aside ({})", (path_ / name).string(), error.message());
  }
  if (!has_rows) return;  // only a plan was made there
  monitor.message(
      fmt::format("{}: starting again; the rows that were there stay in {} until the new ones are complete",
                  path_.string(), aside.string()));
}

void ResultFolder::finish() const {
  std::error_code error;
  fs::remove_all(path_ / "replaced", error);
}

std::vector<ResultFolder> claim_results(const std::vector<ExperimentRequest>& requests) {
  std::vector<ResultFolder> folders;
  for (const ExperimentRequest& request : requests) {
    for (const ResultFolder& other : folders) {
      if (other.path() == request.output / request.experiment.id)
        throw_usage(
            "{}: two experiments of this command have the id {}; run them one by one with another --out",
            other.path().string(), request.experiment.id);
    }
    folders.emplace_back(request);
  }
  return folders;
}

}  // namespace signorini
