#pragma once

#include <array>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/options.h"
#include "solvers/fixed_point_history.h"
#include "solvers/primal_system.h"

/// The states of contacts while conjugate residuals run (Verschoor and Jalba 2019, sections 3.1, 3.2,
/// Algorithm 2), in physical signs. Corrections by number are in docs/theory.md; for the signs C30 to C32.
///
/// A row of H is *active* when its impulse is an unknown λ of the linear system: the normal of a contact that
/// is on, and its tangents while they stick. A tangent that slides carries the known impulse r_T = −μ λ' δ, δ
/// the direction of sliding, λ' the average of the last normal impulses (eq. 19). The cone slides with both
/// tangents and a unit vector δ; the pyramid with each on its own and δ = ±1.
///
/// Changes, with s = u_T and S the diagonal of Hᵀ D⁻¹ H:
///
///     change   where                                  gate                   then
///     on       u_N < 0                                −u_N                   tangents slide along s, r_T = 0
///     off      λ_N ≤ 0 and u_N ≥ 0                    S_N |λ_N|
///     slide    ‖λ_T‖ > μ λ_N and s·λ_T < 0 (C31)      S_T (‖λ_T‖ − μ λ_N)    δ = −λ_T/‖λ_T‖
///     stick    s·δ ≤ 0                                ‖s‖                    λ_T = r_T
///     follow   δ, λ' new                              S_T ‖μ λ_N δ + r_T‖ (C35)
///
/// Under `newton` the cone's sliding contacts have one active tangent e across δ (see SlideDirection).
///
/// A change whose gate is below the tolerance is left for later (C34). In the converged state s and u_N of
/// active rows are noise: `slide` then asks for no sign of s·λ_T, `off` for u_N ≥ −tolerance.
///
/// Held bounds. Sliding impulses that follow μ λ_N are a fixed-point iteration b ↦ λ_N(b), one step per look.
/// It diverges where two contacts nearly coincide (two edges that meet a face at one place): friction of one
/// shifts the normal load to the other, and the map has an eigenvalue below −1 (docs/notes/measurements.md).
/// After `hold_bounds` every contact keeps a bound b_k, whatever λ_N does and also while it is off. That is a
/// convex problem (Tresca friction), for which the active set settles. Once it is solved, all bounds move
/// together (fixed_point_history.h). The cone's directions then move between solved systems only, by Newton
/// steps. Stopping tolerance while bounds are held: see `HeldBounds`.
///
/// Redundant contacts (a face on a face) make the active rows dependent, and inconsistent while too many are
/// active; λ is then undetermined along their null space. Held rows therefore get a compliance ϑ about a
/// centre c (the proximal method of multipliers, Rockafellar 1976):
///
///     u + ϑ (λ − c) = 0,   ϑ = 10⁻⁴ S,   then c ← λ
///
/// This has the same solutions, and an inconsistency moves λ by u/ϑ until a row opens. c = λ where a row
/// changes.
namespace signorini {

/// δ of sliding contacts. prox: δ ← (μ λ' S_T δ + s)/‖·‖ (C37). paper: a hundredth of the way to s/‖s‖ where
/// the angle exceeds 1.2° (limits the residual to about sin 1.2°). newton: as prox, and between evaluations
/// the impulse turns with s: with b = μ λ', e ⊥ δ, the first-order change of −b s/‖s‖ is a e,
///
///     e·s + ε a = 0,   ε = ‖s‖/b   [1/kg],
///
/// one more active row with the compliance ε; the system stays symmetric, and as s → 0 the row sticks. (The
/// plain update of the direction converges slowly where two slow contacts turn the same body.)
enum class SlideDirection { newton, prox, paper };
template <>
struct EnumNames<SlideDirection> {
  static constexpr std::array<std::pair<SlideDirection, std::string_view>, 3> value{
      {{SlideDirection::newton, "newton"}, {SlideDirection::prox, "prox"}, {SlideDirection::paper, "paper"}}};
};

/// A rule as corrected here, or as printed in the paper (for tables of what the corrections are worth).
enum class StateForm { corrected, printed };
template <>
struct EnumNames<StateForm> {
  static constexpr std::array<std::pair<StateForm, std::string_view>, 2> value{
      {{StateForm::corrected, "corrected"}, {StateForm::printed, "printed"}}};
};

/// What the problem with held bounds is solved to before they move, as a share τ of their lag
/// max S_T |μ λ_N − b|. tight: 10⁻⁴. adaptive: 10⁻⁴ too at first; ten times more, up to 0.1, wherever bounds
/// have waited for long (`loosen_bounds`), ten times less where four moves have not halved the lag. Bounds
/// taken from a first, rough solution may be wrong by their own size; then an accurate solution of the
/// problem with these bounds is wasted.
enum class HeldBounds { tight, adaptive };
template <>
struct EnumNames<HeldBounds> {
  static constexpr std::array<std::pair<HeldBounds, std::string_view>, 2> value{
      {{HeldBounds::tight, "tight"}, {HeldBounds::adaptive, "adaptive"}}};
};

struct StateRules {
  SlideDirection direction = SlideDirection::prox;
  double angle = 1.2;  ///< paper: degrees
  double turn = 0.01;  ///< paper: α_θ
  int average = 2;     ///< normal impulses in λ', 1 … kLongestAverage
  /// printed: gates ask for the change of the impulse, which is 0 on switching on and on returning to
  /// sticking (C34), and for the change of the average instead of the violation (C35).
  StateForm gates = StateForm::corrected;
  StateForm slip_test = StateForm::corrected;  ///< printed: s·λ_T > 0 (C31)
  HeldBounds bounds = HeldBounds::tight;

