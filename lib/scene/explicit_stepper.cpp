#include "scene/explicit_stepper.h"

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "base/check.h"
#include "base/clock.h"
#include "collision/edge_contacts.h"
#include "scene/checkpoint.h"
#include "scene/driving_solver.h"
#include "scene/momentum_balance.h"
#include "scene/point_triangle_surface.h"
#include "solvers/stop_test.h"

namespace signorini {

namespace {

constexpr std::size_t kBlockGrain = 512;
constexpr std::string_view kKind = "explicit";

std::vector<Vector3> start_positions(const BodySystem& bodies) {
  TaskArena arena(1);
  std::vector<Vector3> x(bodies.surface().vertices());
  bodies.surface_positions(arena, bodies.start(), x);
  return x;
}

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
  std::optional<EdgeDetector> edges;
  std::unique_ptr<Solver> solver;
  const ExplicitSettings settings;
  const MomentumBalance momentum;

  CarriedState carried;  // everything else follows from it
  bool looked_ahead = false;
  std::vector<Matrix3> mass, inverse_mass;  // per block
  std::vector<Vector3> force, free_velocity;
  std::vector<Vector3> load;                                               // H r, N s
  std::vector<Vector3> position, surface_velocity, surface_free_velocity;  // per surface vertex
  std::vector<SurfaceContact> contacts;                                    // ascending by key
  std::vector<Vector3> tangents;
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
        momentum(bodies) {
    carried.state = bodies.start();
    if (detection.edges) edges.emplace(bodies.surface(), start_positions(bodies), detection);
    const std::size_t blocks = system.blocks();
    mass.resize(blocks);
    inverse_mass.resize(blocks);
    force.resize(blocks);
    free_velocity.resize(blocks);
    load.resize(blocks);
    for (auto* v : {&position, &surface_velocity, &surface_free_velocity})
      v->resize(system.surface().vertices());
    find_masses();
  }

  void find_masses();
  void velocities_of_surface(TaskArena& arena, std::span<const Vector3> velocity,
                             std::span<Vector3> result) const;
  void look_ahead(TaskArena& arena, StepReport& report);
  void find_contacts();
  void assemble(TaskArena& arena, StepReport& report);
  void assemble_starts();
  void solve(StepReport& report, const SolveSink& sink);
  StepReport step(TaskArena& arena, const SolveSink& sink);
};

void ExplicitStepper::Impl::find_masses() {
  system.mass_blocks(carried.state, mass);
  for (std::size_t b = 0; b < mass.size(); ++b) inverse_mass[b] = mass[b].inverse();
}

void ExplicitStepper::Impl::velocities_of_surface(TaskArena& arena, std::span<const Vector3> velocity,
                                                  std::span<Vector3> result) const {
  const SurfaceModel& model = system.surface();
  arena.for_chunks(result.size(), kBlockGrain, [&](std::size_t begin, std::size_t end) {
    VertexRow row;
    for (std::size_t i = begin; i < end; ++i) {
      const auto vertex = static_cast<Index>(i);
      result[i] = system.prescribed_velocity(carried.state, vertex, settings.dt);
      if (!model.bodies[model.vertex_body[i]].movable) continue;
      for (Index d = 0; d < 3; ++d) {
        const int size = system.vertex_row(carried.state, vertex, Vector3::Unit(d), row);
        for (Index e = 0; e < size; ++e) result[i][d] += row[e].coefficient.dot(velocity[row[e].block]);
      }
    }
  });
}

/// Free velocities, energies and contacts of the present carried.state: all that the next step starts from.
void ExplicitStepper::Impl::look_ahead(TaskArena& arena, StepReport& report) {
  const Stopwatch other;
  report.elastic_energy = system.forces(arena, carried.state, force);
  if (system.rigids() > 0) find_masses();
  const auto damping = system.damping();
  // u_free = u⁻ + dt (M⁻¹ f + g − α u⁻); gravity does not turn rigid bodies.
  arena.for_chunks(force.size(), kBlockGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t b = begin; b < end; ++b) {
      const bool angular = system.is_angular(static_cast<Index>(b));
      const Vector3 acceleration = inverse_mass[b] * force[b] - damping[b] * carried.state.velocity[b] +
                                   (angular ? Vector3(Vector3::Zero()) : settings.gravity);
      free_velocity[b] = carried.state.velocity[b] + settings.dt * acceleration;
    }
  });
  report.kinetic_energy = system.kinetic_energy(carried.state);
  report.potential_energy = system.potential_energy(carried.state, settings.gravity);
  report.volume_ratio = system.smallest_volume_ratio(carried.state);
  if (!std::isfinite(report.kinetic_energy + report.elastic_energy + report.potential_energy)) {
    throw std::runtime_error(
        fmt::format("step {}: the motion is not finite any more; lower time.step_s (now {} s)", carried.steps,
                    settings.dt));
  }
  report.other_seconds += other.seconds();
  const Stopwatch detection;
  system.surface_positions(arena, carried.state, position);
  velocities_of_surface(arena, carried.state.velocity, surface_velocity);
  velocities_of_surface(arena, free_velocity, surface_free_velocity);
  const NodeMotion motion{position, surface_velocity, surface_free_velocity, settings.dt};
  detector.detect(arena, motion);
  report.deepest_point = detector.deepest();
  report.smallest_gap = std::numeric_limits<double>::quiet_NaN();
  for (const PointTriangleContact& contact : detector.contacts())
    report.smallest_gap = std::fmin(report.smallest_gap, contact.gap);  // the number, beside a NaN
  if (edges) {
    for (const SurfaceContact& contact : edges->detect(arena, motion))
      report.smallest_gap = std::fmin(report.smallest_gap, contact.gap);
  }
  report.detection_seconds += detection.seconds();
  looked_ahead = true;
}

