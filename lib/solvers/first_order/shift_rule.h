#pragma once

#include <array>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/options.h"
#include "solvers/first_order/contact_cones.h"

/// Coulomb friction through a convex program: with the shift σ = μ s(u_T) of De Saxcé held,
///
///     min ½ rᵀW r + qᵀr + Σ_k σ_k r_Nk   over r ∈ K           K ∋ r ⊥ W r + q + σ n ∈ K*
///
/// is convex, and where σ is the shift of the u = W r + q that it gives, r solves the exact law. The fixed point σ is
/// sought inside the iteration: after a step of length ‖Δr‖ (metric of contact_cones.h) and Lipschitz constant L the
/// shift is renewed when
///
///     L ‖Δr‖ ≤ inner · ‖μ s(u_T) − σ‖
///
/// so the program with a wrong shift is solved about as well as its shift is right. Where this distance has had no new
/// minimum for kPatience renewals, shifts move only half of the way from then on, then a quarter, at least an eighth.
///
/// `law_form = associated`: σ = 0, the convex program alone. Sliding contacts then lift off, u_N = μ s(u_T): the
/// model of Anitescu 2006, which is not Coulomb's. The referee measures its model error as residual.
namespace signorini {

enum class LawForm { exact, associated };
template <>
struct EnumNames<LawForm> {
  static constexpr std::array<std::pair<LawForm, std::string_view>, 2> value{
      {{LawForm::exact, "exact"}, {LawForm::associated, "associated"}}};
};
inline constexpr std::string_view kLawFormHelp =
    "exact: Coulomb's law by the shift of De Saxce; associated: without shift, the convex model in which "
    "sliding "
    "contacts lift off. It ends where that model is solved, and the residual shows the model error";

/// Option `inner` of the solvers that use this rule.
inline constexpr std::string_view kInnerHelp =
    "the shift of the exact law is renewed after steps shorter than this times its own error; large: in "
    "every iteration";
/// Throws `UsageError` where it is not positive.
void validate_inner(std::string_view solver, double inner);

class ShiftRule {
 public:
  void prepare(const ContactCones& cones);
  /// Begins with the shift of the velocities u (3m).
  void start(LawForm form, double inner, std::span<const double> u);
  /// After a step with L ‖Δr‖ = `correction` to a point with velocities u. Whether the shift was renewed.
  bool update(std::span<const double> u, double correction);
  /// σ, m; m/s.
  std::span<const double> shift() const { return shift_; }

 private:
  static constexpr int kPatience = 50;
  static constexpr double kLeastPart = 0.125;

  const ContactCones* cones_ = nullptr;
  std::vector<double> shift_, fresh_;
  LawForm form_ = LawForm::exact;
  double inner_ = 10.0;
  double part_ = 1.0;  ///< of the way to the fresh shift
  double least_ = std::numeric_limits<double>::infinity();
  int waited_ = 0;
};

}  // namespace signorini