  static constexpr int kLongestAverage = 8;
};

enum class Moment { running, converged };

class ContactStates {
 public:
  void prepare(const PrimalSystem& system, const StateRules& rules);
  /// From start impulses (3m) and the velocities u = Hᵀ v + w that belong to them (3m), or none. One
  /// projected step gives the states: on where r_N > 0 and r_N − u_N/S_N > 0; sliding where r_T − u_T/S_T
  /// leaves the disc or square of radius μ r_N. |r_T| against μ r_N alone says too little of an answer that
  /// is right to some tolerance only; without velocities it has to do, to a part in 10⁴, and a normal impulse
  /// below 10⁻⁶ of the largest is none.
  void start(const PrimalSystem& system, std::span<const double> r, std::span<const double> u);
  /// Looks at every contact; `u` = Hᵀ v + w (3m), `gate` in m/s. Changes λ, the sliding impulses and what is
  /// active; true when anything changed.
  bool evaluate(const PrimalSystem& system, std::span<const double> u, double gate, Moment moment);

  /// Feasible impulses: λ and the sliding ones, clamped onto the law.
  void impulses(const PrimalSystem& system, std::span<double> r) const;
  long long changes() const { return changes_; }
  /// From now on every contact keeps a bound of friction, to begin with μ λ_N.
  void hold_bounds(const PrimalSystem& system);
  bool held() const { return held_; }
  /// Of held bounds, since `start`.
  long long bound_moves() const { return bound_moves_; }
  /// Held bounds have waited for too long (`adaptive`).
  void loosen_bounds();
  /// What the system has to be solved to before bounds and centres move, m/s; 0 where nothing is held. A look
  /// at a converged state with this gate moves them where no state changes.
  double held_accuracy(const PrimalSystem& system) const;
  /// out = P x: the active part of a vector of contact velocities or impulses (3m). `out` may be `x`.
  void restrict_to_active(std::span<const double> x, std::span<double> out) const;

  std::vector<double> lambda;      ///< 3m; 0 where not active
  std::vector<double> sliding;     ///< 3m; known tangential impulses, 0 where active
  std::vector<double> active;      ///< 3m; 1 or 0
  std::vector<Vector2> across;     ///< m; unit vector e across the sliding direction where that row is active
  std::vector<double> compliance;  ///< m; ε of that row, 1/kg
  std::vector<double> proximal;    ///< 3m; ϑ of held contacts, else 0; 1/kg
  std::vector<double> centre;  ///< 3m; λ where rows last changed or were solved, N·s; 0 where not active

 private:
  struct Contact {
    bool on = false;
    Vector2 direction = Vector2::Zero();  ///< δ; pyramid: a sign per tangent
    std::array<double, StateRules::kLongestAverage> normals{};
    int known = 0;                   ///< of `normals`
    double last_average = 0.0;       ///< λ' of the last update
    std::array<int, 2> slips{};      ///< pyramid: stick → slide so far
    std::array<int, 2> confirmed{};  ///< pyramid: evaluations in a row that asked for sticking
  };

  bool switch_normal(const PrimalSystem& system, std::size_t k, const double* u, double gate, Moment moment);
  /// μ r_N of a contact now, and what sliding impulses go to (its average).
  struct Bounds {
    double now = 0.0, wanted = 0.0;
  };

  bool follow_cone(std::size_t k, const Bounds& bounds, const double* u, double gate, Moment moment);
  bool follow_pyramid(std::size_t k, int j, const Bounds& bounds, const double* u, double gate,
                      Moment moment);
  void begin_tangents(FrictionLaw law, std::size_t k, const double* u, double gate);
  void drop_tangents(std::size_t k);
  double bound_error(const PrimalSystem& system, std::size_t k) const;
  /// Largest S_T |μ λ_N − b| and ϑ |λ − c| in m/s.
  double bound_lag(const PrimalSystem& system) const;
  double proximal_lag() const;
  void recentre(std::size_t k);
  /// τ, from the lag of the bounds that are about to move.
  void adapt_accuracy(double lag);
  void move_bounds(const PrimalSystem& system, std::span<const double> u, double gate);
  void switch_off(std::size_t k);
  void start_tangents(FrictionLaw law, std::size_t k, double bound, const Vector2& r, const Vector2& pulled);
  bool newton() const {
    return rules_.direction == SlideDirection::newton || (held_ && rules_.direction == SlideDirection::prox);
  }
  bool slips_freely(double product) const;
  double follow_violation(const Contact& contact, double violation, double mean, double softness) const;
  void slide_along(std::size_t k, const Vector2& direction, double bound, double speed);
  void push_normal(Contact& contact, double normal) const;
  double average(const Contact& contact) const;
  void forget_normals(Contact& contact, double normal) const;

  StateRules rules_;
  std::vector<Contact> contact_;
  std::vector<Vector3> softness_;  ///< diagonal of B_kk: S_N, S_T1, S_T2
  bool held_ = false;
  std::vector<double> bound_;          ///< m: b, N·s
  std::vector<double> error_, scale_;  ///< m: μ λ_N − b; S_T
  FixedPointHistory history_;
  double bound_accuracy_ = 0.0;  ///< τ
  double lag_ = 0.0;             ///< of the bounds when it was last halved, or τ changed, m/s
  int moves_in_vain_ = 0;        ///< since then
  long long bound_moves_ = 0;
  long long changes_ = 0;
};

}  // namespace signorini
