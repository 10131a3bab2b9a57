#pragma once

#include <span>
#include <vector>

#include "base/parallel.h"
#include "linalg/types.h"

/// The contact directions H (n×3m) stored contact by contact: for every dof that contact k touches, its three
/// coefficients (N, T1, T2) beside each other. Products visit contacts in ascending order, so their bits are
/// fixed.
namespace signorini {

struct DirectionRows {
  std::vector<Index> begin;         ///< m + 1 offsets
  std::vector<Index> dof;           ///< ascending within a contact
  std::vector<double> coefficient;  ///< 3 per dof

  Index contacts() const { return count(begin) - 1; }
  bool operator==(const DirectionRows&) const = default;
};

/// Rows whose three coefficients are all zero are dropped. H may be empty although there are contacts:
/// nothing moves.
DirectionRows make_direction_rows(const SparseColumns& H, Index contacts);
/// Of some contacts, in their order.
DirectionRows make_direction_rows(const SparseColumns& H, std::span<const Index> contacts);

/// b += H r.
void add_impulses(const DirectionRows& H, std::span<const double> r, std::span<double> b);
/// u = Hᵀ v, in parallel over contacts where an arena is given.
void contact_velocities(const DirectionRows& H, std::span<const double> v, std::span<double> u,
                        TaskArena* arena = nullptr);

/// The same coefficients dof by dof, for H r on several threads. A dof's contacts ascend, so the sums have
/// the bits of `add_impulses` on zeros.
struct DirectionColumns {
  std::vector<Index> dof;    ///< the dofs that contacts touch, ascending
  std::vector<Index> begin;  ///< one more than dofs: offsets
  std::vector<Index> contact;
  std::vector<double> coefficient;  ///< 3 per entry
};
DirectionColumns make_direction_columns(const DirectionRows& H, Index dofs);
/// b = H r on the touched dofs; the others are left alone.
void gather_impulses(const DirectionColumns& H, std::span<const double> r, std::span<double> b,
                     TaskArena* arena = nullptr);

}  // namespace signorini
