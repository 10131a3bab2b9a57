#include "harness/run_outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/chosen_method.h"

namespace signorini {
namespace {

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

/// "cg=12 gs=30"; empty for a solver of one kind of iterations.
std::string phases_text(const SolverTraits& traits, const SolveReport& report) {
  std::string text;
  for (std::size_t p = 0; p < traits.phases.size(); ++p) {
    if (traits.phases[p].empty()) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", traits.phases[p], report.phase_iterations[p]);
  }
  return text;
}

}  // namespace

std::string joined(const std::string& first, const std::string& then) {
  return first.empty() || then.empty() ? first + then : first + "; " + then;
}

void set_message(RunRecord& record, const RunTarget& target, std::string text) {
  record.message = joined(target.note, one_line(std::move(text)));
}

void fail(RunRecord& record, const RunTarget& target, SolveStatus status, std::string message) {
  record.status = status;
  set_message(record, target, std::move(message));
  record.errors = Residuals{};
}

std::string fill_report(RunRecord& record, const RunTarget& target, const RegionSolver& solver,
                        const SolveReport& report) {
  record.status = report.status;
  record.iterations = report.iterations;
  record.phases = phases_text(solver.traits(), report);
  record.products = report.products;
  record.counters = report.counters;
  record.threads_used = solver.threads_used();
  std::string used = chosen_method(*target.problem, solver, report);
  set_message(record, target, used.empty() ? report.message : used);
  return used;
}

void fill_use(RunRecord& record, const CpuUse& use) {
  record.cpu_share = use.cpu_share();
  record.waited_share = use.waited_share();
  record.involuntary_switches = use.involuntary;
}

bool misses_by_coupling(const Residuals& errors, double tolerance, const RunTarget& target,
                        const RegionSolver& solver) {
  return !meets(errors.residual, tolerance) && !is_exact(*target.problem, solver.partition().mode);
}

StopRule stop_rule(const RunLimits& limits) {
  StopRule stop;
  stop.residual = limits.tolerance;
  stop.max_iterations = limits.max_iterations;
  stop.time_limit = limits.time_limit;
  stop.cancelled = limits.cancelled;
  return stop;
}

}  // namespace signorini
