#include "scene/implicit_stepper.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "base/check.h"
#include "base/clock.h"
#include "scene/checkpoint.h"
#include "scene/edge_cones.h"
#include "scene/relinearisation.h"

namespace signorini {

namespace {

constexpr std::size_t kNodeGrain = 2048;
constexpr int kLinearIterations = 20000;
constexpr std::string_view kKind = "implicit";
constexpr double kKeptShare = 0.5;
/// `hold`: how often the motion is shortened before everything stands still.
constexpr int kHoldAttempts = 20;
constexpr double kHoldShare = 0.9;
/// Impacts before this share of the step are between surfaces that touch at its start.
constexpr double kAtStart = 1e-12;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// Three doubles per block, contiguous.
std::span<double> numbers(std::vector<Vector3>& v) { return {v.data()->data(), 3 * v.size()}; }
std::span<const double> numbers(const std::vector<Vector3>& v) { return {v.data()->data(), 3 * v.size()}; }

bool all_finite(std::span<const double> x) {
  return std::all_of(x.begin(), x.end(), [](double value) { return std::isfinite(value); });
}

}  // namespace

void ImplicitSettings::validate() const {
  const auto require = [](bool holds, const char* name, const char* rule, double value) {
    if (!holds) throw_usage("implicit step: {} must be {}, not {}", name, rule, value);
  };
  require(std::isfinite(dt) && dt > 0.0, "dt", "positive", dt);
  require(gravity.allFinite(), "gravity", "finite", gravity.norm());
  require(std::isfinite(friction) && friction >= 0.0, "friction", "zero or positive", friction);
  require(restitution >= 0.0 && restitution <= 1.0, "restitution", "between 0 and 1", restitution);
  require(std::isfinite(rest_speed) && rest_speed >= 0.0, "rest_speed", "zero or positive", rest_speed);
  require(std::isfinite(recovery_speed) && recovery_speed >= 0.0, "recovery_speed", "zero or positive",
          recovery_speed);
  require(std::isfinite(safety_distance) && safety_distance >= 0.0, "safety_distance",
          "zero (the default) or positive", safety_distance);
  require(rounds >= 0, "rounds", "zero (the default) or positive", rounds);
  require(halvings >= 0 && halvings <= 20, "halvings", "between 0 and 20", halvings);
  require(largest_turn > 0.0, "largest_turn", "positive", largest_turn);
  require(gap_tolerance >= 0.0, "gap_tolerance", "zero (the default) or positive", gap_tolerance);
  require(accepted_residual >= 0.0, "accepted_residual", "zero or positive", accepted_residual);
  require(free_tolerance > 0.0 && free_tolerance < 1.0, "free_tolerance", "between 0 and 1", free_tolerance);
}

double implicit_offset(const ImplicitSettings& settings, double gap, double target, double speed_before,
                       double dt) {
  const bool impact = settings.restitution > 0.0 && speed_before < -settings.rest_speed;
  const double rebound = impact ? settings.restitution * speed_before : 0.0;
  if (settings.level == ConstraintLevel::velocity) return rebound;
  const double position = (gap - target) / dt;
  return impact ? std::min(position, rebound) : position;
}

struct ImplicitStepper::Impl {
  BodySystem& system;
  ContactFinder finder;
  std::unique_ptr<Solver> solver;
  const ImplicitSettings settings;
  FaceNeighbours neighbours;
  EdgeCones cones;

  // --- what a checkpoint holds ---
  SystemState state;
  long long steps = 0;
  WarmStart warm;
  double warm_dt = 0.0;  // of the solve that `warm` comes from, s

  // --- of the step being taken ---
  TaskArena* arena = nullptr;
  const SolveSink* sink = nullptr;
  double sink_seconds = 0.0;  // the sink's own time is no part of the step
  StepReport report;
  int substeps = 0;
  int substep = 0;
  std::string failure;
  ImplicitSystem linear;
  ConjugateGradient cg;
  std::vector<Vector3> x0, x1, surface_velocity;
  std::vector<Matrix3> mass;  // for local responses
  std::vector<Vector3> free_velocity, response, velocity, load, force;
  std::vector<LoopContact> contacts;   // ascending by key; of the next solve
  std::vector<SurfaceContact> solved;  // of the last one
  std::vector<SurfaceContact> found;
  std::vector<Vector3> tangents;
  TouchedBlocks touched;
  bool matrix_is_current = false;
  ContactProblem problem;
  std::vector<double> impulses;
  SystemState next;

