#pragma once

#include <limits>
#include <span>

#include "base/parallel.h"
#include "linalg/symmetric_block_matrix.h"
#include "solvers/anticipation/node_coupling.h"
#include "solvers/primal_system.h"

/// The two sweeps of iterative constraint anticipation: over the node blocks of M, and over the contacts with
/// W_D.
///
/// M = D − L − U by node blocks (Otaduy 2009 eq. 9); `lower` and `upper` hold −L and −U, the strict triangles
/// of M without the inside of pairs.
///
/// Both sweeps fall apart exactly. Rows of different mechanical bodies do not touch, so the forward sweep
/// runs body by body; W_D is block diagonal over the mass-point regions (its connected components), so every
/// region solves its own inner problem (docs/theory.md, Regions and islands). With an arena both
/// are tasks; the bits are those of one thread.
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
  /// Regions of W_D, and the contacts of one, ascending.
  Index regions() const { return static_cast<Index>(region_begin_.size()) - 1; }
  /// When the inner iteration of a region ends.
  struct InnerRule {
    double enough = 0.0;   ///< m/s: a sweep that corrects by no more
    int limit = 1;         ///< sweeps at most
    bool changes = false;  ///< or all regions together: where the residuals of a sweep over all contacts, of
                           ///< the normal condition and of friction, differ by at most `share` from the last
    double share = 0.05;
    double closing = std::numeric_limits<double>::infinity();  ///< m/s: … and no contact closes faster than
  };
  /// What the inner iteration of all regions did.
  struct Inner {
    double first = 0.0;  ///< largest correction of the first sweeps, m/s; NaN when r stopped being finite
    int sweeps = 0;      ///< of the region with most
  };
  /// Projected Gauss–Seidel over r with u = W_D r/ω + q, region by region until `rule` ends it; at every
  /// contact N, T1, T2 are repeated. A contact with (W_D)_NN = 0 keeps r = 0.
  Inner local(const PrimalSystem& system, double omega, std::span<const double> q, int repetitions,
              const InnerRule& rule, std::span<double> r, TaskArena* arena = nullptr);

 private:
  /// What a sweep met at its contacts, m/s, each as the sweep came to it.
  struct Seen {
    double correction = 0.0;  ///< largest; NaN when r stopped being finite
    double normal = 0.0;      ///< largest residual of the normal condition
    double tangent = 0.0;     ///< largest residual of friction
    double closing = 0.0;     ///< largest −u_N
  };
  Inner sweep_until_settled(const PrimalSystem& system, double inverse_omega, std::span<const double> q,
                            int repetitions, const InnerRule& rule, std::span<double> r, TaskArena* arena);
  Seen sweep_region(const PrimalSystem& system, double inverse_omega, std::span<const double> q, int repetitions,
                    Index region, std::span<double> r);
  void cut_matrix(const PrimalSystem& system, TaskArena* arena);
  void cut_rows();
  void find_regions(const PrimalSystem& system);

  template <bool with_upper>
  void sweep_nodes(const PrimalSystem& system, std::span<const double> b,
                   std::span<const double> upper_times_dv, std::span<double> dv, std::span<double> y,
                   TaskArena* arena) const;

  bool symmetric_ = false;
  BlockSparseMatrix lower_;
  BlockSparseMatrix upper_;
  std::vector<double> inverse_;  ///< 9 per node block + padding
  bool by_nodes_ = false;        ///< W_D is not formed
  NodeCoupling coupling_;
  std::vector<Matrix3> diagonal_;            ///< B_kk
  std::vector<InverseMass> inverse_mass_;  ///< of B_kk
  std::vector<Index> row_task_;              ///< tasks + 1: node blocks of whole bodies
  std::vector<Index> region_begin_, region_contacts_;
  std::vector<Index> region_task_;  ///< tasks + 1: regions
  std::vector<Inner> outcome_;      ///< one per region
  std::vector<Seen> seen_;          ///< one per region
};

}  // namespace signorini
