#pragma once

#include <cstdint>

#include "contact/contact_problem.h"

/// The local form of a contact problem: bodies eliminated, contacts alone (FCLib: /fclib_local).
///
///     u = W r + q,    W = Hᵀ M⁻¹ H (3m×3m, 1/kg),   q = Hᵀ M⁻¹ f + w (m/s)
///
/// Solutions r and u are those of the given problem. What belongs to bodies goes with M, H, f and w: v_minus, points,
/// weights, node_numbers, body_dofs. What belongs to contacts stays.
namespace signorini {

/// W and q as the solvers assemble them (delassus_operator.h), stored block by block with the zeros of a block; of a
/// problem that has W and q, those. In the plane (planar_problem.h) second tangents keep their diagonal entry alone.
/// Throws `InputError` naming the first dof of a body whose M is not positive definite and which a contact touches.
ContactProblem to_local(ContactProblem problem);

/// 3×3 blocks of W that `to_local` would form, counted without factoring or forming anything: one for every contact and
/// one for every ordered pair of contacts that touch a common body. 0 for a problem that has W.
std::uint64_t blocks_to_form(const ContactProblem& problem);

}  // namespace signorini