  Impl(BodySystem& bodies, ContactFinder contact_finder, std::unique_ptr<Solver> driver,
       const ImplicitSettings& chosen)
      : system(bodies),
        finder(std::move(contact_finder)),
        solver(std::move(driver)),
        settings(chosen),
        neighbours(bodies.surface()),
        cones(bodies.surface()),
        state(bodies.start()) {
    settings.validate();
    if (!(safety_distance() <= finder.settings().tolerance)) {
      throw_usage("implicit step: safety_distance = {} m must not exceed the detection tolerance {} m",
                  settings.safety_distance, finder.settings().tolerance);
    }
    const auto vertices = at(system.surface().vertices());
    x0.resize(vertices);
    x1.resize(vertices);
    surface_velocity.resize(vertices);
    const auto blocks = at(system.blocks());
    for (auto* v : {&free_velocity, &response, &velocity, &load, &force}) v->assign(blocks, Vector3::Zero());
  }

  double safety_distance() const {
    return settings.safety_distance > 0.0 ? settings.safety_distance
                                          : kKeptShare * finder.settings().tolerance;
  }
  double recovery_speed(double dt) const {
    return settings.recovery_speed > 0.0 ? settings.recovery_speed : 0.1 * safety_distance() / dt;
  }
  double gap_tolerance() const {
    return settings.gap_tolerance > 0.0 ? settings.gap_tolerance : std::max(1e-6, 1e-6 * settings.dt / 4e-3);
  }
  int rounds() const {
    if (settings.rounds > 0) return settings.rounds;
    return settings.loop == ContactLoop::refine ? 5 : 20;
  }

  StepReport step(TaskArena& with, const SolveSink& to);
  void take(double dt, int halvings);
  bool attempt(double dt);
  void accept(double dt);
  void hold(double dt);
  void finish_report();

  bool free_motion(double dt);
  void find_start_contacts(double dt);
  bool respond(double dt);
  void assemble(double dt);
  void assemble_matrix();
  CgReport response_to_load();
  bool solve();
  bool apply_impulses();
  void find_crossings(double dt);
  bool separates(const SurfaceContact& contact) const;
  void clamp_normals();