void ExplicitStepper::Impl::find_contacts() {
  contacts.clear();
  const auto add = [this](const SurfaceContact& contact) {
    if (is_movable(system, carried.state, contact)) contacts.push_back(contact);
  };
  for (const PointTriangleContact& found : detector.contacts())
    add(surface_contact(system.surface(), surface, found));
  if (edges) std::ranges::for_each(edges->contacts(), add);
  std::sort(contacts.begin(), contacts.end(),
            [](const SurfaceContact& a, const SurfaceContact& b) { return a.key < b.key; });
}

void ExplicitStepper::Impl::assemble(TaskArena& arena, StepReport& report) {
  const Stopwatch assembly;
  touched = touched_nodes(system, carried.state, contacts);
  tangents.clear();
  for (const SurfaceContact& contact : contacts)
    tangents.push_back(contact_tangent(TangentFrame::fixed, contact, Vector3::Zero(), carried.warm));
  contact_rows(arena, system, carried.state, settings.dt, contacts, tangents, touched, problem);

  restrict_blocks(mass, touched, problem.M);
  problem.f.resize(problem.M.rows());
  for (Index i = 0; i < count(touched.block); ++i) {
    const std::size_t block = touched.block[i];
    problem.f.segment<3>(3 * i) = mass[block] * free_velocity[block];
  }

  const Index m = count(contacts);
  problem.kind = ProblemKind::explicit_step;
  problem.dt = settings.dt;
  problem.time = carried.state.time;
  problem.mu = Vector::Constant(m, settings.law.friction);
  for (Index k = 0; k < m; ++k) {
    const SurfaceContact& contact = contacts[k];
    const auto speed = [&](std::span<const Vector3> velocity) {
      return contact.normal.dot(relative_velocity(system, carried.state, settings.dt, contact, velocity));
    };
    const double kept = settings.law.kept(contact.key.kind);
    problem.w[3 * k] += normal_offset(settings.law, contact.gap - kept, speed(carried.state.velocity),
                                      speed(free_velocity), settings.dt);
  }
  assemble_starts();
  report.assembly_seconds += assembly.seconds();
}

