#pragma once

#include <span>
#include <vector>

#include "base/parallel.h"
#include "solvers/contact_error.h"
#include "solvers/relaxation/sweep_map.h"
#include "solvers/relaxation/sweep_stages.h"

/// Mass splitting (Tonge, Benevolenski and Voroshilov 2012): one iteration updates all contacts side by side.
///
/// A body that n contacts touch is split into n parts of an n-th of its mass and inertia, one for each contact, so that no
/// two contacts have a part in common. In the end its parts have their mean velocity, that of the whole body:
///
///     v = M⁻¹ (f + H r)       u_k = w_k + Σ_s J_ks v_s
///     r_k ← N, then T1 and T2 of contact k once (local_contact.h), with S_k = Σ_s n_s J_ks P_sk in the place of W_kk
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
  /// Lengths are in the metric of S; `correction` is max_k ‖(S_NN Δr_N, λ_max(S_TT) Δr_T)‖, m/s.
  SweepStep step(std::span<const double> along, std::span<double> r, std::span<double> change,
                 TaskArena* arena) override;
  /// Of one iteration, in contacts.
  WorkAndSpan work_and_span(int cores) const { return stages_.work_and_span(cores); }

 private:
  void find_touches();
  void split_masses();
  void split_rows();
  void find_velocities(std::span<const double> r, TaskArena* arena);
  template <class Law>
  SweepStep update(SweepRange range, std::span<const double> along, std::span<double> r,
                   std::span<double> change) const;

  const GaussSeidelData* data_ = nullptr;
  std::vector<Matrix3> split_;              ///< m: S_k
  std::vector<InverseMass> inverse_mass_;   ///< m: of S_k
  std::vector<Index> touch_begin_;          ///< with bodies: slots + 1 offsets into …
  std::vector<Index> touch_, touch_block_;  ///< contacts of a slot, ascending, and their blocks of J and P
  SweepStages stages_;
  std::vector<SweepStep> partial_;  ///< by piece
  std::vector<double> v_, u_;       ///< of slots; 3m without q or w: m/s
};

}  // namespace signorini
