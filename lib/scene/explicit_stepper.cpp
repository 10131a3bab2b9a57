#include "scene/explicit_stepper.h"

#include <cmath>
#include <stdexcept>

#include "base/check.h"
#include "base/clock.h"

namespace signorini {

namespace {

constexpr std::size_t kNodeGrain = 512;

}  // namespace

ExplicitStepper::ExplicitStepper(SolidSystem& solids, ContactDetector detector,
                                 std::unique_ptr<Solver> solver, const ExplicitSettings& settings,
                                 TaskArena& arena)
    : solids_(solids),
      detector_(std::move(detector)),
      solver_(std::move(solver)),
      settings_(settings),
      state_(solids.start()),
      force_(state_.position.size()),
      free_velocity_(state_.position.size()) {
  for (Index body = 0; body <= solids_.bodies(); ++body) first_node_.push_back(solids_.first_node(body));
  StepReport unused;
  look_ahead(arena, unused);
}

void ExplicitStepper::look_ahead(TaskArena& arena, StepReport& report) {
  const Stopwatch other;
  report.elastic_energy = solids_.elastic_forces(arena, state_.position, force_);
  const auto mass = solids_.masses();
  const auto damping = solids_.damping();
  // u_free = u⁻ + dt (M⁻¹ f + g − α u⁻)
  arena.for_chunks(force_.size(), kNodeGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      free_velocity_[i] = state_.velocity[i] + settings_.dt * (force_[i] / mass[i] + settings_.gravity -
                                                               damping[i] * state_.velocity[i]);
    }
  });
  report.kinetic_energy = solids_.kinetic_energy(arena, state_.velocity);
  report.potential_energy = solids_.potential_energy(arena, state_.position, settings_.gravity);
  if (!std::isfinite(report.kinetic_energy + report.elastic_energy + report.potential_energy)) {
    throw std::runtime_error(fmt::format(
        "step {}: the motion is not finite any more; lower time.step_s (now {} s)", steps_, settings_.dt));
  }
  report.other_seconds += other.seconds();
  const Stopwatch detection;
  detector_.detect(arena, {state_.position, state_.velocity, free_velocity_, settings_.dt});
  report.penetration = detector_.deepest();
  report.detection_seconds += detection.seconds();
}

void ExplicitStepper::solve_contacts(StepReport& report) {
  if (contacts_.empty()) {
    assembled_ = {};
    impulses_.clear();
    return;
  }
  const Stopwatch assembly;
  const StepContext context{solids_.masses(), first_node_,  state_.velocity,
                            free_velocity_,   settings_.dt, time()};
  assembled_ = assemble_contact_problem(contacts_, context, settings_.law, warm_start_);
  const ContactProblem& problem = assembled_.problem;
  impulses_.assign(problem.warm_start.data(), problem.warm_start.data() + problem.warm_start.size());
  report.assembly_seconds += assembly.seconds();
  report.contacts = problem.contacts();

  const Stopwatch solve;
  solver_->prepare(problem);
  SolveReport outcome = solver_->solve(impulses_, settings_.stop, nullptr);
  const auto failed = [&] {
    return outcome.status != SolveStatus::converged && !(outcome.own_residual <= settings_.accepted_residual);
  };
  report.iterations = outcome.iterations;
  if (failed()) {
    std::fill(impulses_.begin(), impulses_.end(), 0.0);
    outcome = solver_->solve(impulses_, settings_.stop, nullptr);
    report.iterations += outcome.iterations;
    report.restarted = true;
  }
  report.residual = outcome.own_residual;
  report.solve_seconds += solve.seconds();
  if (failed()) {
    throw std::runtime_error(fmt::format(
        "step {}: solver '{}' ended as {} with residual {:.2e} on {} contacts (accepted: {:.0e}); raise "
        "solver.max_iterations, choose another solver.name or lower time.step_s",
        steps_ + 1, solver_->name(), enum_name(outcome.status), outcome.own_residual, contacts_.size(),
        settings_.accepted_residual));
  }
}

StepReport ExplicitStepper::advance(TaskArena& arena) {
  StepReport report;
  contacts_ = detector_.contacts();
  solve_contacts(report);
  warm_start_.store(contacts_, assembled_.problem, impulses_);

  const Stopwatch update;
  // u⁺ = u_free + M⁻¹ H r on the mass points in contact; x⁺ = x + dt u⁺
  state_.velocity = free_velocity_;
  if (!contacts_.empty()) {
    const Vector impulse = assembled_.problem.H *
                           Eigen::Map<const Vector>(impulses_.data(), static_cast<Index>(impulses_.size()));
    for (std::size_t b = 0; b < assembled_.nodes.size(); ++b) {
      const auto node = static_cast<std::size_t>(assembled_.nodes[b]);
      state_.velocity[node] += impulse.segment<3>(3 * static_cast<Index>(b)) / solids_.masses()[node];
    }
  }
  for (std::size_t i = 0; i < state_.position.size(); ++i)
    state_.position[i] += settings_.dt * state_.velocity[i];
  ++steps_;
  report.other_seconds += update.seconds();
  look_ahead(arena, report);
  return report;
}

}  // namespace signorini
