#include "solvers/portfolio/reference.h"

#include <algorithm>
#include <limits>

#include "solvers/global_newton/body_newton.h"
#include "solvers/global_newton/sap.h"
#include "solvers/newton/prox_newton.h"
#include "solvers/portfolio/auto.h"
#include "solvers/portfolio/stages.h"

namespace signorini {

namespace {

/// Iterations of each stage in the first round.
constexpr std::array kMost{1000, 20000, 1000, 1000};
constexpr double kRoundGain = 0.5;  ///< of the residual in a round, else the solve is stuck

template <class S>
std::unique_ptr<Solver> make_stage(const CommonOptions& common) {
  typename S::Options options;
  options.common = common;
  return std::make_unique<S>(options);
}

}  // namespace

/// All iterations of a stage have its name.
class Reference::Course : public Stages {
 public:
  using Stages::Stages;
  std::size_t stage = 0;

 private:
  std::string_view phase_of(std::string_view /*own*/) const override { return kTraits.phases[stage]; }
};

Reference::Reference(const Options& options) : RegisteredSolver(options) {
  stages_[0].solver = make_stage<ProxNewton>(options.common);
  stages_[1].solver = make_stage<Auto>(options.common);
  stages_[2].solver = make_stage<BodyNewton>(options.common);
  if (is_cone(options.common.law)) stages_[3].solver = make_stage<Sap>(options.common);
}

void Reference::use_arena(TaskArena* arena) {
  for (Stage& stage : stages_)
    if (stage.solver) stage.solver->use_arena(arena);
}

void Reference::prepare(const ContactProblem& problem) {
  problem_ = &problem;
  for (Stage& stage : stages_) {
    stage.serves = stage.solver && stage.solver->unsupported_reason(problem).empty();
    stage.ready = false;
  }
  make(0);
  for (std::vector<double>* v : {&start_, &best_, &found_}) v->assign(3 * problem.contacts(), 0.0);
}

double Reference::largest_free_velocity() const { return stages_[0].solver->largest_free_velocity(); }

void Reference::make(std::size_t stage) {
  if (!stages_[stage].ready) stages_[stage].solver->prepare(*problem_);
  stages_[stage].ready = true;
}

/// One stage; true where nothing is left to do.
bool Reference::take(std::size_t stage, int round, Course& course) {
  if (!stages_[stage].serves) return false;
  make(stage);
  course.stage = stage;
  found_ = round == 0 ? start_ : best_;
  SolveReport report = stages_[stage].solver->solve(
      found_, course.left(round == 0 ? kMost[stage] : kMoreIterations * kMost[stage]), course.shown());
  report.phase_iterations = {};
  report.phase_iterations[stage] = report.iterations;
  course.add(report);
  if (report.own_residual < best_residual_) {
    best_residual_ = report.own_residual;
    best_stage_ = stage;
    best_.swap(found_);
  }
  return course.arrived() || course.used_up();
}

SolveReport Reference::solve(std::span<double> r, const StopRule& stop, IterationObserver* observer) {
  if (stop.fixed_iterations) {
    SolveReport report = stages_[0].solver->solve(r, stop, observer);
    report.phase_iterations[0] = report.iterations;
    return report;
  }
  make_finite(r);
  Course course(stop, observer, "");
  SolveReport& whole = course.whole;
  start_.assign(r.begin(), r.end());
  best_ = start_;
  best_residual_ = std::numeric_limits<double>::infinity();
  best_stage_ = 0;
  bool over = false;
  for (int round = 0; !over; ++round) {
    const double before = best_residual_;
    for (std::size_t stage = 0; stage < kStages && !over; ++stage) over = take(stage, round, course);
    if (over) break;
    over = round > 0 && !(best_residual_ < kRoundGain * before);
    whole.status = SolveStatus::stalled;
  }
  if (!course.arrived() && whole.iterations >= stop.max_iterations)
    whole.status = SolveStatus::iteration_limit;
  std::copy(best_.begin(), best_.end(), r.begin());
  whole.own_residual = best_residual_;
  whole.message = kTraits.phases[best_stage_];
  return whole;
}

}  // namespace signorini
