#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/options.h"
#include "solvers/active_set/fixed_point_history.h"
#include "solvers/contact_sweep.h"
#include "solvers/primal_system.h"

/// The states of contacts (open, sticking, sliding) while a linear system is being solved: which rows of H are
/// *active*, i.e. have their impulse λ among the unknowns, and what the others carry (Verschoor and Jalba 2019,
/// sections 3.1, 3.2, Algorithm 2; physical signs; corrections by number are in docs/theory.md, C30 to C37).
///
/// The normal of a contact is active while the contact is on, a part of its tangents (contact/friction_law.h)
/// while it sticks. A part that slides along the unit vector δ carries the known impulse r_T = −b δ, with the
/// bound b = μ λ' and λ' the average of the last normal impulses (eq. 19). With s = u_T of the part and S the
/// effective inverse mass of its rows (the diagonal of Hᵀ D⁻¹ H), the changes are
///
///     change   where                             gate                 then
///     on       u_N < 0                           −u_N                 tangents slide along s, r_T = 0
///     off      λ_N ≤ 0 and u_N ≥ 0               S |λ_N|
///     slide    ‖λ_T‖ > b and s·λ_T < 0 (C31)     S (‖λ_T‖ − b)        δ = −λ_T/‖λ_T‖
///     stick    s·δ ≤ 0                           ‖s‖                  λ_T = r_T
///     follow   δ, b new                          S ‖b δ + r_T‖ (C35)
///
/// A change whose gate is below the tolerance waits (C34). In the converged state s and u_N of active rows are
/// noise: `slide` then asks for no sign of s·λ_T, `off` for u_N ≥ −tolerance.
///
/// Bounds *follow* the normal impulses, or are *held* (Tresca friction, a convex problem) where following does
/// not converge, or are *fixed* by the owner (staggered projections). Held bounds move only once the problem with
/// them is solved, all together (fixed_point_history.h). Regularised rows have a compliance ϑ = 10⁻⁴ S about a
/// centre c, u + ϑ (λ − c) = 0, then c ← λ (proximal method of multipliers, Rockafellar 1976), so that redundant
/// contacts have a solution. Why: docs/notes/active-set.md.
namespace signorini {

/// δ of sliding contacts. prox: δ ← (μ λ' S_T δ + s)/‖·‖ (C37). paper: a hundredth of the way to s/‖s‖ where
/// the angle exceeds 1.2° (limits the residual to about sin 1.2°). newton: as prox, and between evaluations
/// the impulse turns with s: with b = μ λ', e ⊥ δ, the first-order change of −b s/‖s‖ is a e,
///
///     e·s + ε a = 0,   ε = ‖s‖/b   [1/kg],
///
/// one more active row with the compliance ε; the system stays symmetric, and as s → 0 the row sticks. (The
/// plain update of the direction converges slowly where two slow contacts turn the same body.)
enum class SlideDirection { automatic, newton, prox, paper };
template <>
struct EnumNames<SlideDirection> {
  static constexpr std::array<std::pair<SlideDirection, std::string_view>, 4> value{
      {{SlideDirection::automatic, "auto"},
       {SlideDirection::newton, "newton"},
       {SlideDirection::prox, "prox"},
       {SlideDirection::paper, "paper"}}};
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
enum class HeldBounds { automatic, tight, adaptive };
template <>
struct EnumNames<HeldBounds> {
  static constexpr std::array<std::pair<HeldBounds, std::string_view>, 3> value{
      {{HeldBounds::automatic, "auto"}, {HeldBounds::tight, "tight"}, {HeldBounds::adaptive, "adaptive"}}};
};

/// What tells the states. single: each contact by itself, as above. coupled (ours): what projected Gauss–Seidel with
/// W_D = Hᵀ D⁻¹ H makes of the present impulses and velocities (contact_sweep.h), so that contacts of the same
/// nodes agree with each other; a change then needs S ‖r' − r‖ above the gate, r' the predicted impulse of its
/// part, and with any change all active impulses become the predicted ones. Held bounds fall back on single.
enum class StatePrediction { coupled, single };
template <>
struct EnumNames<StatePrediction> {
  static constexpr std::array<std::pair<StatePrediction, std::string_view>, 2> value{
      {{StatePrediction::coupled, "coupled"}, {StatePrediction::single, "single"}}};
};

struct StateRules {
  StatePrediction prediction = StatePrediction::single;
  SlideDirection direction = SlideDirection::prox;
  double angle = 1.2;  ///< paper: degrees
  double turn = 0.01;  ///< paper: α_θ
  int average = 2;     ///< normal impulses in λ', 1 … kLongestAverage
  /// printed: gates ask for the change of the impulse, which is 0 on switching on and on returning to
  /// sticking (C34), and for the change of the average instead of the violation (C35).
  StateForm gates = StateForm::corrected;
  StateForm slip_test = StateForm::corrected;  ///< printed: s·λ_T > 0 (C31)
  HeldBounds bounds = HeldBounds::tight;
  /// Block principal pivoting (Júdice and Pires 1994) where the system is solved: all rows that ask for a change
  /// change together while their number falls, otherwise only the one with the largest index.
  bool block_pivoting = false;

