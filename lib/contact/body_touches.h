#pragma once

#include <vector>

#include "contact/column_solves.h"
#include "contact/direction_rows.h"
#include "contact/mass_factor.h"

/// The contact directions H grouped by the mechanical bodies of M (mass_factor.h). W = Hᵀ M⁻¹ H is a sum over
/// bodies,
///
///     W = Σ_b H_bᵀ M_b⁻¹ H_b,
///
/// so contacts i and j have a block in W exactly when they touch a common body.
namespace signorini {

/// The rows of H that one contact owns on one body: entries [begin, end) of the table.
struct BodyTouch {
  Index contact = 0;
  Index begin = 0;
  Index end = 0;
};

struct BodyTouches {
  std::vector<Index> local;           ///< per entry: number of the dof within its body
  std::vector<double> coefficient;    ///< 3 per entry (N, T1, T2)
  std::vector<BodyTouch> touches;     ///< by body; contacts ascend within a body
  std::vector<Index> body_begin;      ///< bodies + 1 offsets into `touches`
  std::vector<Index> contact_begin;   ///< contacts + 1 offsets into `contact_bodies`
  std::vector<Index> contact_bodies;  ///< ascending within a contact
};

BodyTouches make_body_touches(const DirectionRows& H, const MassFactor& mass);

/// X = M_b⁻¹ H_b for `count` touches of a body from number `first`; 3 columns each, rows are the body's dofs.
void solve_touches(const BodyTouches& H, const MassFactor& mass, Index body, Index first, Index count,
                   Matrix& X, ColumnSolves columns = ColumnSolves::together);

/// The stacked diagonal blocks W_kk (3m×3), each positive semidefinite up to rounding, and symmetric to the last bit
/// where all bodies are. Bodies are worked on side by side where an arena is given.
Matrix delassus_diagonal(const BodyTouches& H, const MassFactor& mass, TaskArena* arena = nullptr);

}  // namespace signorini
