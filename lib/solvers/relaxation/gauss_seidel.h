#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "contact/friction_law.h"
#include "linalg/block_sparse_matrix.h"
#include "linalg/types.h"
#include "solvers/relaxation/body_rows.h"

/// One sweep of projected Gauss–Seidel over the contacts (Lazarevych 2010 eqs. 14, 15 with eqs. 6, 7;
/// corrections C08 and C09 in docs/theory.md).
///
/// For every contact k in ascending order, u_k = Σ_j W_kj r_j + q_k always with the newest r:
///
///     r_N  = max(0, r_N − u_N/W_NN)
///     cone:     r_T = disc(r_T − u_T/λ_max(W_TT), μ r_N)             scalar step
///               r_Tj ← r_Tj − u_Tj/W_jj for j = 1, 2, then disc      componentwise step, eq. 7 as printed
///     pyramid:  r_Tj = clamp(r_Tj − u_Tj/W_jj, −μ r_N, μ r_N) for j = 1, 2
///
///     W: 3m×3m [1/kg]     r: 3m [N·s]     u, q: 3m [m/s]
///
/// The projection stands inside the sweep (C08: the printed order has fixed points that are no solutions).
/// The componentwise step slips in a wrong direction where W_TT is anisotropic (C09); it is kept for the
/// tables. W may be unsymmetric; only block row k is read for contact k. A contact with W_NN ≤ 0 (both sides
/// fixed) keeps r = 0.
///
/// A sweep is a chain of dependent contacts: contact k waits for the tangential impulse of contact k − 1. The
/// kernel therefore sums the blocks from the diagonal to the end of the row first, those before the diagonal
/// last, and projects without branches.
///
/// With the rows of bodies (body_rows.h) in the place of W, u_k = Σ_s J_ks v_s + w_k from velocities v that go along with r:
/// every sweep takes them and updates them with it. The iterates are those with W up to rounding.
namespace signorini {

enum class TangentStep { scalar, componentwise };
template <>
struct EnumNames<TangentStep> {
  static constexpr std::array<std::pair<TangentStep, std::string_view>, 2> value{
      {{TangentStep::scalar, "scalar"}, {TangentStep::componentwise, "componentwise"}}};
};

/// The option `tangent` of solvers that sweep.
enum class TangentChoice { automatic, scalar, componentwise };
template <>
struct EnumNames<TangentChoice> {
  static constexpr std::array<std::pair<TangentChoice, std::string_view>, 3> value{
      {{TangentChoice::automatic, "auto"},
       {TangentChoice::scalar, "scalar"},
       {TangentChoice::componentwise, "componentwise"}}};
};
inline constexpr std::string_view kTangentChoiceHelp =
    "tangential step: one scalar 1/lambda_max(W_TT), or 1/W_jj per component; auto: scalar for the cone, "
    "componentwise for the pyramid";

/// Componentwise for the pyramid, whose components have bounds of their own; scalar for the cone.
TangentStep natural_tangent_step(FrictionLaw law);

/// Everything a contact needs besides its row of W, contiguous in memory. Components are N, T1, T2.
struct GaussSeidelContact {
  double q[3];  ///< what u_k begins with: q_k, or w_k with the rows of bodies; m/s
  double mu;
  double step[3];          ///< 1/W_NN and the two tangential steps; 0 where the inverse mass is not positive
  double inverse_mass[3];  ///< W_NN and what the tangential steps are the inverse of; 1/kg
  double by_normal[2];     ///< step_T · W_TN: how a new r_N moves the tangents
  double by_first;         ///< step_T2 · W_T2T1 (componentwise)
};

struct GaussSeidelData {
  BlockSparseMatrix W;  ///< 1/kg; empty with …
  std::optional<BodyRows> bodies;
  Vector q;   ///< 3m; m/s
  Vector mu;  ///< m
  FrictionLaw law = FrictionLaw::cone;
  TangentStep tangent_step = TangentStep::scalar;

  std::vector<Matrix3> diagonal;            ///< m: W_kk; 1/kg
  Vector tangent_inverse_mass;              ///< m: λ_max of the symmetric part of W_TT; 1/kg
  std::vector<GaussSeidelContact> contact;  ///< m
  std::vector<Index> upper_begin;           ///< m: first block of row k with column ≥ k
  std::vector<Index> fixed;                 ///< contacts with W_NN ≤ 0

