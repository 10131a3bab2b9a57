#pragma once

#include <span>
#include <vector>

#include "base/parallel.h"
#include "linalg/block_sparse_matrix.h"
#include "solvers/primal_system.h"

/// The sweep of iterative constraint anticipation over the node blocks of M.
///
/// M = D − L − U by node blocks (Otaduy 2009 eq. 9); `lower` and `upper` hold −L and −U, the strict triangles
/// of M without the inside of pairs. Rows of different mechanical bodies do not touch, so the sweep runs body by
/// body: with an arena these are tasks; the bits are those of one thread.
namespace signorini {

class NodeSweep {
 public:
  /// Keeps the triangles of M where `system` met the same M as at its last `prepare`: call it after each of
  /// them.
  void prepare(const PrimalSystem& system, TaskArena* arena = nullptr);
  /// False when M is D.
  bool coupled() const { return lower_.blocks() > 0; }

  /// dv ← (D + lower)⁻¹ (b − upper_times_dv): one forward block Gauss–Seidel sweep (eq. 12); y = upper · dv
  /// of the new dv. Where M is large and symmetric to rounding (linalg/symmetric_block_matrix.h), upper =
  /// lowerᵀ, and one read of `lower` serves both. y must not overlap `upper_times_dv`.
  void forward(const PrimalSystem& system, std::span<const double> b, std::span<const double> upper_times_dv,
               std::span<double> dv, std::span<double> y, TaskArena* arena = nullptr) const;
  /// y = upper · dv.
  void multiply_upper(std::span<const double> dv, std::span<double> y, TaskArena* arena = nullptr) const;

 private:
  void cut_matrix(const PrimalSystem& system, TaskArena* arena);
  void cut_rows();
  template <bool with_upper>
  void sweep_nodes(const PrimalSystem& system, std::span<const double> b,
                   std::span<const double> upper_times_dv, std::span<double> dv, std::span<double> y,
                   TaskArena* arena) const;

  bool symmetric_ = false;
  BlockSparseMatrix lower_;
  BlockSparseMatrix upper_;
  std::vector<double> inverse_;  ///< 9 per node block + padding
  std::vector<Index> row_task_;  ///< tasks + 1: node blocks of whole bodies
};

}  // namespace signorini
