#pragma once

#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/options.h"
#include "contact/contact_problem.h"

/// The stop of Verschoor and Jalba 2019, one for every method (sections 3.1 and 6.2; docs/theory.md, C41), dt the
/// time step [s], ρ_v the residual of the momentum equations and ρ_c that of the contacts:
///
///     ‖(ρ_v; dt ρ_c)‖₂ < ε₁ = 5e-5 (kg m/s and m),   dt ‖ρ_c‖∞ < ε₂ = 5e-6 m
///
/// `cr-full`, `cr-diag`: ρ_c are the active rows, and no state changes whose gate, times dt, is above ε₂. `ica` and
/// the staggered projections have no rows at the end: ρ_c are the errors of contact_error.h at the velocity at hand,
/// which hold the conditions of states as well.
///
/// What it leaves depends on the masses and the time step of the scene.
namespace signorini {

enum class EndsBy { residual, paper };
template <>
struct EnumNames<EndsBy> {
  static constexpr std::array<std::pair<EndsBy, std::string_view>, 2> value{
      {{EndsBy::residual, "residual"}, {EndsBy::paper, "paper"}}};
};

inline constexpr std::string_view kEndsByHelp =
    "residual: the asked residual; paper: eps1 and eps2 (Verschoor and Jalba 2019, sections 3.1 and 6.2); "
    "with "
    "judge = own no free velocity is computed then, and solves begin with the velocity of the last step";

struct Thresholds {
  double eps1 = 5e-5;  ///< kg m/s and m
  double eps2 = 5e-6;  ///< m

  template <class Visitor>
  void visit(Visitor& v, const char* eps1_help, const char* eps2_help) {
    v("eps1", eps1, eps1_help);
    v("eps2", eps2, eps2_help);
  }
  void validate(std::string_view solver) const {
    if (!(eps1 > 0.0)) throw_usage("{}: eps1 = {} must be positive", solver, eps1);
    if (!(eps2 > 0.0)) throw_usage("{}: eps2 = {} must be positive", solver, eps2);
  }
  /// Empty, or why they cannot be asked of `problem`.
  static std::string refusal(const ContactProblem& problem, std::string_view stop) {
    if (problem.dt > 0.0) return {};
    return "stop = " + std::string(stop) + " needs the time step, which this problem does not tell";
  }
  /// `squares` = ‖ρ_v‖² + dt² ‖ρ_c‖², `largest` = ‖ρ_c‖∞ in m/s. False for NaN.
  bool met(double dt, double squares, double largest) const {
    return std::sqrt(squares) < eps1 && dt * largest < eps2;
  }
};

inline constexpr const char* kEps1Help =
    "stop = paper: 2-norm of the residual of the system, in kg m/s and m together";
inline constexpr const char* kEps2Help =
    "stop = paper: largest violation of a contact and largest waiting change of state, m";

}  // namespace signorini