  LoopContact loop_contact(const SurfaceContact& contact, double dt) const;
  void give_warm_impulses(double dt);
  LoopContact* known(const PairKey& key);
  void sort_contacts();
  bool refine(double dt);
  bool relinearise_all(double dt);
  std::optional<PairGeometry> tentative_geometry(const SurfaceContact& contact) const;
  bool needs_update(const LoopContact& c, const std::optional<PairGeometry>& geometry) const;
  void hand_over(const LoopContact& from, std::vector<LoopContact>& kept) const;
};

// --- steps and halving ---------------------------------------------------------------------------------

StepReport ImplicitStepper::Impl::step(TaskArena& with, const SolveSink& to) {
  const Stopwatch whole;
  arena = &with;
  sink = &to;
  sink_seconds = 0.0;
  report = {};
  substeps = 0;
  solver->use_arena(arena);
  const SystemState before = state;
  const WarmStart warm_before = warm;
  const double warm_dt_before = warm_dt;
  try {
    take(settings.dt, 0);
    finish_report();
  } catch (...) {
    // A step that cannot be done leaves everything as it was.
    state = before;
    warm = warm_before;
    warm_dt = warm_dt_before;
    solver->use_arena(nullptr);
    throw;
  }
  solver->use_arena(nullptr);
  ++steps;
  report.other_seconds = whole.seconds() - report.detection_seconds - report.assembly_seconds -
                         report.free_seconds - report.solve_seconds - sink_seconds;
  return report;
}

void ImplicitStepper::Impl::take(double dt, int halvings) {
  substep = halvings == 0 ? 0 : ++substeps;
  report.halvings = std::max(report.halvings, halvings);
  if (attempt(dt)) {
    accept(dt);
  } else if (halvings < settings.halvings) {
    take(0.5 * dt, halvings + 1);
    take(0.5 * dt, halvings + 1);
  } else if (settings.unresolved == Unresolved::hold) {
    hold(dt);
  } else {
    throw std::runtime_error(fmt::format(
        "step {}: {} after {} halvings (sub-step {:.3g} s); lower time.step_s, or let contact.unresolved = "
        "\"hold\" stop the motion there",
        steps + 1, failure, halvings, dt));
  }
}

bool ImplicitStepper::Impl::attempt(double dt) {
  if (!free_motion(dt)) return false;
  find_start_contacts(dt);
  const int limit = rounds();
  for (int round = 1;; ++round) {
    ++report.detection_rounds;
    if (!respond(dt)) return false;
    find_crossings(dt);
    const bool changed = settings.loop == ContactLoop::refine ? refine(dt) : relinearise_all(dt);
    if (!changed) return true;
    if (round < limit) continue;
    if (settings.loop == ContactLoop::relinearise && found.empty()) return true;
    if (!found.empty()) {
      failure = fmt::format("bodies '{}' and '{}' still collide after {} rounds",
                            system.name(found.front().body[0]), system.name(found.front().body[1]), limit);
    }
    return false;
  }
}

/// Takes over `next`, whose contacts are `solved` with `impulses`.
void ImplicitStepper::Impl::accept(double dt) {
  std::swap(state, next);
  report.contacts = static_cast<int>(solved.size());
  if (solved.empty()) {
    warm.clear();
  } else {
    warm.store(solved, problem, impulses);
  }
  warm_dt = dt;
  double smallest = std::numeric_limits<double>::infinity();
  for (const SurfaceContact& contact : solved) {
    const auto geometry = tentative_geometry(contact);
    if (!geometry || slid_off(contact.key.kind, geometry->weight)) continue;
    smallest = std::min(smallest, geometry->gap);
    const LoopContact* c = known(contact.key);
    const Vector3& first = c ? c->first_normal : contact.normal;
    report.largest_turn = std::max(report.largest_turn, angle_between(first, geometry->normal));
  }
  report.smallest_gap = std::isfinite(smallest) ? smallest : 0.0;
  report.penetration = std::max(0.0, -report.smallest_gap);
}

/// The motion of the last attempt, shortened until nothing crosses any more.
void ImplicitStepper::Impl::hold(double dt) {
  report.unresolved = true;
  if (!all_finite(numbers(velocity))) velocity.assign(velocity.size(), Vector3::Zero());
  const std::vector<Vector3> full = velocity;
  double share = 1.0;
  for (int tries = 0; tries <= kHoldAttempts; ++tries) {
    for (std::size_t b = 0; b < full.size(); ++b) velocity[b] = share * full[b];
    find_crossings(dt);
    if (found.empty()) {
      solved.clear();
      accept(dt);
      return;
    }
    double first = 1.0;
    for (const SurfaceContact& contact : found) first = std::min(first, contact.impact_time);
    share = tries + 1 == kHoldAttempts ? 0.0 : share * kHoldShare * first;
  }
  throw std::runtime_error(
      fmt::format("step {}: bodies '{}' and '{}' collide even when everything that is free stands still; a "
                  "scripted motion leaves no room between them",
                  steps + 1, system.name(found.front().body[0]), system.name(found.front().body[1])));
}

void ImplicitStepper::Impl::finish_report() {
  report.elastic_energy = system.forces(*arena, state, force);
  report.kinetic_energy = system.kinetic_energy(state);
  report.potential_energy = system.potential_energy(state, settings.gravity);
  report.volume_ratio = system.smallest_volume_ratio(state);
  if (!std::isfinite(report.kinetic_energy + report.elastic_energy + report.potential_energy)) {
    throw std::runtime_error(fmt::format(
        "step {}: the motion is not finite any more; lower time.step_s (now {} s)", steps + 1, settings.dt));
  }
}

// --- one linearised solve ------------------------------------------------------------------------------

/// A, b at the present state, v* = A⁻¹ b, and the candidates of all motions up to three times as far.
bool ImplicitStepper::Impl::free_motion(double dt) {
  const Stopwatch free;
  matrix_is_current = false;
  system.implicit_system(*arena, state, dt, settings.gravity, linear);
  cg.prepare(*arena, linear.A);
  free_velocity = state.velocity;
  const CgReport outcome = cg.solve(*arena, {linear.b.data(), static_cast<std::size_t>(linear.b.size())},
                                    numbers(free_velocity), settings.free_tolerance, kLinearIterations);
  response.assign(response.size(), Vector3::Zero());
  velocity = free_velocity;
  report.free_seconds += free.seconds();
  const bool good = outcome.converged && all_finite(numbers(free_velocity));
  if (!good) {
    failure = fmt::format("the linear solve of the free motion ended with residual {:.2e} (asked: {:.0e})",
                          outcome.residual, settings.free_tolerance);
    if (!all_finite(numbers(free_velocity))) free_velocity.assign(free_velocity.size(), Vector3::Zero());
    velocity = free_velocity;
  }
  const Stopwatch detection;
  next = state;
  system.advance(next, free_velocity, dt);
  system.surface_positions(*arena, state, x0);
  system.surface_positions(*arena, next, x1);
  arena->for_chunks(x0.size(), kNodeGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) surface_velocity[i] = (x1[i] - x0[i]) / dt;
  });
  finder.update_candidates(*arena, x0, surface_velocity, dt);
  report.detection_seconds += detection.seconds();
  return good;
}

