#pragma once

#include <array>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/options.h"
#include "solvers/first_order/contact_cones.h"
#include "solvers/first_order/standstill.h"
#include "solvers/iterative_solver.h"

/// The proximal ADMM of Carpentier, Le Lidec and Montaut 2024 for K ∋ r ⊥ W r + q + σ n ∈ K* with the shift σ = μ s(u_T)
/// of the exact law (cone_projection.h), renewed in every iteration. It splits r into r̂, which meets the equations, and
/// y ∈ K; z is the velocity û between them:
///
///     (W + (ρ + η) S) r̂⁺ = ρ S y + η S r̂ + z − σ n − q            S, norms: contact_cones.h
///     x = y + α (r̂⁺ − y)
///     y⁺ = P_K(x − S⁻¹z/ρ)
///     z⁺ = z − ρ S (x − y⁺) ∈ K*
///     σ⁺ = μ s(z⁺_T)
///
/// y is the answer. ρ, η and α have no unit. The `Resolvent` solves the first line, in the form of the solver at hand;
/// it gives u = W r̂ + q as well, so an iteration needs no product.
///
/// Penalty. The defects of both parts are p = ‖x − y⁺‖ and d = ‖ρ (y⁺ − y) + η (r̂⁺ − r̂)‖. `penalty = adaptive`: after
/// kFirstWait iterations, and after twice as many from change to change, f² = Σ p/Σ d over the iterations since then;
/// where f > kWorthIt or f < 1/kWorthIt, ρ ← f ρ (residual balancing with the step of Wohlberg 2017). So the changes,
/// each of which is a new factor (`factorisations`), are few however long the run, and at most `factors`. A ρ whose matrix has
/// no factor is not taken (`guards`). The defects are not divided by ‖y‖ and ‖q‖: in the metric S they have one unit, and
/// on recorded heaps of capsules the relative ones moved ρ to ten times the best.
///
/// Departures: the metric S, which leaves ρ the same number for all masses; over-relaxation α (Eckstein and Bertsekas
/// 1992; the paper has α = 1); waits that double in the place of a spectral rule in every iteration, which pays with
/// eigenvalues of W and many factors.
namespace signorini {

/// r̂ ↦ (W + t S)⁻¹ (c − q).
class Resolvent {
 public:
  virtual ~Resolvent() = default;
  /// q, 3m.
  virtual std::span<const double> free_velocity() const = 0;
  /// Factors for t and keeps that; false where it cannot, the factor before stays.
  virtual bool factor_first(double t) = 0;
  virtual bool factor(double t) = 0;
  virtual void use_first() = 0;
  /// Where t is smaller than this, r̂ magnifies roundings of u by the quotient of both.
  virtual double smallest_exact() const = 0;
  /// `impulse` = (W + t S)⁻¹ (c − q), `velocity` = W impulse + q for the t of the present factor; 3m each.
  virtual void apply(double t, std::span<const double> c, std::span<double> impulse,
                     std::span<double> velocity) = 0;
};

enum class Penalty { adaptive, fixed };
template <>
struct EnumNames<Penalty> {
  static constexpr std::array<std::pair<Penalty, std::string_view>, 2> value{
      {{Penalty::adaptive, "adaptive"}, {Penalty::fixed, "fixed"}}};
};

struct AdmmSettings {
  double rho = 1.0;
  double eta = 1e-6;
  double relaxation = 1.5;
  Penalty penalty = Penalty::adaptive;
  int factors = 8;

  template <class Visitor>
  void visit(Visitor& v) {
    v("rho", rho, "first penalty, without a unit: W is scaled to entries about 1 on its diagonal");
    v("eta", eta, "weight of the proximal term, without a unit; 0: none");
    v("relaxation", relaxation, "over-relaxation, in (0, 2); 1: none, as in the paper");
    v("penalty", penalty, "adaptive: the penalty follows the defects of both parts; fixed: rho");
    v("factors", factors, "penalty = adaptive: new factors per solve at most");
  }
  void validate(std::string_view solver) const;
};

class AdmmIteration {
 public:
  /// Makes the first factor, with a larger ρ where that of the settings has none. `cones` and `resolvent` must outlive
  /// the use.
  void prepare(const AdmmSettings& settings, const ContactCones& cones, Resolvent& resolvent);
  /// Begins at r with velocities u (3m each); `scale` = U in m/s.
  void start(std::span<const double> r, std::span<const double> u, double scale, SolveCounters& counters);
  /// The same with the velocities that the resolvent finds where S pulls r̂ towards r. Returns the estimate of r.
  double start_near(std::span<const double> r, double scale, SolveCounters& counters);
  /// One iteration; r becomes y. Its estimate is the error of y with the velocities of r̂ plus the distance of both.
  Iteration iterate(std::span<double> r);
  /// ρ of the next iteration, if it does not change there.
  double penalty() const { return rho_; }

 private:
  static constexpr int kFirstWait = 10;
  static constexpr double kWorthIt = 2.0;
  static constexpr double kMostMagnified = 100.0;  ///< roundings, at which ρ does not fall further

  void reset(double scale, SolveCounters& counters);
  void resolve(std::span<const double> y);
  void split(std::span<const double> y);
  void observe(std::span<const double> y);
  void adapt();

  AdmmSettings settings_;
  const ContactCones* cones_ = nullptr;
  Resolvent* resolvent_ = nullptr;
  double first_rho_ = 0.0;
  std::vector<double> r_hat_, before_, mixed_, next_;  ///< 3m: r̂, r̂ before, x, y⁺; N·s
  std::vector<double> c_, u_, z_;                      ///< 3m, m/s
  std::vector<double> shift_;                          ///< m, m/s

  // of one solve
  Standstill standstill_;
  SolveCounters* counters_ = nullptr;
  double rho_ = 0.0;
  double impulse_defects_ = 0.0, velocity_defects_ = 0.0;  ///< Σ p, Σ d since the last change
  int since_ = 0, wait_ = 0, changes_ = 0;
};

}  // namespace signorini
