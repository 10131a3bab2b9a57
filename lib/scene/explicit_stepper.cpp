#include "scene/explicit_stepper.h"

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "base/check.h"
#include "base/clock.h"
#include "scene/checkpoint.h"
#include "scene/point_triangle_surface.h"

namespace signorini {

namespace {

constexpr std::size_t kBlockGrain = 512;
constexpr std::string_view kKind = "explicit";

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

}  // namespace

double normal_offset(const ContactLawSettings& law, double gap, double speed_before, double speed_free,
                     double dt) {
  if (law.restitution > 0.0 && speed_before < -law.rest_speed && gap + dt * speed_free <= 0.0) {
    return law.restitution * speed_before;
  }
  return gap >= 0.0 ? gap / dt : std::max(law.recovery * gap / dt, -law.recovery_speed);
}

struct ExplicitStepper::Impl {
  BodySystem& system;
  const PointTriangleSurface surface;
  ContactDetector detector;
  std::unique_ptr<Solver> solver;
  const ExplicitSettings settings;

  // --- what a checkpoint holds; everything else follows from it ---
  SystemState state;
  long long steps = 0;
  WarmStart warm;

  bool looked_ahead = false;
  std::vector<Matrix3> mass, inverse_mass;  // per block
  std::vector<Vector3> force, free_velocity;
  std::vector<Vector3> position, surface_velocity, surface_free_velocity;  // per surface vertex
  std::vector<SurfaceContact> contacts;                                    // ascending by key
  std::vector<Vector3> tangents, start_impulses;
  TouchedBlocks touched;
  ContactProblem problem;
  std::vector<double> impulses;

  Impl(BodySystem& bodies, const DetectionSettings& detection, std::unique_ptr<Solver> driver,
       const ExplicitSettings& chosen)
      : system(bodies),
        surface(point_triangle_surface(bodies)),
        detector(surface.model, detection),
        solver(std::move(driver)),
        settings(chosen),
        state(bodies.start()) {
    const auto blocks = at(system.blocks());
    mass.resize(blocks);
    inverse_mass.resize(blocks);
    force.resize(blocks);
    free_velocity.resize(blocks);
    for (auto* v : {&position, &surface_velocity, &surface_free_velocity})
      v->resize(at(system.surface().vertices()));
    find_masses();
  }