void ImplicitStepper::Impl::find_start_contacts(double dt) {
  const Stopwatch detection;
  finder.proximity(*arena, x0, found);
  contacts.clear();
  for (const SurfaceContact& contact : found) {
    if (is_movable(system, state, contact) && cones.contain(contact, x0))
      contacts.push_back(loop_contact(contact, dt));
  }
  sort_contacts();
  give_warm_impulses(dt);
  report.detection_seconds += detection.seconds();
}

/// r of the present contacts, and `velocity` = v* + A⁻¹ H r.
bool ImplicitStepper::Impl::respond(double dt) {
  solved.clear();
  for (const LoopContact& c : contacts) solved.push_back(c.contact);
  report.contacts = static_cast<int>(solved.size());
  if (contacts.empty()) {
    velocity = free_velocity;
    return true;
  }
  assemble(dt);
  const bool solvable = solve();
  return apply_impulses() && solvable;  // a failed answer is applied too: `hold` starts from it
}

/// M and f of the problem from A and b, or from the masses and M v*.
void ImplicitStepper::Impl::assemble_matrix() {
  problem.f.resize(3 * static_cast<Index>(touched.block.size()));
  if (settings.response == ContactResponse::global) {
    restrict_matrix(*arena, linear.A, touched, problem.M);
    for (std::size_t i = 0; i < touched.block.size(); ++i)
      problem.f.segment<3>(3 * static_cast<Index>(i)) = linear.b.segment<3>(3 * touched.block[i]);
    return;
  }
  mass.resize(at(system.blocks()));
  system.mass_blocks(state, mass);
  restrict_blocks(mass, touched, problem.M);
  for (std::size_t i = 0; i < touched.block.size(); ++i) {
    const auto block = at(touched.block[i]);
    problem.f.segment<3>(3 * static_cast<Index>(i)) = mass[block] * free_velocity[block];
  }
}

void ImplicitStepper::Impl::assemble(double dt) {
  const Stopwatch assembly;
  TouchedBlocks now = settings.response == ContactResponse::global
                          ? touched_bodies(system, solved, settings.all_bodies)
                          : touched_nodes(system, state, solved);
  if (!matrix_is_current || now.block != touched.block) {
    touched = std::move(now);
    assemble_matrix();
    matrix_is_current = true;
  }
  tangents.clear();
  for (const SurfaceContact& contact : solved) {
    Vector3 sliding = Vector3::Zero();
    if (settings.tangents == TangentFrame::aligned)
      sliding = relative_velocity(system, state, dt, contact, free_velocity);
    tangents.push_back(contact_tangent(settings.tangents, contact, sliding, warm));
  }
  contact_rows(system, state, dt, solved, tangents, touched, problem);
  const auto m = static_cast<Index>(solved.size());
  problem.kind = ProblemKind::implicit_step;
  problem.dt = dt;
  problem.time = state.time;
  problem.mu = Vector::Constant(m, settings.friction);
  problem.warm_start.resize(3 * m);
  for (Index k = 0; k < m; ++k) {
    const LoopContact& c = contacts[at(k)];
    double before = 0.0;
    if (settings.restitution > 0.0)
      before = c.contact.normal.dot(relative_velocity(system, state, dt, c.contact, state.velocity));
    problem.w[3 * k] += implicit_offset(settings, c.contact.gap, c.target, before, dt);
    for (Index d = 0; d < 3; ++d)
      problem.warm_start[3 * k + d] = problem.frame.block<1, 3>(k, 3 * d).dot(c.impulse.transpose());
  }
  report.assembly_seconds += assembly.seconds();
}

