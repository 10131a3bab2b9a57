#pragma once

#include <span>
#include <vector>

#include "base/parallel.h"
#include "solvers/relaxation/sweep_map.h"
#include "solvers/relaxation/sweep_stages.h"

/// Mass splitting (Tonge, Benevolenski and Voroshilov 2012): one iteration updates all contacts side by side.
///
/// A body that n contacts touch is split into n parts of an n-th of its mass and inertia, one for each contact, so that no
/// two contacts have a part in common. In the end its parts have their mean velocity, that of the whole body:
///
///     v = M⁻¹ (f + H r)       u_k = w_k + Σ_s J_ks v_s
///     r_k ← N, then T1 and T2 of contact k as in a sweep of `pgs`, with S_k = Σ_s n_s J_ks P_sk in the place of W_kk
///
///     n_s: contacts on the body of slot s     J [–], P [1/kg]: rows of bodies (relaxation/body_rows.h)
///     r: 3m [N·s]     u, v, w: m/s            S_k: 3×3 [1/kg]
///
/// Where bodies have many dofs, or are not known, W takes their place and S_k = n_k W_kk, n_k being the blocks in row k of W.
///
/// rᵀ W r ≤ Σ_k r_kᵀ S_k r_k for every r: on a body |Σ_k a_k|² ≤ n Σ_k |a_k|², and 2 r_kᵀ W_kl r_l ≤ r_kᵀ W_kk r_k + r_lᵀ W_ll r_l
/// for W that is symmetric. Without friction ½ rᵀWr + qᵀr therefore never becomes larger. With friction nothing is proved;
/// fixed points are the solutions.
namespace signorini {

class SplitSweep final : public SweepMap {
 public:
  /// `data` must outlive the use.
  void prepare(const GaussSeidelData& data);
  /// Lengths and the correction are in the metric of S.
  SweepStep step(std::span<const double> along, std::span<double> r, std::span<double> change,
                 TaskArena* arena) override;
  /// Of one iteration, in contacts.
  WorkAndSpan work_and_span(int cores) const { return stages_.work_and_span(cores); }

 private:
  std::vector<Matrix3> split_masses() const;
  void turn_responses();
  void find_start(std::span<const double> r, TaskArena* arena);

  const GaussSeidelData* data_ = nullptr;
  std::vector<GaussSeidelContact> contacts_;  ///< with the steps of S
  BlockSparseMatrix responses_;               ///< with bodies: P, slots × m; 1/kg
  SweepStages stages_;
  std::vector<SweepStep> partial_;  ///< by piece
  std::vector<double> start_;       ///< what all contacts start from: v, m/s; without bodies r, N·s
};

}  // namespace signorini
