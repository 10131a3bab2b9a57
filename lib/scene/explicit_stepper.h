#pragma once

#include <memory>

#include "collision/contact_detection.h"
#include "scene/contact_rows.h"
#include "scene/stepper.h"

/// Explicit symplectic Euler with contact impulses (Lazarevych 2010, section 2, with the position update made
/// explicit):
///
///     u_free = u⁻ + dt (M⁻¹ f_elastic(x) + g − α u⁻),   u⁺ = u_free + M⁻¹ H r,   x⁺ = x + dt u⁺
///
/// r solves the contact problem of the step over the blocks that contacts act on (eq. 8; exact because M is
/// block diagonal):
///
///     M v = H r + f,   f = M u_free,   u = Hᵀ v + w
///
/// Row d ∈ {n, t1, t2} of a contact is [d, −a d, −b d, −c d] over (point, triangle corners) with the
/// barycentric weights a, b, c: unit normals instead of the paper's area-weighted ones, and one sign for
/// normal and tangential rows. The tangents are body-fixed: t1 along the triangle's first edge, t2 = n × t1.
///
/// Contacts are those of the point–triangle detector and, with `DetectionSettings::edges`, of pairs of edges
/// (collision/edge_contacts.h; not in the paper): a body does not meet itself, and surfaces are touched from
/// their outer side only (solids, rigid bodies, obstacles; not cloth). Stable for
/// dt ≤ BodySystem::largest_stable_step().
namespace signorini {

struct ContactLawSettings {
  double friction = 0.4;        ///< μ ≥ 0
  double restitution = 0.0;     ///< κ in [0, 1], Newton's rule
  double rest_speed = 4e-3;     ///< v_rest: slower impacts do not rebound; m/s
  double recovery = 0.2;        ///< share of a penetration that one step may push out, in [0, 1]
  double recovery_speed = 0.1;  ///< bound of the speed of pushing out, m/s
  double safety = 0.0;          ///< s: gap that points keep from triangles, m

  /// Gap that a pair keeps, m. Two edges keep s/2: where two surfaces lie flat on each other, points hold them
  /// apart and edges only where they stick out. With s for both, the edges of such a patch repeat what the points
  /// say, and no solver converges fast.
  double kept(PairKind kind) const { return kind == PairKind::edge_edge ? 0.5 * safety : safety; }
};

/// Offset w_N of u_N = J_n v + w_N ≥ 0 in m/s, J_n the normal row:
///
///     impact        κ min(0, J_n u⁻)           if J_n u⁻ < −v_rest, κ > 0 and the gap closes within the step
///     open          gap / dt                   gap ≥ 0: the pair may close the gap, and no more
///     penetrating   max(recovery · gap / dt, −recovery_speed)
///
/// `gap` is measured from the distance that the pair keeps (ContactLawSettings::kept). Zero is the paper's
/// contact of surfaces that touch; with a distance the errors of the linearised gaps, of second order in dt, do
/// not let surfaces pass through each other.
///
/// The paper writes the first line for every contact. Its velocity-level condition with κ = 0 stops a point
/// at the distance at which it was detected and lets discretisation errors of the gap drift; the other two
/// lines are the position-level offsets of Otaduy et al. 2009 (section 3.2) with a bounded recovery instead.
/// The gap term never adds energy: it only brakes. At rest (gap = 0) all three agree.
double normal_offset(const ContactLawSettings& law, double gap, double speed_before, double speed_free,
                     double dt);

struct ExplicitSettings {
  double dt = 2e-4;                  ///< s
  Vector3 gravity{0.0, 0.0, -9.81};  ///< m/s²
  ContactLawSettings law;
  StopRule stop{.residual = 1e-8};  ///< of the driving solver
  double accepted_residual = 1e-4;  ///< a solve that ends above this, also after a cold restart, ends the run
};

class ExplicitStepper final : public Stepper {
 public:
  /// `system` must outlive the stepper and be finished.
  ExplicitStepper(BodySystem& system, const DetectionSettings& detection, std::unique_ptr<Solver> solver,
                  const ExplicitSettings& settings);
  ~ExplicitStepper() override;

  /// `deepest_point` of the report is that of all points at the end of the step, separating ones too.
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
