#pragma once

#include <vector>

#include "contact/contact_problem.h"

/// Contacts that say nearly the same as others. Two contacts on the same mass points whose normals point the same way
/// are two names for one direction of motion: with D the 3×3 node blocks of M's diagonal, h_k the normal column of H
/// of contact k and
///
///     c_kl = h_kᵀ D⁻¹ h_l / √(h_kᵀ D⁻¹ h_k · h_lᵀ D⁻¹ h_l)      (−1 … 1; 0 without a common mass point)
///
/// Gauss–Seidel over Hᵀ D⁻¹ H shrinks the difference of their impulses by c² a sweep when both push
/// (docs/theory.md, Inner sweeps and repeated contacts).
namespace signorini {

/// The contacts that are left out, ascending, until no two others have c_kl > `coupling`: the one with the smaller gap
/// stays (without gaps, or for equal ones, the one with the smaller number). Needs the primal part and three dofs per
/// node; `coupling` in (0, 1).
std::vector<Index> repeated_contacts(const ContactProblem& problem, double coupling);

/// As many contacts as `number`, chosen at random but always the same, ascending.
std::vector<Index> contacts_at_random(const ContactProblem& problem, Index number);

/// The problem without these contacts, of all bodies that the others touch.
ContactProblem without_contacts(const ContactProblem& problem, const std::vector<Index>& left_out);

}  // namespace signorini
