#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/options.h"
#include "solvers/lanczos_rotation.h"
#include "solvers/primal_system.h"
#include "solvers/saddle_vector.h"

/// The two convex problems of staggered projections, solved by conjugate residuals or MINRES with the
/// diagonal preconditioner.
///
/// Both minimise ½ vᵀ M v − vᵀ(f + H r_held) in v; r = (r_N, r_T) are impulses in N·s, u = Hᵀ v + w in m/s.
///
///     normal:    r_T held,  u_N ≥ 0   ⊥  r_N ≥ 0
///     friction:  r_N held,  r_T in the box |r_Tj| ≤ b or the disc ‖r_T‖ ≤ b,  b = μ r_N,
///                and −u_T normal to it at r_T
///
/// Given which rows are free (L: u = 0 is asked there, r is unknown) either is one symmetric indefinite
/// system
///
///     [  M  −Lᵀ ] [ v ]   [ f + H r_held ]
///     [ −L  −C  ] [ x ] = [ w_L          ]        residual (ρ_v; ρ_c),  ρ_c = u_L + C x
///
/// of n velocities (m/s) and the free impulses x. C = 0 but for discs: a contact that slides along δ (b > 0)
/// has r_T = −b δ + x t with the row t ⊥ δ free and C = (u_T·δ)/b, which is Newton's linearisation of
/// r_T = P_b(r_T − u_T/S) on the circle. After the solve r_T is drawn back onto the circle and δ turned.
///
/// Diag preconditioner: D⁻¹ on velocities (node blocks of M's diagonal), (S + C)⁻¹ on rows, S the diagonal of
/// Lᵀ's D⁻¹ Delassus matrix. Velocities, ρ_v, u and r are kept when the free rows change and when the other
/// problem's turn comes: the warm start between passes costs no product with M.
namespace signorini {

/// What solves the linear systems; one product with M per iteration either way. MINRES needs no guard against
/// breakdowns (minres.h).
enum class QpMethod : std::uint8_t { cr, minres };
template <>
struct EnumNames<QpMethod> {
  static constexpr std::array<std::pair<QpMethod, std::string_view>, 2> value{
      {{QpMethod::cr, "cr"}, {QpMethod::minres, "minres"}}};
};

enum class QpStage : std::uint8_t { normal, friction };

/// When the states of rows are looked at: amid the iteration a change must also have the sign of u on its
/// side; once the system is solved the sign of u is noise.
enum class QpLook : std::uint8_t { running, solved };

class StaggeredQp {
 public:
  void prepare(const PrimalSystem& system, QpMethod method = QpMethod::cr);
  /// v = v_free, or `v_start` where it is one of the system's velocities (n); r as given (3m, finite); a
  /// contact is on where r_N > 0.
  void start(std::span<const double> r, std::span<const double> v_start = {});
  std::span<const double> velocity() const { return v_; }
  /// Gives the turn to one of the two problems. The bounds b move to μ r_N by the part `relaxation` of the
  /// way (1: all of it) when friction's turn comes; held impulses follow their bounds. True where r changed.
  bool enter(QpStage stage, double relaxation);
  /// Looks at the rows of the present problem and changes those whose violation is above `gate` (m/s).
  /// `solved` looks follow block principal pivoting (Júdice and Pires 1994): all violated rows switch
  /// together while their number keeps falling; otherwise only the one with the largest index. True when
  /// anything changed.
  bool look(double gate, QpLook when);

  /// Anew from the present residual; one product with M (MINRES: none).
  void restart();
  /// z·Bz or Bp·C⁻¹Bp vanishes; never with MINRES.
  bool broken() const;
  /// One step y += α p, and the vectors that move with it; returns α. MINRES: one product with M; returns 1,
  /// and 0 where its Krylov space is exhausted.
  double step();
  /// The next conjugate direction; one product with M (MINRES: nothing).
  void turn();
  /// The step along C⁻¹ B C⁻¹ ρ that minimises ‖ρ‖ (two products); false where nothing moves.
  bool minimising_step();
  /// ρ_v and u from v and r; one product.
  void refresh();

  /// ‖B z‖ ≤ 1e-12 times what it was at the restart: stationary although ρ ≠ 0 (inconsistent rows).
  bool stationary() const {
    return method_ == QpMethod::minres ? rotation_.finished()
                                       : BzBz_ <= kStationary * kStationary * reference_;
  }
  /// max(|ρ_v/M_ii|, |ρ_c|) in m/s; NaN where something is.
  double residual() const { return residual_; }
  double constraint_residual() const { return constraint_; }
  /// Velocity part of the preconditioned residual, maximum norm, m/s.
  double preconditioned_residual();
  /// Writes impulses that satisfy the law (3m); returns the error of v and these impulses in m/s: the contact
  /// error, what drawing r onto the law would move u by at least, and the momentum residual.
  double impulses(std::span<double> r) const;
  /// The error of v and given impulses r that are those of `start`, m/s.
  double estimate(std::span<const double> r) const { return system_->error(r, u_) + momentum_error_; }

