#pragma once

#include <array>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "solvers/first_order/first_order_solver.h"
#include "solvers/registered_solver.h"

/// `apgd`: accelerated projected gradient descent (Nesterov 1983; for contact Mazhar, Heyn, Negrut and Tasora 2015)
/// on min ½ rᵀW r + (q + σ n)ᵀr over r ∈ K, with the shift σ of shift_rule.h. From y = r, θ = 1:
///
///     r⁺ = P_K(y − S⁻¹(W y + q + σ n)/L)                     S, norms: contact_cones.h
///     while (r⁺ − y)ᵀW(r⁺ − y) > L ‖r⁺ − y‖²: L ← 2 L, r⁺ anew
///     θ⁺ = ½ θ (√(θ² + 4) − θ),   β = θ (1 − θ)/(θ² + θ⁺)
///     y = r⁺ + β (r⁺ − r),   W y + q = u⁺ + β (u⁺ − u): no product
///     L ← 0.9 L
///
/// `restart = gradient` (O'Donoghue and Candès 2015): where (y − r⁺)ᵀS(r⁺ − r) > 0, θ = 1 and y = r⁺.
/// The generalised gradient L S(y − r⁺) takes the place of the paper's ∇f(y), which does not vanish at the solution
/// of a constrained problem.
///
/// One product with W per iteration, and one more for every doubling of L (`guards`). L never exceeds Gershgorin's
/// bound of λ_max, at which every step is a descent step of a symmetric W: rounding cannot drive it further. W may be
/// unsymmetric: then W y + q + σ n is no gradient, but the fixed points are still the solutions.
///
/// Departures: the metric S (the paper has S = 1 and the units of W in L); L begins at 1; the exact law (`law_form =
/// associated` is the paper's); the loop's residual ends the solve, not the paper's.
namespace signorini {

enum class ApgdRestart { gradient, none };
template <>
struct EnumNames<ApgdRestart> {
  static constexpr std::array<std::pair<ApgdRestart, std::string_view>, 2> value{
      {{ApgdRestart::gradient, "gradient"}, {ApgdRestart::none, "none"}}};
};

struct ApgdOptions {
  CommonOptions common;
  LawForm law_form = LawForm::exact;
  ApgdRestart restart = ApgdRestart::gradient;
  double inner = 10.0;

  template <class Visitor>
  void visit(Visitor& v) {
    common.visit(v);
    v("law_form", law_form, kLawFormHelp);
    v("restart", restart,
      "gradient: momentum is given up where it points uphill (O'Donoghue and Candes 2015); none: never");
    v("inner", inner, kInnerHelp);
  }
  void validate() const { validate_inner("apgd", inner); }
};

class Apgd : public RegisteredSolver<Apgd, ApgdOptions, FirstOrderSolver> {
 public:
  static constexpr std::string_view kName = "apgd";
  static constexpr SolverTraits kTraits{.parallel = true};
  explicit Apgd(const Options& options) : RegisteredSolver(options) {}

  void prepare_island(ReducedProblem problem, Vector mu) override;

 protected:
  Iteration start(std::span<double> r, const StopTest& stop) override;
  Iteration iterate(std::span<double> r) override;

 private:
  void extrapolate(std::span<const double> r);
  void descend();
  bool goes_uphill(std::span<const double> r) const;

  ShiftRule shift_;
  std::vector<double> before_, point_, next_;                ///< 3m, N·s: r before, y, r⁺
  std::vector<double> u_now_, u_before_, u_point_, u_next_;  ///< 3m, m/s: their velocities

  // of one solve
  double lipschitz_ = 1.0;  ///< L
  double theta_ = 1.0;
  double beta_ = 0.0;
};

}  // namespace signorini
