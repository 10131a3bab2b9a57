#pragma once

#include <memory>

#include "collision/contact_finder.h"
#include "linalg/conjugate_gradient.h"
#include "scene/contact_rows.h"
#include "scene/stepper.h"

/// Backward Euler with one Newton step and implicit contact, in two loops over linearised contact solves.
///
/// `refine` is constraint manifold refinement (Otaduy et al. 2009, section 4, with C23, C24 and C27 of the
/// digest):
///
///     v* = A⁻¹ b;  g = tolerance pairs at q0
///     for it = 1 … 5:  r = solve(A, b, g);  v = v* + A⁻¹ H r;  q = q0 ⊕ dt G v;  new = crossings(q0 → q) \ g
///                      none new: accept;  else g += new with normals at the time of impact
///     otherwise two steps of dt/2, at most twice;  a solve that fails halves as well
///
/// `relinearise` is the loop of Verschoor and Jalba 2019 (sections 3.3, 5.2; C43): when the solver has
/// converged, all candidates are checked with the present velocity, new ones join; every contact's normal is
/// replaced by the one of the tentative positions, turned by at most 15° per round; contacts that slid off
/// their features (weights outside [−0.02, 1.02]) are dropped, and their impulse goes to the contact of the
/// neighbouring face; until nothing crosses, no active contact slid off, and the gaps of the tentative
/// positions are those that the linearisation promised, within `gap_tolerance`. A loop that runs out of
/// rounds ends with its last tentative positions when nothing crosses there, and halves otherwise.
///
/// Every contact keeps a target distance at the end of the step, d0 its gap when it was found and δ the
/// safety distance. δ is less than the distance at which the finder sees pairs: otherwise a pair at
/// rest, at δ up to rounding, would be found in one step and lost in the next, and jump. Offsets w_N in m/s,
/// g0 = n · Σ w x0 with the present linearisation:
///
///     target           min(δ, d0 + v_rec dt)          C24: pairs that start closer than δ part slowly
///     position level   (g0 − target)/dt
///     velocity level   κ min(0, u_N⁻) for impacts faster than v_rest, 0 else (Otaduy's comparison, O13)
///
/// Position level with restitution κ > 0: w_N is the smaller offset of the two for impacts faster than v_rest
/// (T19).
///
/// At the end of every accepted step no surface intersects another: the path q0 → q has no crossing, of known
/// pairs neither (a known pair that crosses is linearised anew at its impact). The exception are pairs
/// without any free block, which move as their scripts say.
///
/// A solve that does not converge, and whose own residual is above `accepted_residual`, is repeated from zero
/// when it was warm-started; then it counts as failed, and the step is halved.
namespace signorini {

enum class ContactLoop { refine, relinearise };
template <>
struct EnumNames<ContactLoop> {
  static constexpr std::array<std::pair<ContactLoop, std::string_view>, 2> value{
      {{ContactLoop::refine, "refine"}, {ContactLoop::relinearise, "relinearise"}}};
};
enum class ConstraintLevel { position, velocity };
template <>
struct EnumNames<ConstraintLevel> {
  static constexpr std::array<std::pair<ConstraintLevel, std::string_view>, 2> value{
      {{ConstraintLevel::position, "position"}, {ConstraintLevel::velocity, "velocity"}}};
};
/// When a step still collides after the last halving: `stop` ends the run with an error; `hold` moves
/// everything only as far as 0.9 of the first impact, marks the step as unresolved and goes on.
enum class Unresolved { stop, hold };
template <>
struct EnumNames<Unresolved> {
  static constexpr std::array<std::pair<Unresolved, std::string_view>, 2> value{
      {{Unresolved::stop, "stop"}, {Unresolved::hold, "hold"}}};
};

/// What contact impulses move: everything, through A⁻¹, or only the nodes they act on, through their masses.
/// The second is what Otaduy et al. compare with (their Fig. 2, O26): cheap, and it stretches what is behind
/// the nodes.
enum class ContactResponse { global, local };
template <>
struct EnumNames<ContactResponse> {
  static constexpr std::array<std::pair<ContactResponse, std::string_view>, 2> value{
      {{ContactResponse::global, "global"}, {ContactResponse::local, "local"}}};
};

struct ImplicitSettings {
  double dt = 1e-3;                  ///< s
  Vector3 gravity{0.0, 0.0, -9.81};  ///< m/s²
  double friction = 0.5;             ///< μ ≥ 0
  double restitution = 0.0;          ///< κ in [0, 1]
  double rest_speed = 0.02;          ///< v_rest, m/s
  double safety_distance = 0.0;      ///< δ, m; 0 = half the finder's tolerance
  double recovery_speed = 0.0;       ///< v_rec, m/s; 0 = 0.1 δ/dt
  TangentFrame tangents = TangentFrame::fixed;
  ContactLoop loop = ContactLoop::refine;
  ConstraintLevel level = ConstraintLevel::position;
  Unresolved unresolved = Unresolved::stop;
  ContactResponse response = ContactResponse::global;
  int rounds = 0;  ///< of the loop per (sub-)step; 0 = 5 for refine (Otaduy), 20 for relinearise
  int halvings = 2;
  double largest_turn = 15.0;       ///< of a normal per round, degrees
  double gap_tolerance = 0.0;       ///< eps2 of `relinearise`: m; 0 = max(1e-6, 1e-6 · dt / 4 ms) (V49)
  StopRule stop{.residual = 1e-7};  ///< of the driving solver
  double accepted_residual = 1e-4;
  double free_tolerance = 1e-10;  ///< relative, of the linear solves
  bool all_bodies = false;        ///< problems hold untouched bodies too

  /// Throws `UsageError` naming the setting.
  void validate() const;
};

/// w_N of a contact: `gap` is g0, `speed_before` is u_N⁻; m/s.
double implicit_offset(const ImplicitSettings& settings, double gap, double target, double speed_before,
                       double dt);

class ImplicitStepper final : public Stepper {
 public:
  /// `system` must outlive the stepper and be finished.
  ImplicitStepper(BodySystem& system, ContactFinder finder, std::unique_ptr<Solver> solver,
                  const ImplicitSettings& settings);
  ~ImplicitStepper() override;

  StepReport advance(TaskArena& arena, const SolveSink& sink) override;
  const SystemState& state() const override;
  long long steps_taken() const override;
  std::string checkpoint() const override;
  void restore(std::string_view bytes) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace signorini