  void find_masses();
  void velocities_of_surface(TaskArena& arena, std::span<const Vector3> velocity,
                             std::span<Vector3> result) const;
  void look_ahead(TaskArena& arena, StepReport& report);
  void find_contacts();
  void assemble(StepReport& report);
  void solve(StepReport& report, const SolveSink& sink);
  StepReport step(TaskArena& arena, const SolveSink& sink);
};

void ExplicitStepper::Impl::find_masses() {
  system.mass_blocks(state, mass);
  for (std::size_t b = 0; b < mass.size(); ++b) inverse_mass[b] = mass[b].inverse();
}

void ExplicitStepper::Impl::velocities_of_surface(TaskArena& arena, std::span<const Vector3> velocity,
                                                  std::span<Vector3> result) const {
  const SurfaceModel& model = system.surface();
  arena.for_chunks(result.size(), kBlockGrain, [&](std::size_t begin, std::size_t end) {
    VertexRow row;
    for (std::size_t i = begin; i < end; ++i) {
      const auto vertex = static_cast<Index>(i);
      result[i] = system.prescribed_velocity(state, vertex, settings.dt);
      if (!model.bodies[at(model.vertex_body[i])].movable) continue;
      for (Index d = 0; d < 3; ++d) {
        const int size = system.vertex_row(state, vertex, Vector3::Unit(d), row);
        for (std::size_t e = 0; e < static_cast<std::size_t>(size); ++e)
          result[i][d] += row[e].coefficient.dot(velocity[at(row[e].block)]);
      }
    }
  });
}

/// Free velocities, energies and contacts of the present state: all that the next step starts from.
void ExplicitStepper::Impl::look_ahead(TaskArena& arena, StepReport& report) {
  const Stopwatch other;
  report.elastic_energy = system.forces(arena, state, force);
  if (system.rigids() > 0) find_masses();
  const auto damping = system.damping();
  const Index nodes = system.nodes();
  // u_free = u⁻ + dt (M⁻¹ f + g − α u⁻); gravity does not turn rigid bodies.
  arena.for_chunks(force.size(), kBlockGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t b = begin; b < end; ++b) {
      const auto block = static_cast<Index>(b);
      const bool angular = block >= nodes && (block - nodes) % 2 == 1;
      const Vector3 acceleration = inverse_mass[b] * force[b] - damping[b] * state.velocity[b] +
                                   (angular ? Vector3(Vector3::Zero()) : settings.gravity);
      free_velocity[b] = state.velocity[b] + settings.dt * acceleration;
    }
  });
  report.kinetic_energy = system.kinetic_energy(state);
  report.potential_energy = system.potential_energy(state, settings.gravity);
  report.volume_ratio = system.smallest_volume_ratio(state);
  if (!std::isfinite(report.kinetic_energy + report.elastic_energy + report.potential_energy)) {
    throw std::runtime_error(fmt::format(
        "step {}: the motion is not finite any more; lower time.step_s (now {} s)", steps, settings.dt));
  }
  report.other_seconds += other.seconds();
  const Stopwatch detection;
  system.surface_positions(arena, state, position);
  velocities_of_surface(arena, state.velocity, surface_velocity);
  velocities_of_surface(arena, free_velocity, surface_free_velocity);
  detector.detect(arena, {position, surface_velocity, surface_free_velocity, settings.dt});
  report.penetration = detector.deepest();
  report.smallest_gap = 0.0;
  for (const PointTriangleContact& contact : detector.contacts())
    report.smallest_gap = std::min(report.smallest_gap, contact.gap);
  report.detection_seconds += detection.seconds();
  looked_ahead = true;
}

void ExplicitStepper::Impl::find_contacts() {
  contacts.clear();
  for (const PointTriangleContact& found : detector.contacts()) {
    const SurfaceContact contact = surface_contact(system.surface(), surface, found);
    if (is_movable(system, state, contact)) contacts.push_back(contact);
  }
  std::sort(contacts.begin(), contacts.end(),
            [](const SurfaceContact& a, const SurfaceContact& b) { return a.key < b.key; });
}

void ExplicitStepper::Impl::assemble(StepReport& report) {
  const Stopwatch assembly;
  touched = touched_nodes(system, state, contacts);
  tangents.clear();
  for (const SurfaceContact& contact : contacts)
    tangents.push_back(contact_tangent(TangentFrame::fixed, contact, Vector3::Zero(), warm));
  contact_rows(system, state, settings.dt, contacts, tangents, touched, problem);

  restrict_blocks(mass, touched, problem.M);
  problem.f.resize(problem.M.rows());
  for (std::size_t i = 0; i < touched.block.size(); ++i) {
    const auto block = at(touched.block[i]);
    problem.f.segment<3>(3 * static_cast<Index>(i)) = mass[block] * free_velocity[block];
  }

  const auto m = static_cast<Index>(contacts.size());
  problem.kind = ProblemKind::explicit_step;
  problem.dt = settings.dt;
  problem.time = state.time;
  problem.mu = Vector::Constant(m, settings.law.friction);
  problem.warm_start.resize(3 * m);
  start_impulses.resize(contacts.size());
  warm.impulses(contacts, start_impulses);
  for (Index k = 0; k < m; ++k) {
    const SurfaceContact& contact = contacts[at(k)];
    const auto speed = [&](std::span<const Vector3> velocity) {
      return contact.normal.dot(relative_velocity(system, state, settings.dt, contact, velocity));
    };
    problem.w[3 * k] +=
        normal_offset(settings.law, contact.gap, speed(state.velocity), speed(free_velocity), settings.dt);
    for (Index d = 0; d < 3; ++d)
      problem.warm_start[3 * k + d] = problem.frame.block<1, 3>(k, 3 * d).dot(start_impulses[at(k)]);
  }
  report.assembly_seconds += assembly.seconds();
}