  long long products() const { return products_; }
  long long direction_products() const { return direction_products_; }
  long long state_changes() const { return state_changes_; }
  long long restarts() const { return restarts_; }

 private:
  static constexpr double kStationary = 1e-12;
  enum class Row : std::uint8_t { held, free };
  /// Tangential state of a contact.
  struct Tangents {
    double bound = 0.0;                       ///< b, N·s
    Vector2 slip = Vector2::Zero();           ///< δ; pyramid: a sign per tangent, 0 while it sticks
    bool sliding = false;                     ///< cone only
    std::array<int, 2> slips{}, confirmed{};  ///< pyramid: stick → slide so far; looks in a row for release
  };

  bool moves(std::size_t row) const { return softness_[row] > 0.0; }
  bool rubs(std::size_t k) const { return tangents_[k].bound > 0.0; }
  void set_states_from(std::span<const double> r);
  void set_bounds(double relaxation);
  void guess_state(std::size_t k);
  void follow_bounds(std::size_t k);
  void set_rows(QpStage stage);
  void change_impulse(std::size_t row, double value) {
    change_[row] += value - r_[row];
    r_[row] = value;
  }
  void flush_changes();
  /// The row's violation in m/s if it asks for another state, else 0. Counts confirmations.
  double violation_normal(std::size_t k, double gate, QpLook when) const;
  double violation_pyramid(std::size_t k, int j, double gate, QpLook when);
  double violation_cone(std::size_t k, double gate, QpLook when) const;
  void flip(std::size_t row);
  void flip_normal(std::size_t k);
  void flip_pyramid(std::size_t k, int j);
  void flip_cone(std::size_t k);
  double disc_softness(std::size_t k) const { return std::max(softness_[3 * k + 1], softness_[3 * k + 2]); }

  void project(std::vector<double>& c) const;
  void precondition(const SaddleVector& x, SaddleVector& out) const;
  void apply(const SaddleVector& x, SaddleVector& Bx, std::vector<double>& Hx);
  void constraint_rows(std::vector<double>& out) const;
  void residual_vector(SaddleVector& out) const;
  void advance(double alpha);
  void restart_lanczos();
  double step_lanczos();
  void measure();

  const PrimalSystem* system_ = nullptr;
  QpStage stage_ = QpStage::normal;
  std::vector<double> softness_;          ///< 3m: diagonal of B, 1/kg
  std::vector<double> inverse_diagonal_;  ///< n: 1/M_ii
  std::vector<Row> normal_state_;         ///< m: free = in contact
  std::vector<Tangents> tangents_;        ///< m
  std::vector<char> asks_;                ///< 3m: violated rows of the present look
  std::size_t fewest_ = 0;                ///< violated rows in the best look of this turn
  int patience_ = 0;                      ///< looks left before single changes

  std::vector<double> active_;        ///< 3m: 1 in free rows
  std::vector<double> compliance_;    ///< 3m: C
  std::vector<double> inverse_soft_;  ///< 3m: 1/(S + C) in free rows, else 0
  std::vector<std::size_t> turning_;  ///< contacts of discs that slide: rows are replaced by t
  std::size_t turning_count_ = 0;

  std::vector<double> v_, momentum_;  ///< n: v; ρ_v
  std::vector<double> u_, r_;         ///< 3m
  std::vector<double> change_;        ///< 3m: change of r not yet in ρ_v
  bool changed_impulses_ = false;
  QpMethod method_ = QpMethod::cr;
  SaddleVector z_, Bz_, p_, Bp_, q_, CBz_;
  std::vector<double> Hz_, Hp_;  ///< 3m

  /// MINRES: w, B w and Hᵀ w_v of a direction.
  struct Direction {
    SaddleVector w, Bw;
    std::vector<double> Hw;
  };
  LanczosRotation rotation_;
  SaddleVector t_, t_before_, next_, lanczos_, B_lanczos_;
  std::vector<double> H_lanczos_;
  std::array<Direction, 3> direction_;  ///< w_k, w_{k−1}, w_{k−2} in turn
  std::size_t newest_ = 0;
  std::vector<double> row_;      ///< 3m scratch
  std::vector<double> scratch_;  ///< n

  double zBz_ = 0.0, zz_ = 0.0, BzBz_ = 0.0, Bpq_ = 0.0, BpBp_ = 0.0, qq_ = 0.0, reference_ = 0.0;
  double momentum_error_ = 0.0, constraint_ = 0.0, residual_ = 0.0;
  long long products_ = 0, direction_products_ = 0, state_changes_ = 0, restarts_ = 0;
};

}  // namespace signorini