bool ImplicitStepper::Impl::solve() {
  const Stopwatch solving;
  impulses.assign(problem.warm_start.data(), problem.warm_start.data() + problem.warm_start.size());
  solver->prepare(problem);
  SolveReport outcome = solver->solve(impulses, settings.stop, nullptr);
  if (outcome.status == SolveStatus::unsupported)
    throw_usage("step {}: solver '{}' cannot take the problem: {}", steps + 1, solver->name(),
                outcome.message);
  const auto failed = [&] {
    return !all_finite(impulses) || (outcome.status != SolveStatus::converged &&
                                     !(outcome.own_residual <= settings.accepted_residual));
  };
  report.iterations += outcome.iterations;
  if (failed() && !problem.warm_start.isZero(0.0)) {
    std::fill(impulses.begin(), impulses.end(), 0.0);
    outcome = solver->solve(impulses, settings.stop, nullptr);
    report.iterations += outcome.iterations;
    report.restarted = true;
  }
  const bool good = !failed();
  if (good) {
    report.residual = std::max(report.residual, outcome.own_residual);
  } else {
    failure = fmt::format("solver '{}' ends as {} with residual {:.2e} on {} contacts (accepted: {:.0e})",
                          solver->name(), enum_name(outcome.status), outcome.own_residual, solved.size(),
                          settings.accepted_residual);
  }
  report.solve_seconds += solving.seconds();
  ++report.solves;
  const Stopwatch watching;
  if (*sink) (*sink)({problem, impulses, solved, report.solves, substep, good});
  sink_seconds += watching.seconds();
  return good;
}

/// A dv = load, or M dv = load on the touched blocks.
CgReport ImplicitStepper::Impl::response_to_load() {
  if (settings.response == ContactResponse::global) {
    return cg.solve(*arena, numbers(std::as_const(load)), numbers(response), settings.free_tolerance,
                    kLinearIterations);
  }
  response.assign(response.size(), Vector3::Zero());
  for (const Index block : touched.block) response[at(block)] = mass[at(block)].ldlt().solve(load[at(block)]);
  return {.iterations = 0, .residual = 0.0, .converged = true};
}

/// v = v* + dv,  A dv = H r.
bool ImplicitStepper::Impl::apply_impulses() {
  const Stopwatch free;
  if (!all_finite(impulses)) {
    velocity = free_velocity;
    return false;
  }
  const Vector pushed =
      problem.H * Eigen::Map<const Vector>(impulses.data(), static_cast<Index>(impulses.size()));
  load.assign(load.size(), Vector3::Zero());
  for (std::size_t i = 0; i < touched.block.size(); ++i)
    load[at(touched.block[i])] = pushed.segment<3>(3 * static_cast<Index>(i));
  const CgReport outcome = response_to_load();
  arena->for_chunks(velocity.size(), kNodeGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t b = begin; b < end; ++b) velocity[b] = free_velocity[b] + response[b];
  });
  for (LoopContact& c : contacts) {
    const auto k = static_cast<Index>(&c - contacts.data());
    c.impulse.setZero();
    for (Index d = 0; d < 3; ++d)
      c.impulse += impulses[at(3 * k + d)] * problem.frame.block<1, 3>(k, 3 * d).transpose();
  }
  report.free_seconds += free.seconds();
  if (outcome.converged && all_finite(numbers(velocity))) return true;
  failure = fmt::format("the linear solve of the contact response ended with residual {:.2e} (asked: {:.0e})",
                        outcome.residual, settings.free_tolerance);
  response.assign(response.size(), Vector3::Zero());
  return false;
}

