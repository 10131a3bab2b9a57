#include "scene/implicit_stepper.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "base/median.h"
#include "scene/checkpoint.h"
#include "scene/contact_loops.h"
#include "scene/linearised_solve.h"
#include "scene/momentum_balance.h"
#include "scene/step_surfaces.h"

namespace signorini {

namespace {

constexpr std::string_view kKind = "implicit";
/// `hold`: how often the motion is shortened before everything stands still.
constexpr int kHoldAttempts = 20;
constexpr double kHoldShare = 0.9;

bool is_finite(const Vector3& v) { return v.allFinite(); }

}  // namespace

struct ImplicitStepper::Impl {
  BodySystem& system;
  const ImplicitSettings settings;  // resolved
  const FaceNeighbours neighbours;
  StepSurfaces surfaces;
  LinearisedSolve solves;
  LoopContacts contacts;  // of the next solve
  const MomentumBalance momentum;

  CarriedState carried;

  // --- of the step being taken ---
  TaskArena* arena = nullptr;
  SolveSink sink;
  StepReport report;
  int substeps = 0;
  std::string failure;
  std::vector<Vector3> force;
  std::vector<double> pressed_gaps;

  Impl(BodySystem& bodies, ContactFinder finder, std::unique_ptr<Solver> driver,
       const ImplicitSettings& chosen)
      : system(bodies),
        settings(resolved(chosen, finder.settings().tolerance)),
        neighbours(bodies.surface()),
        surfaces(bodies, std::move(finder)),
        solves(bodies, settings, std::move(driver)),
        momentum(bodies) {
    carried.state = bodies.start();
    force.resize(bodies.blocks());
  }