void ExplicitStepper::Impl::solve(StepReport& report, const SolveSink& sink) {
  const Stopwatch solving;
  impulses.assign(problem.warm_start.data(), problem.warm_start.data() + problem.warm_start.size());
  solver->prepare(problem);
  SolveReport outcome = solver->solve(impulses, settings.stop, nullptr);
  if (outcome.status == SolveStatus::unsupported)
    throw_usage("step {}: solver '{}' cannot take the problem: {}", steps + 1, solver->name(),
                outcome.message);
  const auto failed = [&] {
    return outcome.status != SolveStatus::converged && !(outcome.own_residual <= settings.accepted_residual);
  };
  report.iterations = outcome.iterations;
  if (failed() && !problem.warm_start.isZero(0.0)) {
    std::fill(impulses.begin(), impulses.end(), 0.0);
    outcome = solver->solve(impulses, settings.stop, nullptr);
    report.iterations += outcome.iterations;
    report.restarted = true;
  }
  report.solves = 1;
  report.residual = outcome.own_residual;
  report.solve_seconds += solving.seconds();
  if (sink) sink({problem, impulses, contacts, 1, 0, !failed()});
  if (failed()) {
    throw std::runtime_error(fmt::format(
        "step {}: solver '{}' ended as {} with residual {:.2e} on {} contacts (accepted: {:.0e}); raise "
        "solver.max_iterations, choose another solver.name or lower time.step_s",
        steps + 1, solver->name(), enum_name(outcome.status), outcome.own_residual, contacts.size(),
        settings.accepted_residual));
  }
}

StepReport ExplicitStepper::Impl::step(TaskArena& arena, const SolveSink& sink) {
  StepReport report;
  if (!looked_ahead) look_ahead(arena, report);
  find_contacts();
  report.contacts = static_cast<int>(contacts.size());
  if (contacts.empty()) {
    warm.clear();
  } else {
    assemble(report);
    solver->use_arena(&arena);
    solve(report, sink);
    solver->use_arena(nullptr);
    warm.store(contacts, problem, impulses);
    // u⁺ = u_free + M⁻¹ H r on the blocks in contact
    const Vector pushed =
        problem.H * Eigen::Map<const Vector>(impulses.data(), static_cast<Index>(impulses.size()));
    for (std::size_t i = 0; i < touched.block.size(); ++i) {
      const auto block = at(touched.block[i]);
      free_velocity[block] += inverse_mass[block] * pushed.segment<3>(3 * static_cast<Index>(i));
    }
  }
  const Stopwatch update;
  system.advance(state, free_velocity, settings.dt);
  ++steps;
  report.other_seconds += update.seconds();
  look_ahead(arena, report);
  return report;
}

ExplicitStepper::ExplicitStepper(BodySystem& system, const DetectionSettings& detection,
                                 std::unique_ptr<Solver> solver, const ExplicitSettings& settings)
    : impl_(std::make_unique<Impl>(system, detection, std::move(solver), settings)) {}
ExplicitStepper::~ExplicitStepper() = default;

StepReport ExplicitStepper::advance(TaskArena& arena, const SolveSink& sink) {
  return impl_->step(arena, sink);
}
const SystemState& ExplicitStepper::state() const { return impl_->state; }
long long ExplicitStepper::steps_taken() const { return impl_->steps; }

std::string ExplicitStepper::checkpoint() const {
  CheckpointWriter writer(kKind, system_digest(impl_->system));
  writer.integer(impl_->steps);
  write_state(writer, impl_->state);
  write_warm_start(writer, impl_->warm);
  return writer.finish();
}

void ExplicitStepper::restore(std::string_view bytes) {
  CheckpointReader reader(bytes, kKind, system_digest(impl_->system));
  const long long steps = reader.integer();
  SystemState state = read_state(reader, impl_->system);
  WarmStart warm = read_warm_start(reader, impl_->system);
  reader.finish();
  impl_->steps = steps;
  impl_->state = std::move(state);
  impl_->warm = std::move(warm);
  impl_->looked_ahead = false;
}

}  // namespace signorini