// --- crossings and the two loops -----------------------------------------------------------------------

/// Surfaces that touch at the start of the step and part within it do not cross.
bool ImplicitStepper::Impl::separates(const SurfaceContact& contact) const {
  if (contact.impact_time > kAtStart) return false;
  SurfaceContact later = contact;
  update_gap(later, x1);
  return later.gap > contact.gap;
}

/// `next` := the state after dt with `velocity`; `found` := what crosses on the way there, known pairs too.
void ImplicitStepper::Impl::find_crossings(double dt) {
  const Stopwatch detection;
  next = state;
  system.advance(next, velocity, dt);
  system.surface_positions(*arena, next, x1);
  finder.crossings(*arena, x0, x1, {}, found);
  std::erase_if(found, [&](const SurfaceContact& contact) {
    return !is_movable(system, state, contact) || separates(contact);
  });
  clamp_normals();
  report.detection_seconds += detection.seconds();
}

/// Normals of edge–edge impacts that lean over a face become those of the face, unless the pair would then
/// not approach.
void ImplicitStepper::Impl::clamp_normals() {
  for (SurfaceContact& contact : found) {
    SurfaceContact clamped = contact;
    clamped.normal = cones.clamped_normal(contact, x0, x1);
    if (clamped.normal == contact.normal) continue;
    update_gap(clamped, x0);
    clamped.position = contact.position;
    if (clamped.gap > 0.0) contact = clamped;
  }
}

LoopContact ImplicitStepper::Impl::loop_contact(const SurfaceContact& contact, double dt) const {
  const double target = std::min(safety_distance(), contact.gap + recovery_speed(dt) * dt);
  return {contact, target, Vector3::Zero(), contact.normal};
}

void ImplicitStepper::Impl::sort_contacts() {
  std::sort(contacts.begin(), contacts.end(),
            [](const LoopContact& a, const LoopContact& b) { return a.contact.key < b.contact.key; });
}

LoopContact* ImplicitStepper::Impl::known(const PairKey& key) {
  const auto place =
      std::lower_bound(contacts.begin(), contacts.end(), key,
                       [](const LoopContact& c, const PairKey& k) { return c.contact.key < k; });
  return place != contacts.end() && place->contact.key == key ? &*place : nullptr;
}

void ImplicitStepper::Impl::give_warm_impulses(double dt) {
  if (warm.entries().empty()) return;
  solved.clear();
  for (const LoopContact& c : contacts) solved.push_back(c.contact);
  std::vector<Vector3> start(solved.size());
  warm.impulses(solved, start);
  for (std::size_t k = 0; k < contacts.size(); ++k) contacts[k].impulse = dt / warm_dt * start[k];
}

/// Adds what crosses; returns whether there was anything.
bool ImplicitStepper::Impl::refine(double dt) {
  std::vector<LoopContact> added;
  for (const SurfaceContact& contact : found) {
    LoopContact fresh = loop_contact(contact, dt);
    if (LoopContact* c = known(contact.key)) {
      fresh.impulse = c->impulse;
      fresh.first_normal = c->first_normal;
      *c = fresh;
    } else {
      if (warm.knows(contact.key)) fresh.impulse = dt / warm_dt * warm.find(contact)->impulse;
      added.push_back(fresh);
    }
  }
  contacts.insert(contacts.end(), added.begin(), added.end());
  sort_contacts();
  return !found.empty();
}

/// The contact's geometry at the tentative positions; nothing for edges that do not touch in this way there:
/// such contacts stay as they are.
std::optional<PairGeometry> ImplicitStepper::Impl::tentative_geometry(const SurfaceContact& contact) const {
  auto geometry = pair_geometry(contact, x1);
  if (geometry && !cones.contain(contact, geometry->normal, x1)) return {};
  return geometry;
}