  Index contacts() const { return count(mu); }
};

/// `tangent_step` matters only where the law leaves a choice: for the cone.
GaussSeidelData make_gauss_seidel_data(BlockSparseMatrix W, Vector q, Vector mu, FrictionLaw law,
                                       TangentStep tangent_step);
/// The same with a choice for either law: `scalar` gives the pyramid's clamp both steps 1/λ_max(W_TT).
GaussSeidelData make_gauss_seidel_data(BlockSparseMatrix W, Vector q, Vector mu, FrictionLaw law,
                                       TangentChoice choice);
GaussSeidelData make_gauss_seidel_data(BodyRows bodies, Vector mu, FrictionLaw law, TangentChoice choice);

/// The same data with another q (3m, m/s), of problems with W.
void change_free_velocity(GaussSeidelData& data, std::span<const double> q);

/// Updates r (3m, N·s) in place. Returns max_k ‖(Δr_N/ρ_N, Δr_T/ρ_T)‖ in m/s: a cheap estimate of the
/// Alart–Curnier error, zero exactly at a fixed point, NaN when r stopped being finite. Allocates nothing.
double gauss_seidel_sweep(const GaussSeidelData& data, std::span<double> r);
/// The same with the kernel of one level, which must not be above `best_isa()`; for tests and benchmarks.
double gauss_seidel_sweep(Isa level, const GaussSeidelData& data, std::span<double> r);

/// A sweep r → r + d, for methods that accelerate it.
struct SweepStep {
  double correction = 0.0;  ///< what `gauss_seidel_sweep` returns, m/s
  double square = 0.0;      ///< Σ (d_N²/ρ_N + d_T²/ρ_T): |d|² in the metric of the steps, J
  double along = 0.0;       ///< Σ (d_N p_N/ρ_N + d_T·p_T/ρ_T), J
};
/// The same bits of r; `change` (3m, N·s) receives d. `along` (3m, N·s) is p; it may be `change`.
SweepStep gauss_seidel_step(const GaussSeidelData& data, std::span<const double> along, std::span<double> r,
                            std::span<double> change);
SweepStep gauss_seidel_step(Isa level, const GaussSeidelData& data, std::span<const double> along,
                            std::span<double> r, std::span<double> change);

/// Contacts begin, begin + 1, …, end − 1 of a sweep, or the same from the last to the first.
struct SweepRange {
  Index begin = 0;
  Index end = 0;
  bool backwards = false;
};
/// The part of a sweep that updates these contacts; `square` and `along` are sums over them. Contacts of
/// `data.fixed` are taken as any other: `release_fixed` comes before the first part. `v`: the velocities of r with
/// `data.bodies`, updated likewise; without them nothing.
double gauss_seidel_sweep(const GaussSeidelData& data, SweepRange range, std::span<double> r,
                          std::span<double> v = {});
SweepStep gauss_seidel_step(const GaussSeidelData& data, SweepRange range, std::span<const double> along,
                            std::span<double> r, std::span<double> change, std::span<double> v = {});
/// The contacts of `data` with the steps of other diagonal blocks (m, 1/kg).
std::vector<GaussSeidelContact> contacts_with(const GaussSeidelData& data, std::span<const Matrix3> diagonal);
/// Contacts of the range side by side, each by one update as in a sweep, all from the same velocities: u_k = w_k + Σ_s J_ks x_s
/// with x = v, or without bodies u_k = q_k + Σ_j W_kj x_j with x = r from before; x may not be r. `contacts` take the place of
/// those of `data`.
SweepStep side_by_side_step(const GaussSeidelData& data, std::span<const GaussSeidelContact> contacts,
                            SweepRange range, std::span<const double> x, std::span<const double> along,
                            std::span<double> r, std::span<double> change);
/// r = 0 at contacts with W_NN ≤ 0; what every sweep of all contacts begins with.
void release_fixed(const GaussSeidelData& data, std::span<double> r);

/// The Alart–Curnier error of r (contact/residuals.h) in m/s, not divided by U; one product with W. `u` (3m)
/// receives W r + q. A contact with W_NN ≤ 0 counts with max(0, −u_N). NaN when r or u is not finite.
double alart_curnier_error(const GaussSeidelData& data, std::span<const double> r, std::span<double> u,
                           TaskArena* arena = nullptr);

}  // namespace signorini
