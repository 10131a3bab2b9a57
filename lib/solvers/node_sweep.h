#pragma once

#include <span>

#include "solvers/primal_system.h"

/// The two sweeps of iterative constraint anticipation: over the node blocks of M, and over the contacts with
/// B.
///
/// M = D − L − U by node blocks (Otaduy 2009 eq. 9); `lower` and `upper` hold −L and −U, the strict triangles
/// of M without the inside of pairs.
namespace signorini {

class NodeSweep {
 public:
  void prepare(const PrimalSystem& system);
  /// False when M is D.
  bool coupled() const { return lower_.blocks() > 0; }

  /// dv ← (D + lower)⁻¹ (b − upper_times_dv): one forward block Gauss–Seidel sweep (eq. 12).
  void forward(const PrimalSystem& system, std::span<const double> b, std::span<const double> upper_times_dv,
               std::span<double> dv) const;
  /// y = upper · dv.
  void multiply_upper(std::span<const double> dv, std::span<double> y) const;
  /// One projected Gauss–Seidel sweep over r with u = B r/ω + q; at every contact N, T1, T2 are repeated.
  /// Returns the largest correction in m/s; NaN when r stopped being finite. A contact with B_NN = 0 keeps r
  /// = 0.
  double local(const PrimalSystem& system, double omega, std::span<const double> q, int repetitions,
               std::span<double> r) const;

 private:
  BlockSparseMatrix lower_;
  BlockSparseMatrix upper_;
  std::vector<double> inverse_;              ///< 9 per node block + padding
  std::vector<Matrix3> diagonal_;            ///< B_kk
  std::vector<ContactStiffness> stiffness_;  ///< of B_kk
};

}  // namespace signorini
