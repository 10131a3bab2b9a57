#include "result_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>

#include "base/check.h"
#include "base/output_file.h"
#include "experiment_run.h"
#include "harness/environment.h"
#include "harness/run_table.h"
#include "terminal.h"

namespace signorini {
namespace {

namespace fs = std::filesystem;

/// What rows come with. config.toml is the last: where it lies in replaced/, everything before it does.
constexpr std::array<const char*, 10> kResults{"runs.csv",  "trace.h5",    "trace.h5.parts", "follow.csv",
                                               "env.json",  "regions.csv", "recordings.csv", "series.csv",
                                               "steps.csv", "config.toml"};

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

fs::path made_out_folder(const fs::path& out) {
  make_output_folder(out);
  return out;
}

/// config.toml without the lines of the inputs: they are known only after the recordings are there.
std::string without_inputs(const std::string& text) {
  std::string kept;
  std::size_t begin = 0;
  for (bool head = true; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    const std::string line = text.substr(begin, end - begin);
    head = head && line.starts_with("# ");
    if (!head || !line.starts_with("# input: ")) kept += line;
    begin = end;
  }
  return kept;
}

std::string line_with(const std::string& text, const std::string& start) {
  const std::size_t at = text.find(start);
  return at == std::string::npos ? "" : text.substr(at, text.find('\n', at) - at);
}

/// What of the head or the experiment is another than at the time of the rows.
std::string difference(const std::string& there, const std::string& now) {
  for (const char* start : {"# size: ", "# program: "}) {
    const std::string before = line_with(there, start), after = line_with(now, start);
    if (before != after)
      return fmt::format("another {} ({} there, {} now)",
                         std::string(start).substr(2, std::string(start).size() - 4),
                         before.substr(std::min(before.size(), std::string(start).size())),
                         after.substr(std::string(start).size()));
  }
  return without_inputs(there) != without_inputs(now) ? "another version of the experiment file"
                                                      : "other recordings or problem files";
}

}  // namespace

std::string settings_head(const ExperimentRequest& request) {
  return fmt::format("# size: {}\n# program: {}\n", enum_name(request.size), build_facts().git);
}

ResultFolder::ResultFolder(const ExperimentRequest& request, const Experiment& experiment)
    : path_(made_out_folder(request.output) / experiment.id),
      lock_(lock_of(path_), path_.string() + ": is being written"),
      text_(experiment.text),
      force_(request.force) {
  std::error_code error;
  if (fs::exists(path_, error) && !fs::is_directory(path_, error))
    throw_usage("{}: is a file; results need a folder of this name", path_.string());
  there_ = fs::exists(path_ / "config.toml", error) || fs::exists(path_ / "runs.csv", error);
  if ((there_ || fs::exists(path_ / "replaced", error)) && !request.resume && !force_) {
    const std::string rows = text_of(path_ / "runs.csv");
    throw_usage(
        "{}: holds results already ({} rows); --resume keeps them and makes what is missing, --force starts "
        "again",
        path_.string(), std::max<std::ptrdiff_t>(std::count(rows.begin(), rows.end(), '\n') - 1, 0));
  }
  if (!there_) return;
  const std::string before = text_of(path_ / "config.toml"), now = settings_head(request) + text_;
  const bool same = without_inputs(before) == now;
  if (request.resume && !same && !force_) refuse(difference(before, now));
  keeps_results_ = request.resume && same;
}

void ResultFolder::begin() const {
  make_output_folder(path_);
  if (there_ && !keeps_results_) set_aside();
}

bool ResultFolder::open(const std::string& head) {
  const fs::path copy = path_ / "config.toml";
  const std::string text = head + text_;
  if (keeps_results_ && text_of(copy) == text) return true;
  if (keeps_results_) {
    if (!force_) refuse(difference(text_of(copy), text));
    set_aside();
  }
  write_text_file(copy, text);
  return false;
}

void ResultFolder::refuse(const std::string& difference) const {
  throw_usage("{}: its rows were made from {}; --force replaces them, another --out keeps them",
              path_.string(), difference);
}

void ResultFolder::set_aside() const {
  const fs::path aside = path_ / "replaced";
  std::error_code error;
  // A forced run that was killed: its rows go, the complete ones before it stay.
  const bool kept_before = fs::exists(aside / "config.toml", error);
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
  say(fmt::format("{}: starting again; the rows that were there stay in {} until the new ones are complete",
                  path_.string(), aside.string()));
}

void ResultFolder::finish() const {
  std::error_code error;
  fs::remove_all(path_ / "replaced", error);
}

std::vector<ResultFolder> claim_results(const std::vector<ExperimentRequest>& requests) {
  std::vector<ResultFolder> folders;
  for (const ExperimentRequest& request : requests) {
    const Experiment experiment = read_experiment(request.config, enum_name(request.size));
    for (const ResultFolder& other : folders) {
      if (other.path() == request.output / experiment.id)
        throw_usage(
            "{}: two experiments of this command have the id {}; run them one by one with another --out",
            other.path().string(), experiment.id);
    }
    folders.emplace_back(request, experiment);
  }
  return folders;
}

}  // namespace signorini
