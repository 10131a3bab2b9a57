#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "solvers/first_order/admm_iteration.h"
#include "solvers/first_order/contact_cones.h"
#include "solvers/first_order/pencil_factor.h"
#include "solvers/mass_solver.h"
#include "solvers/registered_solver.h"

/// `admm-global`: the iteration of admm_iteration.h on M v = H r + f (global form); W is never formed. The first line
/// of the iteration is the same r̂ from a sparse factor of the size of M:
///
///     (M + H S⁻¹ Hᵀ/t) dv = H S⁻¹ (c − q)/t,   u = q + Hᵀ dv,   r̂ = S⁻¹ (c − u)/t
///
///     M + H S⁻¹ Hᵀ/t: n×n [kg]     dv = v − v_free: n [m/s]     q = Hᵀ v_free + w, u: 3m [m/s]
///
/// since M dv = H r̂ by construction. With the same ρ and η both forms make the same iterates up to rounding. The
/// dual form is cheaper where contacts are few or W is sparse; this one where bodies are deformable and touch often:
/// H S⁻¹ Hᵀ adds to M the couplings of bodies in contact only.
///
/// An iteration is one solve with that factor (`triangular_solves`) and two products with H. With `judge = exact` M is
/// factored too: S has the true diagonal blocks of W, and the exact error, one solve with M, ends the solve. `judge =
/// own`: S has the blocks of W_D (primal_system.h), and the estimate of admm_iteration.h ends it.
namespace signorini {

struct AdmmGlobalOptions {
  CommonOptions common;
  AdmmSettings admm;
  Judge judge = Judge::exact;

  template <class Visitor>
  void visit(Visitor& v) {
    common.visit(v);
    admm.visit(v);
    v("judge", judge, kJudgeHelp);
  }
  void validate() const { admm.validate("admm-global"); }
};

/// (W + t S)⁻¹ by way of velocities.
class MassResolvent : public Resolvent {
 public:
  /// Both must outlive the use.
  void prepare(const PrimalSystem& system, const ContactCones& cones);

  std::span<const double> free_velocity() const override { return q_; }
  bool factor_first(double t) override;
  bool factor(double t) override { return factor_.factor(1.0 / t); }
  void use_first() override { factor_.use_first(); }
  /// r̂ = S⁻¹ (c − u)/t: two numbers of size U may cancel.
  double smallest_exact() const override { return 1.0; }
  void apply(double t, std::span<const double> c, std::span<double> impulse,
             std::span<double> velocity) override;

 private:
  const PrimalSystem* system_ = nullptr;
  const ContactCones* cones_ = nullptr;
  PencilFactor factor_;
  std::vector<double> q_;   ///< 3m, m/s
  std::vector<double> dv_;  ///< n; N·s, then m/s
};

class AdmmGlobal : public RegisteredSolver<AdmmGlobal, AdmmGlobalOptions, MassSolver> {
 public:
  static constexpr std::string_view kName = "admm-global";
  static constexpr SolverTraits kTraits{.needs = SolverNeeds::mass};
  explicit AdmmGlobal(const Options& options) : RegisteredSolver(options) {}

  void prepare(const ContactProblem& problem) override;

 protected:
  Iteration start(std::span<double> r, const StopTest& stop) override;
  Iteration iterate(std::span<double> r) override;

 private:
  void respond(std::span<const double> r);

  ContactCones cones_;
  MassResolvent resolvent_;
  AdmmIteration iteration_;
  std::vector<double> u_start_, u_added_;  ///< 3m, m/s: q + Hᵀ M⁻¹ H r of the start, its second term
  std::vector<double> response_;           ///< n, m/s: M⁻¹ H r of the start
};

}  // namespace signorini
