#include "harness/trace_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/output_file.h"
#include "base/text.h"

namespace signorini {
namespace {

namespace fs = std::filesystem;

std::string trace_key(const ConvergenceTrace& t) {
  return fmt::format("{}\x1f{}\x1f{}\x1f{}\x1f{}\x1f{}", t.file, t.step, t.solver, t.options, t.region_mode,
                     exact_text(t.tolerance));
}

}  // namespace

TraceStore::TraceStore(fs::path file, bool resume)
    : file_(std::move(file)), parts_(file_.string() + ".parts") {
  std::error_code error;
  if (!resume) {
    fs::remove(file_, error);
    fs::remove_all(parts_, error);
  }
  for (ConvergenceTrace& trace : read(file_)) {
    if (keys_.insert(trace_key(trace)).second) traces_.push_back(std::move(trace));
  }
}

std::vector<ConvergenceTrace> TraceStore::read(const fs::path& file) {
  std::vector<fs::path> files;
  std::error_code error;
  if (fs::exists(file, error)) files.push_back(file);
  for (const auto& entry : fs::directory_iterator(file.string() + ".parts", error)) {
    if (entry.path().extension() == ".h5") files.push_back(entry.path());
  }
  std::vector<ConvergenceTrace> traces;
  for (const fs::path& path : files) {
    std::vector<ConvergenceTrace> some = read_traces(path);
    std::move(some.begin(), some.end(), std::back_inserter(traces));
  }
  return traces;
}

bool TraceStore::contains(const ConvergenceTrace& trace) const { return keys_.contains(trace_key(trace)); }

void TraceStore::append(std::vector<ConvergenceTrace> traces) {
  std::erase_if(traces, [this](const ConvergenceTrace& trace) { return contains(trace); });
  if (traces.empty()) return;
  make_output_folder(parts_);
  write_traces(parts_ / fmt::format("{:06}.h5", traces_.size()), traces);
  for (ConvergenceTrace& trace : traces) {
    keys_.insert(trace_key(trace));
    traces_.push_back(std::move(trace));
  }
  changed_ = true;
}

void TraceStore::finish() {
  std::error_code error;
  if (!changed_ && !fs::exists(parts_, error)) return;
  // parts of a resumed run come in the order of their names: sort, so that the file does not depend on
  // interruptions
  std::stable_sort(traces_.begin(), traces_.end(),
                   [](const auto& a, const auto& b) { return trace_key(a) < trace_key(b); });
  write_traces(file_, traces_);
  fs::remove_all(parts_, error);
}

}  // namespace signorini
