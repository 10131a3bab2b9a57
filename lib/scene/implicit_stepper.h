#pragma once

#include <memory>

#include "collision/contact_finder.h"
#include "scene/implicit_settings.h"
#include "scene/stepper.h"

/// Backward Euler with one Newton step and implicit contact, in two loops over linearised contact solves.
///
/// `refine` is constraint manifold refinement (Otaduy et al. 2009, section 4; corrections C23, C24 and C27 in
/// docs/theory.md):
///
///     v* = A⁻¹ b;  g = tolerance pairs at q0 (start = free: and crossings of q0 ⊕ dt G v*)
///     for it = 1 … 5:  r = solve(A, b, g);  v = v* + A⁻¹ H r;  q = q0 ⊕ dt G v;  new = crossings(q0 → q) \ g
///                      none new: accept;  else g += new with normals at the time of impact
///     otherwise two steps of dt/2, at most twice;  a solve that fails halves as well
///
/// `relinearise` is the loop of Verschoor and Jalba 2019 (sections 3.3, 5.2; correction C43): when the solver
/// has converged, all candidates are checked with the present velocity, new ones join; every contact's normal
/// is replaced by the one of the tentative positions, turned by at most 15° per round; contacts that slid off
/// their features (weights outside [−0.02, 1.02]) are dropped, and their impulse goes to the contact of the
/// neighbouring face; known pairs that cross all the same are linearised at their impact or keep more distance
/// (contact_loops.cpp); until nothing crosses, no active contact slid off, and the gaps of the tentative
/// positions are those that the linearisation promised, within `gap_tolerance`. Out of rounds, it ends with the
/// last tentative positions when nothing crosses there, and halves otherwise.
///
/// Every contact keeps a target distance at the end of the step, d0 its gap when it was found and δ the safety
/// distance, less than the distance at which pairs are found (a pair at rest, at δ, would be lost and found in
/// turn). Offsets w_N in m/s, g0 = n · Σ w x0 with the present linearisation:
///
///     target           min(δ, d0 + v_rec dt)          pairs that start closer than δ part slowly (C24)
///     position level   (g0 − target)/dt
///     velocity level   κ min(0, u_N⁻) for impacts faster than v_rest, 0 else (Otaduy's comparison)
///
/// The push of a pair that starts closer than δ moves positions alone: the velocity at the end of the step is that
/// of one more solve without it, target = min(target, d0), and gains no energy from it.
///
/// Position level with restitution κ > 0: w_N is the smaller offset of the two for impacts faster than
/// v_rest; slower ones do not rebound, because restitution at rest would gain energy.
///
/// At the end of every accepted step no surface intersects another: the path q0 → q has no crossing, of known
/// pairs neither. The exception are pairs without any free block, which move as their scripts say.
///
/// A solve that ends above `accepted_residual` is repeated from zero when it was warm-started; then the step is halved.
///
/// Parts: implicit_settings.h, linearised_solve.h (the solves), step_surfaces.h (what crosses), contact_loops.h
/// (the two loops); the step itself, its halvings and checkpoints are here.
namespace signorini {

class ImplicitStepper final : public Stepper {
 public:
  /// `system` must outlive the stepper and be finished.
  ImplicitStepper(BodySystem& system, ContactFinder finder, std::unique_ptr<Solver> solver,
                  const ImplicitSettings& settings);
  ~ImplicitStepper() override;

  StepReport advance(TaskArena& arena, const SolveSink& sink) override;
  const SystemState& state() const override;
  long long steps_taken() const override;
  void restart_count() override;
  std::string checkpoint() const override;
  void restore(std::string_view bytes) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace signorini
