#pragma once

#include <memory>
#include <span>
#include <vector>

#include "scene/implicit_settings.h"
#include "scene/loop_contacts.h"
#include "scene/step_equations.h"
#include "scene/sub_step.h"

namespace signorini {

/// The solves of an implicit (sub-)step: the motion without contact, and the contact problems on top of it.
///
///     A v* = b                                    BodySystem::implicit_system at the start of the sub-step
///     r = solve(M, f, H, w)                       M, f: A, b on the blocks that contacts reach
///     v = v* + A⁻¹ H r
///
/// A and the M of its contact problems share the factors of bodies. M and f of the contact problem belong to
/// the sub-step and to the blocks in it; contacts alone change from one solve of the loop to the next. As long
/// as they do, the solver is told so (Solver::update_contacts).
/// The first solve of a sub-step always prepares anew: what a step does depends on nothing that the solver
/// keeps from the step before.
class LinearisedSolve {
 public:
  /// `system` and `settings` (resolved) must outlive the object.
  LinearisedSolve(BodySystem& system, const ImplicitSettings& settings, std::unique_ptr<Solver> solver);

  /// Threads for the solver; null = none.
  void use_arena(TaskArena* arena) { solver_->use_arena(arena); }
  /// v*, which becomes the velocity. False when it was not found (`failure` says why).
  bool free_motion(SubStep& sub);
  /// Solves for the impulses of `contacts`, leaves them there and in `impulses`, with how they ended, and the
  /// velocity in `velocity`. Every problem goes to the sink. False when the solver or the linear solve after it fails;
  /// the velocity is then what the failed answer gives, or v*.
  bool respond(SubStep& sub, LoopContacts& contacts);
  /// The last solve once more without the push of pairs that are too close, for the velocity at the end of the
  /// sub-step, whose positions have the push; impulses and ends stay those of the last solve. Nothing to do, and true,
  /// where no closed contact pushes by more than a thousandth of dt |g|. The problem does not go to the sink: it is
  /// the last one with other w.
  bool leave_push(SubStep& sub);
  /// For a step that ends with another motion than the one solved for.
  void drop_contacts() { solved_.clear(); }

  std::span<const Vector3> velocity() const { return velocity_; }       ///< per block, m/s
  std::span<const Vector3> load() const { return load_; }               ///< per block: H r of that velocity
  std::span<const SurfaceContact> contacts() const { return solved_; }  ///< of the last solve
  const ContactProblem& problem() const { return problem_; }
  std::span<const double> impulses() const { return impulses_; }
  std::span<const ContactEnd> ends() const { return ends_; }  ///< how the last solve left the contacts

 private:
  void assemble(SubStep& sub, const LoopContacts& contacts);
  void assemble_matrix(SubStep& sub);
  void assemble_contacts(SubStep& sub, const LoopContacts& contacts);
  bool solve(SubStep& sub);
  bool apply_impulses(SubStep& sub);
  void give_impulses(LoopContacts& contacts) const;
  CgReport response_to_load(TaskArena& arena);

  BodySystem& system_;
  const ImplicitSettings& settings_;
  std::unique_ptr<Solver> solver_;

  ImplicitSystem linear_;
  StepEquations equations_;
  const std::shared_ptr<FactorStore> factors_ = std::make_shared<FactorStore>();
  std::vector<Matrix3> mass_;  // for local responses
  std::vector<Vector3> free_velocity_, response_, velocity_, load_;
  TouchedBlocks touched_;
  bool matrix_is_current_ = false;  // M and f are those of this sub-step and of `touched_`
  bool solver_has_matrix_ = false;  // and the solver was prepared with them
  std::vector<SurfaceContact> solved_;
  std::vector<Vector3> tangents_;
  std::vector<double> push_;  // of w_N of each contact, m/s; ≥ 0
  ContactProblem problem_;
  std::vector<double> impulses_;
  std::vector<ContactEnd> ends_;
};

}  // namespace signorini
