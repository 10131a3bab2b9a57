#pragma once

#include <optional>
#include <string>

#include "contact/contact_problem.h"

/// Contact problems in the plane (FCLib: spacedim = 2) as problems in space that every solver takes, and back.
///
/// In the plane contact k owns two rows, N and T, and K_μ = { |r_T| ≤ μ r_N }: cone and pyramid are one law. In
/// space it owns N, T1 = T and T2. T2 moves a mass of its own, which nothing else moves and nothing pushes:
///
///     dual:    W_T2T2 = W_TT; the rest of row and column T2 is zero, q_T2 = 0
///     primal:  three more dofs per contact, a mass point m_k I with f = 0 behind the n dofs of the bodies;
///              H_T2 moves its first dof, with coefficient 1; w_T2 = 0
///              m_k = hᵀ M h / (hᵀ h)²,  h = H_T                                                        [kg]
///
/// So u_T2 = W_T2T2 r_T2, and r_T2 = 0 in every solution: a contact that sticks has W_T2T2 r_T2 = 0, one that slides
/// u_T2 = −s r_T2 with s ≥ 0. The other rows are those of the plane to the last bit, hence so are its solutions.
///
/// Rows of zeros would say the same, but they make every W_TT singular, and each exact one-contact solve, Newton
/// matrix and preconditioner, present or future, would need a case for them. By Cauchy–Schwarz 1/m_k ≤ W_TT, hence
/// λ_max of the tangential block is W_TT in both forms: steps, ρ_T and the referee's measure are those of the
/// plane. A contact whose T moves nothing (W_TT = 0, h = 0) has an empty T2 as well. Three dofs per contact leave
/// n mod 3, and with it `node_size`, as it is; none is shared, so regions and islands are those of the plane.
///
/// The pyramid with `frame = rotated` lets |r_T| reach √2 μ r_N, as along its diagonals in space.
namespace signorini {

/// `planar`: M, H, f, w, W, q, warm_start with two rows per contact, v_minus with n; `find_defect_in_plane` finds
/// nothing in it. The other members stay.
ContactProblem to_space(ContactProblem planar);
/// The inverse, to the last bit. What stands in rows T2 and in their dofs is left out.
ContactProblem to_plane(const ContactProblem& problem);

/// 2m → 3m: (N, T) → (N, T, 0), and back without T2.
Vector rows_to_space(const Vector& rows);
Vector rows_to_plane(const Vector& rows);
/// n → n + 3m: zeros behind velocities; empty stays empty.
Vector dofs_to_space(const Vector& v, Index contacts);

/// Of a problem with spacedim = 2 whose sizes are right: the first thing that no problem in the plane has, as one
/// line, or nothing.
std::optional<std::string> find_spatial_part(const ContactProblem& problem);

}  // namespace signorini