  StepReport step(TaskArena& with, const SolveSink& to);
  void take(double dt, int halvings);
  bool attempt(SubStep& sub);
  bool end_velocity(SubStep& sub);
  bool next_contacts(SubStep& sub);
  void accept(SubStep& sub);
  void hold(SubStep& sub);
  void finish_report();
};

StepReport ImplicitStepper::Impl::step(TaskArena& with, const SolveSink& to) {
  const Stopwatch whole;
  double sink_seconds = 0.0;  // the sink's own time is no part of the step
  arena = &with;
  sink = [&](const SolveEvent& event) {
    const Stopwatch watching;
    if (to) to(event);
    sink_seconds += watching.seconds();
  };
  report = {};
  substeps = 0;
  solves.use_arena(arena);
  CarriedState before = carried;
  try {
    take(settings.dt, 0);
    finish_report();
  } catch (...) {
    // A step that cannot be done leaves everything as it was.
    carried = std::move(before);
    solves.use_arena(nullptr);
    throw;
  }
  solves.use_arena(nullptr);
  ++carried.steps;
  report.other_seconds = whole.seconds() - report.detection_seconds - report.assembly_seconds -
                         report.free_seconds - report.solve_seconds - sink_seconds;
  return report;
}

void ImplicitStepper::Impl::take(double dt, int halvings) {
  report.halvings = std::max(report.halvings, halvings);
  SubStep sub{.arena = *arena,
              .state = carried.state,
              .warm = carried.warm,
              .warm_dt = carried.warm_dt,
              .dt = dt,
              .step = carried.steps + 1,
              .number = halvings == 0 ? 0 : ++substeps,
              .sink = sink,
              .report = report,
              .failure = failure};
  if (attempt(sub)) {
    const double error = momentum.error(carried.state.velocity, solves.velocity(), solves.load(), dt,
                                        settings.gravity, MomentumBalance::Damping::by_end);
    report.momentum_error = std::isnan(error) ? error : std::max(report.momentum_error, error);
    accept(sub);
  } else if (halvings < settings.halvings) {
    take(0.5 * dt, halvings + 1);
    take(0.5 * dt, halvings + 1);
  } else if (settings.unresolved == Unresolved::hold) {
    hold(sub);
  } else {
    throw std::runtime_error(fmt::format(
        "step {}: {} after {} halvings (sub-step {:.3g} s); lower time.step_s, or let contact.unresolved = "
        "\"hold\" stop the motion there",
        sub.step, failure, halvings, dt));
  }
}

bool ImplicitStepper::Impl::attempt(SubStep& sub) {
  const bool moves = solves.free_motion(sub);
  surfaces.begin(sub, solves.velocity());  // `hold` needs candidates in any case
  if (!moves) return false;
  surfaces.find_touching(sub);
  start_contacts(sub, settings, surfaces, contacts);
  if (settings.start == ContactStart::free) {
    surfaces.find_crossings(sub, solves.velocity());
    add_free_crossings(sub, settings, surfaces, contacts);
  }
  for (int round = 1;; ++round) {
    ++report.detection_rounds;
    if (!solves.respond(sub, contacts)) return false;
    surfaces.find_crossings(sub, solves.velocity());
    if (!next_contacts(sub)) return end_velocity(sub);
    if (round < settings.rounds) continue;
    const auto& crossing = surfaces.found();
    if (settings.loop == ContactLoop::relinearise && crossing.empty()) return end_velocity(sub);
    if (!crossing.empty()) {
      failure = fmt::format("bodies '{}' and '{}' still collide after {} rounds",
                            system.name(crossing.front().body[0]), system.name(crossing.front().body[1]),
                            settings.rounds);
    }
    return false;
  }
}

/// The tentative positions stay; the velocity becomes the one without the push of recovery.
bool ImplicitStepper::Impl::end_velocity(SubStep& sub) {
  if (!solves.leave_push(sub)) return false;
  system.set_velocity(surfaces.next(), solves.velocity(), sub.dt);
  return true;
}

/// Whether the tentative positions ask for another solve; `contacts` are then those of it.
bool ImplicitStepper::Impl::next_contacts(SubStep& sub) {
  const Stopwatch detection;
  const bool changed = settings.loop == ContactLoop::refine
                           ? refine(sub, settings, surfaces, contacts)
                           : relinearise_all(sub, settings, surfaces, neighbours, contacts);
  report.detection_seconds += detection.seconds();
  return changed;
}

/// Takes over the tentative state and the contacts that led to it.
void ImplicitStepper::Impl::accept(SubStep& sub) {
  std::swap(carried.state, surfaces.next());
  const auto solved = solves.contacts();
  report.contacts = static_cast<int>(solved.size());
  report.pressed = solved.empty() ? 0 : pressed_contacts(solves.impulses());
  if (solved.empty()) {
    carried.warm.clear();
  } else {
    carried.warm.store(solved, solves.problem(), solves.impulses(), solves.ends());
  }
  carried.warm_dt = sub.dt;
  report.smallest_gap = std::numeric_limits<double>::quiet_NaN();
  pressed_gaps.clear();
  for (std::size_t k = 0; k < solved.size(); ++k) {
    const SurfaceContact& contact = solved[k];
    const auto geometry = surfaces.tentative_geometry(contact);
    if (!geometry || slid_off(contact.key.kind, geometry->weight)) continue;
    const double gap = gap_at_end(contact.normal, *geometry);
    report.smallest_gap = std::fmin(report.smallest_gap, gap);  // the number, beside a NaN
    if (solves.impulses()[3 * k] > 0.0) pressed_gaps.push_back(gap);
    const LoopContact* c = contacts.find(contact.key);
    const Vector3& first = c ? c->first_normal : contact.normal;
    report.largest_turn = std::max(report.largest_turn, angle_between(first, geometry->normal));
  }
  report.deepest_point = std::fmax(0.0, -report.smallest_gap);
  report.pressed_gap = median_of(pressed_gaps);
}

/// The motion of the last attempt, shortened until nothing crosses any more.
void ImplicitStepper::Impl::hold(SubStep& sub) {
  report.unresolved = true;
  report.momentum_error = std::numeric_limits<double>::quiet_NaN();
  std::vector<Vector3> full(solves.velocity().begin(), solves.velocity().end());
  if (!std::all_of(full.begin(), full.end(), is_finite)) full.assign(full.size(), Vector3::Zero());
  std::vector<Vector3> shortened(full.size());
  double share = 1.0;
  for (int tries = 0; tries <= kHoldAttempts; ++tries) {
    for (std::size_t b = 0; b < full.size(); ++b) shortened[b] = share * full[b];
    surfaces.find_crossings(sub, shortened);
    if (surfaces.found().empty()) {
      solves.drop_contacts();
      accept(sub);
      return;
    }
    double first = 1.0;
    for (const SurfaceContact& contact : surfaces.found()) first = std::min(first, contact.impact_time);
    share = tries + 1 == kHoldAttempts ? 0.0 : share * kHoldShare * first;
  }
  const SurfaceContact& crossing = surfaces.found().front();
  throw std::runtime_error(
      fmt::format("step {}: bodies '{}' and '{}' collide even when everything that is free stands still; a "
                  "scripted motion leaves no room between them",
                  sub.step, system.name(crossing.body[0]), system.name(crossing.body[1])));
}

void ImplicitStepper::Impl::finish_report() {
  const SystemState& state = carried.state;
  report.elastic_energy = system.forces(*arena, state, force);
  report.kinetic_energy = system.kinetic_energy(state);
  report.potential_energy = system.potential_energy(state, settings.gravity);
  report.volume_ratio = system.smallest_volume_ratio(state);
  if (!std::isfinite(report.kinetic_energy + report.elastic_energy + report.potential_energy)) {
    throw std::runtime_error(
        fmt::format("step {}: the motion is not finite any more; lower time.step_s (now {} s)",
                    carried.steps + 1, settings.dt));
  }
}

ImplicitStepper::ImplicitStepper(BodySystem& system, ContactFinder finder, std::unique_ptr<Solver> solver,
                                 const ImplicitSettings& settings)
    : impl_(std::make_unique<Impl>(system, std::move(finder), std::move(solver), settings)) {}
ImplicitStepper::~ImplicitStepper() = default;

StepReport ImplicitStepper::advance(TaskArena& arena, const SolveSink& sink) {
  return impl_->step(arena, sink);
}
const SystemState& ImplicitStepper::state() const { return impl_->carried.state; }
long long ImplicitStepper::steps_taken() const { return impl_->carried.steps; }
void ImplicitStepper::restart_count() { impl_->carried.steps = 0; }
std::string ImplicitStepper::checkpoint() const {
  return write_checkpoint(kKind, impl_->system, impl_->carried);
}
void ImplicitStepper::restore(std::string_view bytes) {
  impl_->carried = read_checkpoint(bytes, kKind, impl_->system);
}

}  // namespace signorini
