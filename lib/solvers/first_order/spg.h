#pragma once

#include <array>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "solvers/first_order/first_order_solver.h"
#include "solvers/registered_solver.h"

/// `spg`: spectral projected gradients (Birgin, Martínez and Raydan 2000, Algorithm SPG2; for contact Heyn et al. 2013)
/// on f(r) = ½ rᵀW r + (q + σ n)ᵀr over r ∈ K, with the shift σ of shift_rule.h:
///
///     p = P_K(r − α S⁻¹ g),  g = W r + q + σ n,  d = p − r           S, norms: contact_cones.h
///     λ = 1, or the minimiser −gᵀd/dᵀW d where f(r + d) > max of the last `memory` f + 1e-4 gᵀd
///     r⁺ = r + λ d,   W r⁺ + q = u + λ (W p + q − u)
///     α⁺ = ‖d‖²/dᵀW d (long) or dᵀW d/‖W d‖² (short; Barzilai and Borwein 1988), in turn with `step = alternate`
///
/// One product with W per iteration, W p; f along d is a parabola, so its exact minimiser takes the place of the
/// paper's safeguarded interpolation and passes the test at once (`guards`). Only differences of f are used, which
/// rounding of f does not reach. A renewed shift changes f: the memory begins anew.
///
/// α stays in [1/L, 1e6], L Gershgorin's bound of λ_max; dᵀW d ≤ 0, an unsymmetric W or a null direction, takes its
/// upper end. W may be unsymmetric: g is no gradient then, and where gᵀd ≥ 0 the full step is taken.
///
/// Departures: the metric S, so α begins at 1; the exact law (`law_form = associated` is that of the papers on contact).
namespace signorini {

enum class SpectralStep { long_step, short_step, alternate };
template <>
struct EnumNames<SpectralStep> {
  static constexpr std::array<std::pair<SpectralStep, std::string_view>, 3> value{
      {{SpectralStep::long_step, "long"},
       {SpectralStep::short_step, "short"},
       {SpectralStep::alternate, "alternate"}}};
};

struct SpgOptions {
  CommonOptions common;
  LawForm law_form = LawForm::exact;
  SpectralStep step = SpectralStep::alternate;
  int memory = 10;
  double inner = 10.0;

  template <class Visitor>
  void visit(Visitor& v) {
    common.visit(v);
    v("law_form", law_form, kLawFormHelp);
    v("step", step, "Barzilai-Borwein step: long, short, or one after the other (alternate)");
    v("memory", memory, "iterations whose largest objective a step has to stay below, 1 to 50; 1: monotone");
    v("inner", inner, kInnerHelp);
  }
  void validate() const;
};

class Spg : public RegisteredSolver<Spg, SpgOptions, FirstOrderSolver> {
 public:
  static constexpr std::string_view kName = "spg";
  static constexpr SolverTraits kTraits{.parallel = true};
  static constexpr int kMostMemory = 50;
  explicit Spg(const Options& options) : RegisteredSolver(options) {}

  void prepare_island(ReducedProblem problem, Vector mu) override;

 protected:
  Iteration start(std::span<double> r, const StopTest& stop) override;
  Iteration iterate(std::span<double> r) override;

 private:
  double step_length(double slope, double bend);
  void remember(double change);
  void choose_step(std::span<const double> r, double bend);

  ShiftRule shift_;
  std::vector<double> trial_, u_now_, u_trial_;  ///< 3m: p, W r + q, W p + q

  // of one solve
  std::array<double, kMostMemory> height_{};  ///< the last values of f above the present one, kg m²/s²
  int remembered_ = 0, newest_ = 0;
  double alpha_ = 1.0;
  bool short_next_ = false;
  bool fresh_ = true;
};

}  // namespace signorini