/// Velocities before the step, and what the step before left of each contact.
void ExplicitStepper::Impl::assemble_starts() {
  gather_blocks(carried.state.velocity, touched, problem.v_minus);
  const std::vector<const WarmStart::Entry*> kept = carried.warm.match(contacts);
  const Index m = count(kept);
  problem.warm_start.resize(3 * m);
  problem.start_states.resize(kept.size());
  problem.start_bounds.resize(m);
  const WarmStart::Entry fresh;
  for (Index k = 0; k < m; ++k) {
    const WarmStart::Entry& entry = kept[k] ? *kept[k] : fresh;
    for (Index d = 0; d < 3; ++d)
      problem.warm_start[3 * k + d] = problem.frame.block<1, 3>(k, 3 * d).dot(entry.impulse);
    problem.start_states[k] = entry.end.state;
    problem.start_bounds[k] = entry.end.bound;
  }
}

void ExplicitStepper::Impl::solve(StepReport& report, const SolveSink& sink) {
  const Stopwatch solving;
  const long long step = carried.steps + 1;
  const DrivenSolve outcome =
      drive(*solver, problem, Preparation::whole, settings.stop, settings.accepted_residual, step, impulses);
  report.iterations = outcome.iterations;
  report.restarted = outcome.restarted;
  report.solves = 1;
  report.residual = outcome.report.own_residual;
  report.solve_seconds += solving.seconds();
  report.velocity_error =
      report.residual * velocity_scale(free_relative_velocity(problem, touched, free_velocity));
  if (sink) sink({problem, impulses, contacts, 1, 0, outcome.accepted});
  if (!outcome.accepted) {
    throw std::runtime_error(fmt::format(
        "step {}: {}; raise solver.max_iterations, choose another solver.name or lower time.step_s", step,
        outcome.failure(*solver, problem, settings.accepted_residual)));
  }
}

StepReport ExplicitStepper::Impl::step(TaskArena& arena, const SolveSink& sink) {
  StepReport report;
  if (!looked_ahead) look_ahead(arena, report);
  find_contacts();
  report.contacts = static_cast<int>(contacts.size());
  std::fill(load.begin(), load.end(), Vector3::Zero());
  if (contacts.empty()) {
    carried.warm.clear();
  } else {
    assemble(arena, report);
    solver->use_arena(&arena);
    solve(report, sink);
    solver->use_arena(nullptr);
    report.pressed = pressed_contacts(impulses);
    const auto ends = ends_of(problem, impulses, solver->common().spec(), touched, free_velocity);
    carried.warm.store(contacts, problem, impulses, ends);
    carried.warm_dt = settings.dt;
    // u⁺ = u_free + M⁻¹ H r on the blocks in contact
    const Vector pushed = problem.H * Eigen::Map<const Vector>(impulses.data(), count(impulses));
    for (Index i = 0; i < count(touched.block); ++i) {
      const std::size_t block = touched.block[i];
      load[block] = pushed.segment<3>(3 * i);
      free_velocity[block] += inverse_mass[block] * load[block];
    }
  }
  report.momentum_error = momentum.error(carried.state.velocity, free_velocity, load, settings.dt,
                                         settings.gravity, MomentumBalance::Damping::by_start);
  const Stopwatch update;
  system.advance(carried.state, free_velocity, settings.dt);
  ++carried.steps;
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
const SystemState& ExplicitStepper::state() const { return impl_->carried.state; }
long long ExplicitStepper::steps_taken() const { return impl_->carried.steps; }
void ExplicitStepper::restart_count() { impl_->carried.steps = 0; }

std::string ExplicitStepper::checkpoint() const {
  return write_checkpoint(kKind, impl_->system, impl_->carried);
}
void ExplicitStepper::restore(std::string_view bytes) {
  impl_->carried = read_checkpoint(bytes, kKind, impl_->system);
  impl_->looked_ahead = false;
}

}  // namespace signorini
