#pragma once

#include <map>
#include <span>
#include <vector>

#include "collision/contact_detection.h"
#include "contact/contact_problem.h"

/// From detected pairs to the contact problem of one explicit step (Lazarevych 2010, eqs. 5, 8–12).
///
/// With the lumped mass M restricted to the mass points that take part in a contact (eq. 8; exact because M
/// is diagonal):
///
///     M v = H r + f,   f = M u⁻ + dt f_ext = M u_free,   u = Hᵀ v + w,   x⁺ = x + dt v
///
/// Row d ∈ {n, t1, t2} of a contact is [d, −a d, −b d, −c d] over (point, triangle corners) with the
/// barycentric weights a, b, c: unit normals instead of the paper's area-weighted ones, and one sign for
/// normal and tangential rows. The tangents are body-fixed: t1 along the triangle's first edge, t2 = n × t1.
/// Weights that are exactly zero take no part.
namespace signorini {

struct ContactLawSettings {
  double friction = 0.4;        ///< μ ≥ 0
  double restitution = 0.0;     ///< κ in [0, 1], Newton's rule
  double rest_speed = 4e-3;     ///< v_rest: slower impacts do not rebound; m/s
  double recovery = 0.2;        ///< share of a penetration that one step may push out, in [0, 1]
  double recovery_speed = 0.1;  ///< bound of the speed of pushing out, m/s
};

/// Offset w_N of u_N = J_n v + w_N ≥ 0 in m/s, J_n the normal row:
///
///     impact        κ min(0, J_n u⁻)           if J_n u⁻ < −v_rest, κ > 0 and the gap closes within the step
///     open          gap / dt                   gap ≥ 0: the point may close the gap, and no more
///     penetrating   max(recovery · gap / dt, −recovery_speed)
///
/// The paper writes the first line for every contact. Its velocity-level condition with κ = 0 stops a point
/// at the distance at which it was detected and lets discretisation errors of the gap drift; the other two
/// lines are the position-level offsets of Otaduy et al. 2009 (section 3.2) with a bounded recovery instead.
/// The gap term never adds energy: it only brakes. At rest (gap = 0) all three agree.
double normal_offset(const ContactLawSettings& law, double gap, double speed_before, double speed_free,
                     double dt);

/// Impulses of the previous step, carried in world axes so that they survive a turning frame.
class WarmStartCache {
 public:
  /// Stores r (3 per contact, in the frames of `problem`) of the contacts it was solved for.
  void store(std::span<const PointTriangleContact> contacts, const ContactProblem& problem,
             std::span<const double> r);
  /// World impulse of the same pair, else of the same point on the same body (it slid over an edge), else
  /// zero; N·s.
  Vector3 find(const PointTriangleContact& contact) const;

 private:
  struct PointOnBody {
    Index point, body;
    auto operator<=>(const PointOnBody&) const = default;
  };
  std::map<PointTriangleKey, Vector3> by_pair_;
  std::map<PointOnBody, Vector3> by_point_;
};

struct StepContext {
  std::span<const double> mass;            ///< per node, kg
  std::span<const Index> first_node;       ///< bodies + 1
  std::span<const Vector3> velocity;       ///< u⁻, m/s
  std::span<const Vector3> free_velocity;  ///< m/s
  double dt = 0.0;                         ///< s
  double time = 0.0;                       ///< s, start of the step
};

struct AssembledProblem {
  ContactProblem problem;
  std::vector<Index> nodes;  ///< node behind each 3-dof block of the problem, ascending
};

AssembledProblem assemble_contact_problem(std::span<const PointTriangleContact> contacts,
                                          const StepContext& step, const ContactLawSettings& law,
                                          const WarmStartCache& warm_start);

}  // namespace signorini
