#pragma once

#include <span>
#include <vector>

#include "contact/contact_problem.h"
#include "contact/friction_law.h"

/// Turns the tangents of every contact by an angle about its normal (Otaduy 2009 section 3.2).
///
///     t1' = cos φ t1 + sin φ t2,   t2' = −sin φ t1 + cos φ t2
///     r' = R r,   u' = R u,   H' = H Rᵀ,   W' = R W Rᵀ
namespace signorini {

/// φ_k = atan2(q_T2, q_T1) so that t1 points along the tangential free velocity; 0 where ‖q_T‖ ≤ 1e-6 +
/// 1e-3‖q_k‖, which is noise (docs/theory.md, C25).
std::vector<double> aligned_angles(const ContactProblem& problem);
/// The same from q (3m, m/s) at hand.
std::vector<double> aligned_angles(std::span<const double> q);

/// φ_k of a law whose tangents are turned (`is_turned`): those of the aligned pyramid, or 45° for each contact.
std::vector<double> turned_angles(const LawSpec& law, std::span<const double> q);

/// A copy of `problem` in the turned tangents (H, w, W, q, frame, warm_start). Velocities, states and bounds
/// of friction (v_minus, start_states, start_bounds) belong to no tangent: they stay.
ContactProblem turn_tangents(const ContactProblem& problem, std::span<const double> angles);

/// r' = R r in place (`sign` = +1) or r = Rᵀ r' (`sign` = −1).
void turn_impulses(std::span<double> r, std::span<const double> angles, int sign);

/// Cosine and sine of φ, for turns that are made often.
struct TangentTurn {
  double cosine = 1.0, sine = 0.0;
};
std::vector<TangentTurn> tangent_turns(std::span<const double> angles);
void turn_impulses(std::span<double> r, std::span<const TangentTurn> turns, int sign);

}  // namespace signorini