/// Whether the contact's linearisation misses what the tentative positions ask for.
bool ImplicitStepper::Impl::needs_update(const LoopContact& c,
                                         const std::optional<PairGeometry>& geometry) const {
  const bool active = c.contact.normal.dot(c.impulse) > 0.0;
  if (!geometry) return false;
  if (slid_off(c.contact.key.kind, geometry->weight)) return active;
  if (active && angle_between(c.contact.normal, geometry->normal) > settings.largest_turn) return true;
  if (settings.level == ConstraintLevel::velocity) return false;
  if (geometry->gap < c.target - gap_tolerance()) return true;
  if (!active) return false;
  SurfaceContact predicted = c.contact;
  update_gap(predicted, x1);
  return std::abs(geometry->gap - predicted.gap) > gap_tolerance();
}

/// The contact's impulse goes to the face that its vertex slid to, which joins `kept` if it is not there.
void ImplicitStepper::Impl::hand_over(const LoopContact& from, std::vector<LoopContact>& kept) const {
  if (from.contact.key.kind != PairKind::vertex_face) return;
  const auto neighbour = neighbours.find(from.contact, x0, x1);
  if (!neighbour) return;
  for (LoopContact& c : kept) {
    if (c.contact.key != neighbour->key) continue;
    c.impulse += from.impulse;
    return;
  }
  kept.push_back({*neighbour, from.target, from.impulse, neighbour->normal});
}

/// Linearises everything at the tentative positions unless the last solve fits them; returns whether it did.
bool ImplicitStepper::Impl::relinearise_all(double dt) {
  const Stopwatch detection;
  std::vector<std::optional<PairGeometry>> geometry;
  bool changed = !found.empty();
  for (const LoopContact& c : contacts) {
    geometry.push_back(tentative_geometry(c.contact));
    changed = changed || needs_update(c, geometry.back());
  }
  if (changed) {
    std::vector<LoopContact> kept, gone;
    for (std::size_t k = 0; k < contacts.size(); ++k) {
      LoopContact& c = contacts[k];
      if (geometry[k] && slid_off(c.contact.key.kind, geometry[k]->weight)) {
        gone.push_back(c);
        continue;
      }
      if (geometry[k]) relinearise(c.contact, *geometry[k], settings.largest_turn, x0, x1);
      kept.push_back(c);
    }
    for (const LoopContact& c : gone) {
      if (c.contact.normal.dot(c.impulse) > 0.0) hand_over(c, kept);
    }
    contacts = std::move(kept);
    sort_contacts();
    std::vector<LoopContact> added;
    for (const SurfaceContact& contact : found) {
      if (!known(contact.key)) added.push_back(loop_contact(contact, dt));
    }
    contacts.insert(contacts.end(), added.begin(), added.end());
    sort_contacts();
  }
  report.detection_seconds += detection.seconds();
  return changed;
}

// --- the stepper ---------------------------------------------------------------------------------------

ImplicitStepper::ImplicitStepper(BodySystem& system, ContactFinder finder, std::unique_ptr<Solver> solver,
                                 const ImplicitSettings& settings)
    : impl_(std::make_unique<Impl>(system, std::move(finder), std::move(solver), settings)) {}
ImplicitStepper::~ImplicitStepper() = default;

StepReport ImplicitStepper::advance(TaskArena& arena, const SolveSink& sink) {
  return impl_->step(arena, sink);
}
const SystemState& ImplicitStepper::state() const { return impl_->state; }
long long ImplicitStepper::steps_taken() const { return impl_->steps; }

std::string ImplicitStepper::checkpoint() const {
  CheckpointWriter writer(kKind, system_digest(impl_->system));
  writer.integer(impl_->steps);
  write_state(writer, impl_->state);
  writer.real(impl_->warm_dt);
  write_warm_start(writer, impl_->warm);
  return writer.finish();
}

void ImplicitStepper::restore(std::string_view bytes) {
  CheckpointReader reader(bytes, kKind, system_digest(impl_->system));
  const long long steps = reader.integer();
  SystemState state = read_state(reader, impl_->system);
  const double warm_dt = reader.real();
  WarmStart warm = read_warm_start(reader, impl_->system);
  reader.finish();
  impl_->steps = steps;
  impl_->state = std::move(state);
  impl_->warm_dt = warm_dt;
  impl_->warm = std::move(warm);
}

}  // namespace signorini