  static constexpr int kLongestAverage = 8;
};

/// When states are evaluated: while the system is being solved, or once it is.
enum class Moment : std::uint8_t { running, converged };
/// Which rows may be active; the others keep the impulses that they have.
enum class Unknowns : std::uint8_t { all, normals, tangents };
enum class TangentState : std::uint8_t { none, sticking, sliding };

class ActiveSet {
 public:
  /// `system` must outlive the use.
  void prepare(const PrimalSystem& system, const StateRules& rules);
  /// From start impulses (3m) and the velocities u = Hᵀ v + w that belong to them (3m), or none. One
  /// projected step gives the states: on where r_N > 0 and r_N − u_N/S > 0; sliding where r_T − u_T/S
  /// leaves the disc or square of radius μ r_N. |r_T| against μ r_N alone says too little of an answer that
  /// is right to some tolerance only; without velocities it has to do, to a part in 10⁴, and a normal impulse
  /// below 10⁻⁶ of the largest is none. All rows are unknowns and bounds follow.
  void start(std::span<const double> r, std::span<const double> u);
  /// Evaluates every contact; `u` = Hᵀ v + w (3m), `gate` in m/s. Changes λ, the known impulses and what is
  /// active; true when anything changed.
  bool evaluate(std::span<const double> u, double gate, Moment moment, TaskArena* arena = nullptr);
  long long contact_sweeps() const { return contact_sweeps_; }

  /// Feasible impulses: λ and the known ones, clamped onto the law.
  void impulses(std::span<double> r) const;
  long long changes() const { return changes_; }

  /// From now on every contact keeps a bound of friction, to begin with μ λ_N.
  void hold_bounds();
  bool held() const { return bounds_ == Bounds::held; }
  /// Of held bounds, since `start`.
  long long bound_moves() const { return bound_moves_; }
  /// Held bounds have waited for too long (`adaptive`).
  void loosen_bounds();
  /// What the system has to be solved to before held bounds and centres move, m/s; 0 where there are none. An
  /// evaluation of a converged state with this gate moves them where no state changes.
  double held_accuracy() const;

  /// Gives the rows a compliance ϑ about a centre (`hold_bounds` does so too).
  void regularise();
  bool regularised() const { return regularised_; }

  /// The bounds are the owner's from now on; 0 to begin with.
  void fix_bounds();
  /// Fixed bounds go to μ r_N by the part `relaxation` of the way (1: all of it), and sliding impulses with them.
  void move_fixed_bounds(double relaxation, std::span<const double> u);
  void set_unknowns(Unknowns unknowns);

  /// out = P x: the active part of a vector of contact velocities or impulses (3m). `out` may be `x`.
  void restrict_to_active(std::span<const double> x, std::span<double> out) const;

  std::vector<double> lambda;   ///< 3m; 0 where not active
  std::vector<double> known;    ///< 3m; impulses of rows that are not active (and −b δ beside an active e)
  std::vector<double> active;   ///< 3m; 1 or 0
  std::vector<Vector2> across;  ///< m; unit vector e across the sliding direction where that row is active
  std::vector<double> compliance;  ///< m; ε of that row, 1/kg
  std::vector<double> proximal;    ///< 3m; ϑ of held contacts, else 0; 1/kg
  std::vector<double> centre;  ///< 3m; c: λ where rows last changed or were solved, N·s; 0 where not active

 private:
  enum class Bounds : std::uint8_t { following, held, fixed };
  enum class Change : std::uint8_t { none, on, off, slide, stick, follow };
  struct Contact {
    bool on = false;
    std::array<TangentState, 2> tangent{};  ///< of its parts
    Vector2 direction = Vector2::Zero();    ///< δ of its parts
    std::array<double, StateRules::kLongestAverage> normals{};
    int count = 0;                   ///< of `normals`
    double last_average = 0.0;       ///< λ' of the last update
    std::array<int, 2> slips{};      ///< stick → slide so far
    std::array<int, 2> confirmed{};  ///< evaluations in a row that asked for sticking
  };
  /// One part of the tangents at an evaluation.
  template <class Law>
  struct Part;
  /// b now, and what sliding impulses go to (its average), N·s.
  struct Bound {
    double now = 0.0, wanted = 0.0;
  };

