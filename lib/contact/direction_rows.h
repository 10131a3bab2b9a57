#pragma once

#include <span>
#include <vector>

#include "linalg/types.h"

/// The contact directions H (n×3m) stored contact by contact: for every dof that contact k touches, its three
/// coefficients (N, T1, T2) beside each other. Products visit contacts in ascending order, so their bits are
/// fixed.
namespace signorini {

struct DirectionRows {
  std::vector<Index> begin;         ///< m + 1 offsets
  std::vector<Index> dof;           ///< ascending within a contact
  std::vector<double> coefficient;  ///< 3 per dof

  Index contacts() const { return static_cast<Index>(begin.size()) - 1; }
};

/// Rows whose three coefficients are all zero are dropped. H may be empty although there are contacts:
/// nothing moves.
DirectionRows make_direction_rows(const SparseColumns& H, Index contacts);

/// b += H r.
void add_impulses(const DirectionRows& H, std::span<const double> r, std::span<double> b);
/// u = Hᵀ v.
void contact_velocities(const DirectionRows& H, std::span<const double> v, std::span<double> u);

}  // namespace signorini
