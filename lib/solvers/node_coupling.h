#pragma once

#include <span>
#include <vector>

#include "linalg/connected_components.h"
#include "linalg/types.h"
#include "regions/contact_neighbours.h"
#include "solvers/primal_system.h"

/// Products with W_D = Hᵀ D⁻¹ H (1/kg) one contact at a time without W_D: the velocities that impulses r give
/// to the node blocks, each by itself,
///
///     y = D⁻¹ H r  [m/s],     (W_D r)_k = H_kᵀ y,     and   y += D⁻¹ H_k Δ   where r_k changes by Δ
///
/// A contact costs the node blocks that it touches (up to eight of a cage), not the contacts that share them.
/// It takes the place of W_D where hundreds of contacts act on one node, and W_D would have hundreds of
/// blocks per contact (docs/notes/measurements.md).
namespace signorini {

class NodeCoupling {
 public:
  void prepare(const PrimalSystem& system);
  /// Of the contacts, through shared node blocks and pairs; labels as `connected_components` of W_D gives
  /// them, except that blocks of W_D that cancel to zero join contacts as well.
  const Components& components() const { return components_; }
  /// Contacts that move a node block in common.
  ContactNeighbours neighbours() const;
  /// Node blocks that contact k moves.
  Index size_of(Index k) const { return (begin_[k + 1] - begin_[k]) / 3; }
  /// y = D⁻¹ H r.
  void start(std::span<const double> r);
  /// H_kᵀ y. Contacts of different components may be visited by different threads.
  Vector3 velocity(Index k) const;
  void add(Index k, const Vector3& change);

 private:
  void append(const PrimalSystem& system, Index k, std::span<const Index> partner,
              std::span<const Index> pair);
  void join(const PrimalSystem& system, Index contacts);

  std::vector<Index> begin_, dof_;     ///< m + 1; dofs of the moved node blocks, three by three
  std::vector<double> into_, out_of_;  ///< 3 per dof: the row of H_k; of D⁻¹ H_k
  std::vector<double> y_;              ///< n: m/s; only moved dofs are ever written
  std::vector<Index> moved_;           ///< dofs that some contact moves, ascending
  Components components_;
};

}  // namespace signorini
