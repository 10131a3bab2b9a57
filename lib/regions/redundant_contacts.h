#pragma once

#include <vector>

#include "contact/contact_problem.h"

/// Contacts whose normals others have between them. With D the 3×3 node blocks of M's diagonal, h_k the normal column of
/// H of contact k and ⟨a, b⟩ = aᵀ D⁻¹ b, contact k is measured against the contacts S on its mass points by
///
///     cos_k = largest ⟨h_k, s⟩ / (|h_k| |s|)  over the s in the span of S      (0 … 1; 1: redundant)
///
/// Two contacts of an edge and of a vertex in the same place are a pair of that kind, the fourth corner of a box on the
/// floor depends on three others. Hᵀ D⁻¹ H is nearly singular there, and Gauss–Seidel over it slow (docs/theory.md,
/// Inner sweeps and redundant contacts).
namespace signorini {

/// The contacts that are left out, ascending, so that no other has cos_k > `cosine` against those that were taken before
/// it; taken in the order of their gaps (without gaps, and where these are equal, of their numbers). Needs the primal part
/// and three dofs per node; `cosine` in (0, 1).
std::vector<Index> redundant_contacts(const ContactProblem& problem, double cosine);

/// As many contacts as `number`, chosen at random but always the same, ascending.
std::vector<Index> contacts_at_random(const ContactProblem& problem, Index number);

/// The problem without these contacts, of all bodies that the others touch.
ContactProblem without_contacts(const ContactProblem& problem, const std::vector<Index>& left_out);

}  // namespace signorini
