#include "record/trace_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/durable_file.h"
#include "record/guarded.h"
#include "record/h5.h"

namespace signorini {

namespace {

constexpr std::uint64_t kTraceSchema = 1;

std::string run_group(std::size_t number) { return fmt::format("/runs/{:06}", number); }

RawTree encode(const ConvergenceTrace& trace) {
  RawTree tree;
  tree.attributes["file"] = trace.file;
  tree.attributes["step"] = trace.step;
  tree.attributes["solver"] = trace.solver;
  tree.attributes["options"] = trace.options;
  tree.attributes["law"] = trace.law;
  tree.attributes["region_mode"] = trace.region_mode;
  tree.attributes["threads"] = static_cast<std::uint64_t>(trace.threads);
  tree.attributes["tolerance"] = trace.tolerance;
  tree.put("iteration", std::vector<Index>(trace.iteration.begin(), trace.iteration.end()));
  tree.put("seconds", trace.seconds);
  tree.put("residual", trace.residual);
  tree.put("natural_map", trace.natural_map);
  tree.put("active", std::vector<Index>(trace.active.begin(), trace.active.end()));
  tree.put("sliding", std::vector<Index>(trace.sliding.begin(), trace.sliding.end()));
  if (trace.plain.empty()) return tree;
  tree.put("plain", trace.plain);
  tree.put("preconditioned", trace.preconditioned);
  tree.put("constraint", trace.constraint);
  tree.put("state_changes", std::vector<Index>(trace.state_changes.begin(), trace.state_changes.end()));
  tree.put("restarts", std::vector<Index>(trace.restarts.begin(), trace.restarts.end()));
  tree.put("relinearisations",
           std::vector<Index>(trace.relinearisations.begin(), trace.relinearisations.end()));
  tree.put("guards", std::vector<Index>(trace.guards.begin(), trace.guards.end()));
  tree.put("contact_sweeps", std::vector<Index>(trace.contact_sweeps.begin(), trace.contact_sweeps.end()));
  return tree;
}

ConvergenceTrace decode(const RawTree& tree, const std::string& where) {
  const RawReader raw(tree, where);
  ConvergenceTrace trace;
  trace.file = raw.text_attribute("file");
  trace.step = raw.text_attribute("step");
  trace.solver = raw.text_attribute("solver");
  trace.options = raw.text_attribute("options");
  trace.law = raw.text_attribute("law");
  trace.region_mode = raw.text_attribute("region_mode");
  trace.threads = static_cast<int>(std::min<std::uint64_t>(raw.count_attribute("threads"), 1U << 20U));
  trace.tolerance = raw.real_attribute("tolerance");
  const std::size_t length = raw.integers("iteration").size();
  const auto copy_integers = [&](const char* name, std::vector<int>& out) {
    // Columns that a run did not fill stay empty.
    const auto values = raw.integers(name).empty() ? raw.integers(name) : raw.integers(name, length);
    out.assign(values.begin(), values.end());
  };
  const auto copy_reals = [&](const char* name, std::vector<double>& out) {
    const auto values = raw.reals(name).empty() ? raw.reals(name) : raw.reals(name, length);
    out.assign(values.begin(), values.end());
  };
  copy_integers("iteration", trace.iteration);
  copy_reals("seconds", trace.seconds);
  copy_reals("residual", trace.residual);
  copy_reals("natural_map", trace.natural_map);
  copy_integers("active", trace.active);
  copy_integers("sliding", trace.sliding);
  if (!raw.has("plain"))
    return trace;  // a file from before solvers told of themselves, or a solver that does not
  copy_reals("plain", trace.plain);
  copy_reals("preconditioned", trace.preconditioned);
  copy_reals("constraint", trace.constraint);
  copy_integers("state_changes", trace.state_changes);
  copy_integers("restarts", trace.restarts);
  copy_integers("relinearisations", trace.relinearisations);
  copy_integers("guards", trace.guards);
  if (raw.has("contact_sweeps")) copy_integers("contact_sweeps", trace.contact_sweeps);
  return trace;
}

}  // namespace

void cut_to_whole_iterations(ConvergenceTrace& t) {
  const std::size_t length = std::min({t.iteration.size(), t.seconds.size(), t.residual.size(),
                                       t.natural_map.size(), t.active.size(), t.sliding.size()});
  const auto cut = [length](auto&... columns) {
    (columns.resize(columns.size() < length ? 0 : length), ...);
  };
  cut(t.iteration, t.seconds, t.residual, t.natural_map, t.active, t.sliding);
  cut(t.plain, t.preconditioned, t.constraint);
  cut(t.state_changes, t.restarts, t.relinearisations, t.guards, t.contact_sweeps);
}

void write_traces(const std::filesystem::path& path, const std::vector<ConvergenceTrace>& traces) {
  h5::WriteFile out(h5::Format::v18);
  RawTree root;
  root.attributes["signorini_trace_schema"] = kTraceSchema;
  out.put("/", root);
  out.put("/runs", RawTree{});
  for (std::size_t k = 0; k < traces.size(); ++k) out.put(run_group(k), encode(traces[k]));
  write_durable(path, out.image());
}

std::vector<ConvergenceTrace> read_traces(const std::filesystem::path& path) {
  check_hdf5_in_child(path);
  const h5::ReadFile file(path);
  if (!file.has_root_attribute("signorini_trace_schema") || !file.has("/runs")) {
    throw_input("{}: not a file of convergence traces", path.string());
  }
  std::vector<ConvergenceTrace> traces;
  for (const std::string& run : file.children("/runs")) {
    const std::string where = fmt::format("{}: run {}", path.string(), run);
    traces.push_back(decode(file.read("/runs/" + run, where), where));
  }
  return traces;
}

}  // namespace signorini
