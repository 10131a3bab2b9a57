#include "harness/solve_files.h"

#include <fmt/format.h>

#include <system_error>

#include "base/check.h"
#include "record/npz_file.h"

namespace signorini {
namespace {

FclibFile solution_file(const ProblemFile& file, const ContactProblem& problem, const Referee& referee,
                        const Vector& r, const RunRecord& last) {
  FclibFile out;
  out.problem = problem;
  out.info.title = file.title();
  out.info.description =
      fmt::format("step {} of {} with the answer of {} ({}), residual {:.3e}", last.step,
                  file.path().filename().string(), last.solver, enum_name(last.status), last.errors.residual);
  out.info.math_info = "normal component first; impulses in N s, velocities in m/s";
  const std::span<const double> values(r.data(), r.size());
  out.solution = FclibSolution{r, referee.relative_velocity(values), referee.velocity(values)};
  return out;
}

}  // namespace

void SolveTally::count(const RunRecord& run) {
  ++runs;
  if (run.status == SolveStatus::converged) {
    ++converged;
  } else if (run.status == SolveStatus::unsupported) {
    ++unsupported;
  } else if (run.status == SolveStatus::failed) {
    ++failed;
  } else {
    ++other;
  }
  all_reached =
      all_reached && run.status == SolveStatus::converged && meets(run.errors.residual, run.tolerance);
}

std::string SolveTally::text() const {
  std::string out = fmt::format("{} {}: {} converged", runs, runs == 1 ? "run" : "runs", converged);
  if (other > 0) out += fmt::format(", {} did not", other);
  if (unsupported > 0) out += fmt::format(", {} unsupported", unsupported);
  if (failed > 0) out += fmt::format(", {} failed", failed);
  return out;
}

FileSolver::FileSolver(SolveRequest request, std::vector<std::string> command_line)
    : request_(std::move(request)),
      plan_(plan_solves(request_)),
      locks_(claim_outputs(outputs_of(request_))),
      provenance_(std::move(command_line)) {
  for (const std::string& file : request_.plugins) provenance_.add_input(file);
}

void FileSolver::run(SolveObserver& observer) {
  if (!request_.csv.empty()) table_.emplace(partial_of(request_.csv), OpenTable::fresh);
  for (std::size_t i = 0; i < request_.files.size(); ++i) solve_file(i, observer);
}

void FileSolver::solve_file(std::size_t number, SolveObserver& observer) {
  const std::string& path = request_.files[number];
  const ProblemFile file(path, plan_.matrix);
  provenance_.add_input(path);
  const std::vector<std::string> steps = choose_steps(file, request_.steps);
  if (!request_.solution.empty() && steps.size() != 1) {
    throw_usage("--solution {}: holds one answer; pick one of the {} steps with --step", request_.solution,
                steps.size());
  }
  for (const std::string& step : steps) {
    const ContactProblem problem = file.read(step);
    check_problem(problem, fmt::format("{}: step {}", path, step));
    const Referee referee = make_referee(problem, fmt::format("{}: step {}", path, step));
    const RunTarget target = make_target(problem, referee, "solve", path, step);
    if (!target.note.empty()) observer.on_note(fmt::format("{}: step {}: {}", path, step, target.note));
    for (const SolverVariant& variant : plan_.variants) {
      for (const RegionMode mode : plan_.modes) {
        for (const int threads : plan_.threads) {
          observer.on_combination(number, fmt::format("{} step {} {}", path, step, variant.label));
          solve_combination(target, variant, mode, threads, observer);
        }
      }
    }
    if (!request_.solution.empty() && last_)
      solution_ = solution_file(file, problem, referee, *last_, last_record_);
  }
}

void FileSolver::solve_combination(const RunTarget& target, const SolverVariant& variant, RegionMode mode,
                                   int threads, SolveObserver& observer) {
  std::vector<RunRecord> rows;
  for (int repetition = 0; repetition < request_.repetitions; ++repetition) {
    if (is_cancelled(request_.cancelled)) throw Cancelled();
    PreparedRun run = prepare_run(target, variant, mode, threads);
    SolveOutcome outcome = solve_self_stopped(target, run, plan_.limits);
    outcome.record.repetition = repetition;
    if (table_) table_->append(outcome.record);
    observer.on_run(outcome.record);
    tally_.count(outcome.record);
    rows.push_back(outcome.record);
    if (is_answer(outcome)) {
      last_ = std::move(outcome.r);
      last_record_ = outcome.record;
    }
    if (!request_.trace.empty() && repetition == 0 && run.solver) trace(target, run, rows.back());
  }
  observer.on_repetitions(rows);
}

/// The same run again, for its curve. What makes it fail and not `row`, a lack of memory say, is no property of the solver.
void FileSolver::trace(const RunTarget& target, PreparedRun& run, const RunRecord& row) {
  TracedRun traced = trace_run(target, run, plan_.limits);
  if (traced.record.status == SolveStatus::failed && row.status != SolveStatus::failed)
    throw std::runtime_error(fmt::format("{}: step {}: {}: the run for the curve failed: {}", row.file,
                                         row.step, row.label, traced.record.message));
  traces_.push_back(std::move(traced.trace));
}

SolveOutputs FileSolver::publish() {
  SolveOutputs outputs;
  const auto described = [&](const std::string& file) {
    write_text_file(provenance_of(file), provenance_.json());
    outputs.written.push_back(file);
  };
  if (table_) {
    table_.reset();
    publish_durable(partial_of(request_.csv), request_.csv);
    write_text_file(schema_of(request_.csv), run_schema_json());
    described(request_.csv);
  }
  if (!request_.trace.empty()) {
    write_traces(request_.trace, traces_);
    std::error_code ignored;
    std::filesystem::remove(partial_of(request_.trace), ignored);
    described(request_.trace);
  }
  if (solution_) {
    write_problem(request_.solution, *solution_);
    described(request_.solution);
  }
  outputs.answer_missing = !request_.solution.empty() && !solution_;
  return outputs;
}

void FileSolver::keep_partial(SolveObserver& observer) {
  std::error_code ignored;
  const std::size_t rows = table_ ? table_->rows() : 0;
  table_.reset();
  if (rows > 0) {
    observer.on_note(fmt::format("the {} rows so far: {}", rows, partial_of(request_.csv).string()));
  } else if (!request_.csv.empty()) {
    std::filesystem::remove(partial_of(request_.csv), ignored);
  }
  if (request_.trace.empty() || traces_.empty()) return;
  const std::string curves = partial_of(request_.trace).string();
  try {
    write_traces(curves, traces_);
    observer.on_note(fmt::format("the {} curves so far: {}", traces_.size(), curves));
  } catch (const InputError& error) {
    observer.on_note(fmt::format("warning: the curves so far are lost: {}", error.what()));
  }
}

}  // namespace signorini