  double mu(std::size_t k) const { return system_->mu[k]; }
  template <class Law>
  bool evaluate_by(std::span<const double> u, double gate, Moment moment);
  bool predicts() const { return rules_.prediction == StatePrediction::coupled && bounds_ != Bounds::held; }
  void predict(std::span<const double> u, double gate, TaskArena* arena);
  template <class Law>
  std::array<Change, 3> ask_single(std::size_t k, std::span<const double> u, double gate, Moment moment);
  template <class Law>
  std::array<Change, 3> ask_predicted(std::size_t k, double gate) const;
  double predicted_bound(std::size_t k) const {
    return bounds_ == Bounds::following ? mu(k) * predicted_[3 * k] : bound_[k];
  }
  template <class Law>
  void apply_predicted(std::size_t k, const std::array<Change, 3>& changes, std::span<const double> u);
  void adopt_predicted();
  bool pivots(std::size_t count, Moment moment);
  Change ask_normal(std::size_t k, const double* u, double gate, Moment moment) const;
  template <class Law>
  Change ask_tangent(const Part<Law>& part, double gate, Moment moment);
  template <class Law>
  void apply(std::size_t k, const std::array<Change, 3>& changes, std::span<const double> u, double gate);
  template <class Law>
  void apply_tangent(const Part<Law>& part, Change change, double gate);
  template <class Law>
  void stick(const Part<Law>& part);
  template <class Law>
  Part<Law> part_of(std::size_t k, int part, std::span<const double> u);
  Bound bound_of(std::size_t k) const;

  template <class Law>
  void begin_tangents(std::size_t k, std::span<const double> u, double gate);
  template <class Law>
  void guess_tangents(std::size_t k, double bound, std::span<const double> r, std::span<const double> u);
  template <class Law>
  void follow_bound(std::size_t k, std::span<const double> u);
  template <class Law>
  void slide_along(std::size_t k, int part, const Eigen::Matrix<double, Law::kPartSize, 1>& direction,
                   double bound, double speed);
  void switch_off(std::size_t k);
  void drop_tangents(std::size_t k);

  double bound_error(std::size_t k) const;
  /// Largest S |μ λ_N − b| and ϑ |λ − c| in m/s.
  double bound_lag() const;
  double proximal_lag() const;
  void recentre(std::size_t k);
  /// τ, from the lag of the bounds that are about to move.
  void adapt_accuracy(double lag);
  void move_held_bounds(std::span<const double> u, double gate);
  /// Held bounds and centres of a system that is solved to `held_accuracy`; false where none lags by more than `gate`.
  bool move_solved(std::span<const double> u, double gate);
  bool newton() const {
    return rules_.direction == SlideDirection::newton ||
           (bounds_ != Bounds::following && rules_.direction == SlideDirection::prox);
  }
  void push_normal(Contact& contact, double normal) const;
  double average(const Contact& contact) const;
  void forget_normals(Contact& contact, double normal) const;

  const PrimalSystem* system_ = nullptr;
  StateRules rules_;
  Bounds bounds_ = Bounds::following;
  Unknowns unknowns_ = Unknowns::all;
  bool regularised_ = false;
  std::vector<Contact> contact_;
  std::vector<Vector3> inverse_mass_;         ///< m: S of N, T1, T2
  std::vector<std::array<Change, 3>> asked_;  ///< m: by normal and parts
  std::size_t fewest_ = 0;                    ///< changes asked for in the best evaluation of block pivoting
  int block_patience_ = 0;                    ///< evaluations left before single changes
  std::vector<double> bound_;                 ///< m: b, N·s
  std::vector<double> error_, scale_;         ///< m: μ λ_N − b; S
  ContactSweep sweep_;                        ///< of `coupled`
  std::vector<double> predicted_, q_;         ///< 3m: r', N·s; u − W_D r, m/s
  long long contact_sweeps_ = 0;
  FixedPointHistory history_;
  double bound_accuracy_ = 0.0;  ///< τ
  double lag_ = 0.0;             ///< of the bounds when it was last halved, or τ changed, m/s
  int moves_in_vain_ = 0;        ///< since then
  long long bound_moves_ = 0;
  long long changes_ = 0;
};

}  // namespace signorini
