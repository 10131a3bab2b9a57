#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "solvers/gauss_seidel.h"
#include "solvers/paper_rules.h"
#include "solvers/phase.h"
#include "solvers/sweep_loop.h"
#include "solvers/tangent_cone.h"

/// The projected conjugate gradient iteration of Lazarevych 2010 (eqs. 16–19, Algorithm 2) in three forms.
///
/// **robust** (docs/theory.md, C12–C18), with ϱ = −(W r + q), g its projection on the tangent cone
/// (tangent_cone.h), sliding data S and curvature C, and D = (1/W_NN, 1/λ_max(W_TT)):
///
///     z = D/(1 + D C) g,   F = d + S d_N                        sliding impulses follow their bound
///     α = g·d / (d·W F + d·C d)                                 if either is ≤ 0: d = z; if still ≤ 0: stuck
///     r = P(r + α F),   ϱ, S, C, g, z anew                      no recurrence across a projection
///     β = g'·(z' − z)/g·z (PR) or g'·z'/g·z (FR), ≥ 0, and 0 when a contact opened, closed, stuck or slid
///     d = projection of z' + β d on the tangent cone
///
/// One more departure guards against cycles, which the exact step length allows: along a soft direction α F
/// may end far outside the admissible set, and its projection undoes the progress of the steps before it (one
/// contact with W_T2T2 = W_T1T1/74 cycles through r = 0, r_N > 0, sticking). When g·z had no new minimum for
/// 100 iterations, the next 100 take α ≤ 1, a Jacobi step, as z is scaled by D; a second time α ≤ 1/2, and so
/// on. Runs that converge steadily are not affected.
///
/// **true**: Algorithm 2 with C12–C15 only (true residual, exact step length; no preconditioner, bound or
/// curvature terms, β as printed). It stalls with friction and shows what C16–C18 are for.
///
/// **printed**: Algorithm 2 as it stands, with the misprint λ + αλ read as λ + αd: α = r·r/d·Wd, and the
/// residual by its recurrence r̃ = r − αWd across the projection. Eq. 19 is read as the projection that
/// vanishes at a solution, which the text after it asks for. Its loop may end at a point that is no solution
/// (C14): the error is always the exact one.
///
/// A run of a fixed number of iterations measures no error. Two products with W per iteration (robust, true);
/// printed needs the second one only where the error is asked for.
namespace signorini {

enum class CgBeta { fr, pr };
template <>
struct EnumNames<CgBeta> {
  static constexpr std::array<std::pair<CgBeta, std::string_view>, 2> value{
      {{CgBeta::fr, "fr"}, {CgBeta::pr, "pr"}}};
};

enum class CgForm { robust, printed, true_residual };
template <>
struct EnumNames<CgForm> {
  static constexpr std::array<std::pair<CgForm, std::string_view>, 3> value{
      {{CgForm::robust, "robust"}, {CgForm::printed, "printed"}, {CgForm::true_residual, "true"}}};
};

class ProjectedCg {
 public:
  struct Settings {
    CgBeta beta = CgBeta::pr;
    CgForm form = CgForm::robust;
    double powell = 0.0;       ///< robust form: also β = 0 when |g'·z| > powell · g'·z'; 0 = never
    double handing_on = -1.0;  ///< error in m/s at which the next phase takes over; negative = never
    PhaseSettings phase;
  };

  /// `data` must outlive the use.
  void prepare(const GaussSeidelData& data);
  /// The start is projected on the admissible set first. `best` receives every measured iterate.
  PhaseReport run(const Settings& settings, std::span<double> r, const StopTest& stop,
                  const PaperRules& rules, IterationObserver* observer, BestIterate& best);

 private:
  struct Terms {
    double numerator = 0.0;
    double denominator = 0.0;
  };
  bool make_admissible(std::span<double> r) const;
  double measure(std::span<const double> r, bool exact);
  template <FrictionLaw law>
  PhaseReport iterate(const Settings& settings, std::span<double> r, const StopTest& stop,
                      const PaperRules& rules, IterationObserver* observer, BestIterate& best,
                      PhaseReport report);
  template <FrictionLaw law>
  double look(std::span<const double> r, bool robust, double* g_dot_old_z);
  template <FrictionLaw law>
  Terms aim(double beta, bool robust);
  template <FrictionLaw law>
  Norms move(double alpha, bool robust, std::span<double> r);
  Norms residual_norms() const;
  PhaseReport run_printed(const Settings& settings, std::span<double> r, const StopTest& stop,
                          const PaperRules& rules, IterationObserver* observer, BestIterate& best);

  const GaussSeidelData* data_ = nullptr;
  std::vector<double> u_, z_, d_, F_, WF_;        // 3m
  std::vector<double> normal_step_, stick_step_;  // m: 1/W_NN, 1/λ_max(W_TT); 0 where a contact cannot move
  std::vector<ContactFace> face_;                 // m
  int faces_changed_ = 0;  ///< contacts that opened, closed, stuck or slid in the last step
};

}  // namespace signorini
