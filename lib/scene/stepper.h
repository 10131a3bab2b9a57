#pragma once

#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/parallel.h"
#include "bodies/body_system.h"
#include "collision/surface_contact.h"
#include "contact/contact_problem.h"
#include "solvers/solver.h"

/// What the explicit and the implicit stepper have in common: a system, a state, and one contact problem per
/// linearised solve.
namespace signorini {

/// One linearised solve, as it is handed to the recorder.
struct SolveEvent {
  const ContactProblem& problem;
  std::span<const double> impulses;          ///< 3 per contact, N·s
  std::span<const SurfaceContact> contacts;  ///< in the problem's order
  int solve = 1;                             ///< 1, 2, … within the step, sub-steps included
  int substep = 0;       ///< 0 while the step is whole; 1, 2, … for the sub-steps of a halved one
  bool accepted = true;  ///< false: the solver failed on it, and what it failed on was done again otherwise
};
using SolveSink = std::function<void(const SolveEvent&)>;

struct StepReport {
  int contacts = 0;         ///< of the last solve
  int pressed = 0;          ///< those of them with a normal impulse
  int solves = 0;           ///< linearised contact solves, failed ones included
  int velocity_solves = 0;  ///< besides: those without the push of pairs that are too close
  int iterations = 0;       ///< of the contact solver, all solves
  /// Iterations of constraint manifold refinement, or re-linearisations, of all sub-steps; 0 for explicit
  /// steps.
  int detection_rounds = 0;
  int halvings = 0;         ///< depth: the shortest sub-step was dt / 2^halvings
  bool restarted = false;   ///< a warm-started solve failed and was repeated from zero
  bool unresolved = false;  ///< still colliding after the last halving; see ImplicitSettings::unresolved
  double residual = 0.0;    ///< the driving solver's own, worst of the accepted solves
  /// What `residual` leaves of a relative velocity, m/s: residual times max|q| of its solve, worst of the accepted
  /// solves.
  double velocity_error = 0.0;
  /// At the end of the step, m, ≥ 0. Explicit: of the deepest point below a triangle; implicit: −smallest_gap where
  /// that is negative. Zero is no proof that nothing intersects: crossed edges do not count.
  double deepest_point = 0.0;
  /// Of the contacts at the end of the step, m; NaN without any.
  double smallest_gap = std::numeric_limits<double>::quiet_NaN();
  /// Median gap at the end of the step of the contacts that push, m; NaN without any, and where steps are explicit.
  double pressed_gap = std::numeric_limits<double>::quiet_NaN();
  double largest_turn = 0.0;  ///< of a contact normal within the step, degrees
  double volume_ratio = 1.0;  ///< smallest det F
  /// Change of the mean velocity that no force explains (momentum_balance.h), m/s; NaN where pins or axles
  /// hold bodies, and where the step was held.
  double momentum_error = 0.0;
  double kinetic_energy = 0.0, elastic_energy = 0.0, potential_energy = 0.0;  ///< at the end of the step, J
  double detection_seconds = 0.0, assembly_seconds = 0.0, free_seconds = 0.0, solve_seconds = 0.0,
         other_seconds = 0.0;
};

class Stepper {
 public:
  virtual ~Stepper() = default;
  /// One step of the scene's dt. Throws `std::runtime_error` when it cannot be done: the message names the
  /// step, what failed and what to change.
  virtual StepReport advance(TaskArena& arena, const SolveSink& sink) = 0;
  virtual const SystemState& state() const = 0;
  virtual long long steps_taken() const = 0;
  /// The next step is step 1; nothing else changes.
  virtual void restart_count() = 0;
  /// Everything beside the settings that the next step depends on (state, carried impulses, kept contacts),
  /// as bytes that `restore` on a stepper of the same scene takes back: going on from it gives the same bits
  /// as never having stopped.
  virtual std::string checkpoint() const = 0;
  /// Throws `InputError` for bytes that do not belong to this scene or are damaged.
  virtual void restore(std::string_view bytes) = 0;
};

}  // namespace signorini
