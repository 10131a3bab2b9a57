#pragma once

#include <span>
#include <vector>

#include "solvers/anticipation/node_sweep.h"
#include "solvers/contact_sweep.h"
#include "solvers/primal_system.h"
#include "solvers/solver.h"

/// One step of iterative constraint anticipation (Otaduy et al. 2009), shared by `ica` and `ica-cr`. With dv
/// = v − v₀ (n, m/s), M = D − L − U by node blocks and W_D = Hᵀ D⁻¹ H (3m×3m, 1/kg):
///
///     1. anticipates by block Jacobi:  q_loc = u − Hᵀ D⁻¹ (M dv − pull)                  (eqs. 9, 10)
///     2. solves  u = W_D r + q_loc  and the contact law by projected Gauss–Seidel from the present r; a
///        contact repeats N, T1, T2 three times before the sweep moves on                 (eqs. 11, 13, 14; C26)
///     3. refines by one forward block Gauss–Seidel sweep:  dv ← (D − L)⁻¹ (U dv + H r + pull)   (eq. 12)
///
/// pull (primal_system.h) is 0 where v₀ is the free velocity. Step 3 leaves M dv − H r − pull = U dv_old − U dv_new, so
/// a step reads every block of M once. Damped Jacobi takes its place with D replaced by ω D in all three
/// (docs/theory.md, C27): dv ← dv + (ω D)⁻¹ (H r + pull − M dv).
namespace signorini {

class AnticipationStep {
 public:
  struct Rule {
    double omega = 1.0;
    bool jacobi = false;  ///< refine by damped Jacobi
    ContactSweep::Rule inner;
  };

  /// `keep_response`: dv, M dv and U dv stay those of the last solve, of the same M.
  /// `order`: of the contacts of a region (contact_sweep.h).
  void prepare(const PrimalSystem& system, bool keep_response, TaskArena* arena,
               SweepOrder order = SweepOrder::natural);
  /// Sweeps over the contacts end where corrections are at most `enough`, or `reduction` times `error` where
  /// M couples node blocks. Where it does not, the inner problem is the whole one: only `enough` counts.
  ContactSweep::Rule inner_rule(double enough, double reduction, double error, int limit) const;
  /// From u (3m) and the vectors below: new r, then new dv, response and upper.
  ContactSweep::Outcome run(const Rule& rule, std::span<const double> u, std::span<double> r);
  /// Step 3 alone, with `impulse` as it is.
  void refine(const Rule& rule);

  void set_impulse(std::span<const double> r);
  /// x := D⁻¹ x.
  void divide_by_diagonal(std::vector<double>& x) const;
  double largest(std::span<const double> x) const;
  /// body(begin, end) over the dofs in chunks, on several threads where there is an arena.
  template <class Body>
  void each_chunk(const Body& body) const {
    const std::size_t n = dv.size();
    for_each_task(arena, (n + kChunk - 1) / kChunk,
                  [&](std::size_t chunk) { body(kChunk * chunk, std::min(n, kChunk * (chunk + 1))); });
  }

  std::vector<double> dv, response, upper;  ///< n: v − v₀; M dv; U dv
  std::vector<double> impulse;              ///< n: H r + pull (primal_system.h)
  std::vector<double> defect;               ///< n: M dv − impulse after `refine`; scratch otherwise
  NodeSweep sweep;
  ContactSweep contacts;
  SolveCounters* counters = nullptr;
  TaskArena* arena = nullptr;

 private:
  /// Dofs per chunk; a multiple of 3.
  static constexpr std::size_t kChunk = 3 * 2048;

  const PrimalSystem* system_ = nullptr;
  std::vector<double> q_loc_;            ///< 3m
  std::vector<double> of_contacts_;      ///< n: H r, where there is a pull
  mutable std::vector<double> partial_;  ///< per chunk of dofs
};

}  // namespace signorini
