#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/options.h"
#include "base/parallel.h"
#include "contact/contact_problem.h"
#include "linalg/block_sparse_matrix.h"

/// The contact problem on the velocities of its bodies, without W, where every body has few dofs (mass points, rigid
/// bodies):
///
///     u_k = w_k + Σ_s J_ks v_s        J_ks = H_kᵀ on slot s: three consecutive dofs of one body      [–]
///     v_s = free_s + Σ_k P_sk r_k     P_sk = M⁻¹ H_k on slot s                                      [1/kg]
///
/// A sweep that keeps v beside r reads the blocks J and P of a contact, P only where r changes; the row of W holds one
/// block for every contact that shares a body. In piles and nets that is more, and W has to be assembled before.
namespace signorini {

/// The option `matrix` of solvers that sweep.
enum class SweepMatrix { delassus, bodies, automatic };
template <>
struct EnumNames<SweepMatrix> {
  static constexpr std::array<std::pair<SweepMatrix, std::string_view>, 3> value{
      {{SweepMatrix::delassus, "delassus"},
       {SweepMatrix::bodies, "bodies"},
       {SweepMatrix::automatic, "auto"}}};
};
inline constexpr std::string_view kSweepMatrixHelp =
    "what a sweep reads: delassus: rows of W; bodies: contact directions and the velocities of mass points "
    "and rigid "
    "bodies, without forming W; auto: bodies where that is less to read";

struct BodyRows {
  BlockSparseMatrix J;            ///< m × slots, 3×3 blocks
  std::vector<double> response;   ///< beside `J.values`: P_sk
  std::vector<double> free;       ///< 3 per slot: M⁻¹ f; m/s
  Vector w;                       ///< 3m; m/s
  std::vector<Matrix3> diagonal;  ///< m: W_kk = Σ_s J_ks P_sk; 1/kg

  /// v of r (3m). The size of `free`; allocates nothing.
  void velocities(std::span<const double> r, std::span<double> v) const;
  /// P r alone.
  void responses(std::span<const double> r, std::span<double> v) const;
  /// u = J v (3m), without w. Null arena: one thread. Uses a workspace: not for two callers at once.
  void relative_velocities(std::span<const double> r, std::span<double> u, TaskArena* arena = nullptr) const;

  mutable std::vector<double> workspace;  ///< of the size of `free`
};

/// Why a problem has no such form; empty where it has one.
std::string body_rows_refusal(const ContactProblem& problem);
/// Whether sweeps are to be made so: as asked for, and with `automatic` where the blocks J and P are fewer than those of W.
bool takes_body_rows(const ContactProblem& problem, SweepMatrix matrix);
/// A bound of the blocks of W of a problem with M and H: contacts that share two bodies count twice.
double delassus_blocks_at_most(const ContactProblem& problem);
/// Throws `InputError` as MassFactor does.
BodyRows make_body_rows(const ContactProblem& problem);
/// Rows of a task that moves rows to another order.
inline constexpr std::size_t kRowsOfATask = 256;
/// Where rows order[0], order[1], … begin when they stand one behind the other; as many as `row_begin`.
std::vector<Index> rows_begin_in_order(std::span<const Index> row_begin, std::span<const Index> order);
/// Rows in another order: row i of the result is row order[i]. The threads of the arena share them; null: one thread.
BodyRows in_order(BodyRows rows, std::span<const Index> order, TaskArena* arena = nullptr);

}  // namespace signorini
