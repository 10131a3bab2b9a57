#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "solvers/global_newton/contact_matrix.h"
#include "solvers/global_newton/sap_cone.h"
#include "solvers/global_newton/velocity_newton.h"
#include "solvers/registered_solver.h"

/// `sap`: the semi-analytic primal solver of Castro, Permenter and Han (2022), "An Unconstrained Convex
/// Formulation of Compliant Contact". Newton's method on velocities alone; impulses follow from them:
///
///     minimise over v:  ½ ‖v − v_free‖²_M + ½ Σ_k ‖γ_k‖²_{R_k},   γ_k = P_K(y_k) in the norm of R_k (sap_cone.h)
///     y_k = r°_k − R_k⁻¹ (u_k + σ_k n),   R_N = β² w/(4π²),  R_T = σ w,   w: root mean square of W_kk
///     Hessian M + H G Hᵀ (contact_matrix.h), symmetric positive definite; line search along every step
///
/// `law_form = model`: the paper, r° = 0 and no shift: near-rigid contact with regularised friction, in which sliding
/// bodies lift off (u_N = μ ‖u_T‖ − R_N γ_N). It ends by the paper's rule, ‖D ∇ℓ‖ ≤ ε_r max(‖D M v‖, ‖D H γ‖), D =
/// diag(M)^(−1/2); how far its answer is from Coulomb's law is the residual that the report tells.
///
/// `law_form = exact`: the same minimisation again and again, each from the answer of the last one: r° ← γ, the
/// proximal term of the augmented Lagrangian method, removes the compliance, and the shift of De Saxcé μ ‖u_T‖ in
/// the normal velocity, held fixed in between, removes the lift. The first minimisation is the model's. A fixed
/// point solves Coulomb's law; the iteration on the shift contracts by about μ²/(1 + μ²), nothing makes it. A
/// minimisation ends where its momentum error is `forcing` times the error of the law. Where that error creeps down
/// from one to the next, R is quartered; where it grows, R returns towards the model's.
///
/// One iteration is one Newton step: one factorisation. The cone only.
///
/// Departures. Gaps and restitution are in w here, so the paper's v̂ is −w, without the factor dt/(dt + τ_d) of its
/// dissipation; β is that of the near-rigid regime, stiffness is none of the problem's data. w takes λ_max(W_TT)
/// for both tangents.
namespace signorini {

enum class SapLaw { exact, model };
template <>
struct EnumNames<SapLaw> {
  static constexpr std::array<std::pair<SapLaw, std::string_view>, 2> value{
      {{SapLaw::exact, "exact"}, {SapLaw::model, "model"}}};
};

enum class SapLineSearch { exact, backtracking };
template <>
struct EnumNames<SapLineSearch> {
  static constexpr std::array<std::pair<SapLineSearch, std::string_view>, 2> value{
      {{SapLineSearch::exact, "exact"}, {SapLineSearch::backtracking, "backtracking"}}};
};

struct SapOptions {
  CommonOptions common;
  SapLaw law_form = SapLaw::exact;
  double beta = 1.0;
  double sigma = 1e-3;
  double eps_r = 1e-6;
  double forcing = 0.5;
  SapLineSearch line_search = SapLineSearch::exact;
  Judge judge = Judge::exact;

  template <class Visitor>
  void visit(Visitor& v) {
    common.visit(v);
    v("law_form", law_form,
      "exact: Coulomb's law, by an outer loop around the convex model; model: the convex model of the paper, "
      "which "
      "ends by its own rule whatever its distance from Coulomb's law");
    v("beta", beta,
      "compliance of the normal: R_N = beta^2/(4 pi^2) w, w the effective inverse mass of the contact");
    v("sigma", sigma, "regularisation of friction: R_T = sigma w");
    v("eps_r", eps_r, "law_form = model: momentum error at the end, relative");
    v("forcing", forcing,
      "law_form = exact: a minimisation ends where its momentum error is this times the error of the law");
    v("line_search", line_search,
      "exact: minimum of the cost along the step, at most 1.5 times as long; backtracking: by 0.8 from there "
      "to "
      "Armijo's condition");
    v("judge", judge, kJudgeHelp);
  }
  void validate() const;
};

class Sap : public RegisteredSolver<Sap, SapOptions, VelocityNewton> {
 public:
  static constexpr std::string_view kName = "sap";
  static constexpr SolverTraits kTraits{.needs = SolverNeeds::mass, .pyramid = false};
  explicit Sap(const Options& options) : RegisteredSolver(options) {}

  void prepare(const ContactProblem& problem) override;

 protected:
  Iteration start(std::span<double> r, const StopTest& stop) override;
  Iteration iterate(std::span<double> r) override;
  LoopEnd settle(std::span<double> r) override;
  bool ends_by_residual() const override { return !by_model_; }
  bool keeps_best() const override { return !by_model_; }
  std::string_view paper_rule() const override { return "paper's model"; }

 private:
  bool is_exact() const { return options_.law_form == SapLaw::exact; }
  void begin(std::span<const double> r);
  void respond(std::span<const double> r);
  void start_outer_loop(std::span<const double> r);
  void find_shift();
  void find_impulses();
  void find_errors();
  bool step();
  double search();
  double search_exactly(double slope, double curvature);
  double search_backwards(double slope, double curvature);
  struct Along {
    double cost = 0.0, slope = 0.0, curvature = 0.0;
  };
  Along contacts_along(double t) const;
  void move_centre();
  void adapt_regularisation();
  bool meets_paper_rule() const;
  Vector3 pushed(Index k, const Vector3& u) const;

  ContactMatrix matrix_;
  std::vector<ConeRegularisation> R_;    ///< the model's; 0 for contacts that nothing moves
  std::vector<ConeRegularisation> now_;  ///< `share_` of it
  std::vector<double> mu_;               ///< 0 where nothing moves the tangents
  std::vector<Matrix3> G_;
  std::vector<double> dv_;                  ///< n, m/s: the step
  std::vector<double> du_;                  ///< 3m, m/s
  std::vector<double> gamma_;               ///< 3m, N·s
  std::vector<double> mass_y_, mass_dv_;    ///< M y, M dv
  std::vector<double> impulse_, gradient_;  ///< H γ, M y − H γ
  std::vector<double> scaled_;              ///< n, D⁻¹ ∇ℓ
  std::vector<double> free_momentum_;       ///< M v_free
  std::vector<double> root_;                ///< diag(M)^(−1/2)
  std::vector<double> centre_;              ///< r°, 3m
  std::vector<double> shift_;               ///< m, m/s
  std::vector<double> best_r_;

  // of one solve
  enum class Stage { going, last, ended };
  Stage stage_ = Stage::going;
  bool by_model_ = false;       ///< the model's rule ends the run
  double least_ = 0.0;          ///< residual of the best iterate, m/s
  double share_ = 1.0;          ///< R of the present minimisation over the model's
  double last_residual_ = 0.0;  ///< at the end of the last one, m/s
  int steps_ = 0;               ///< Newton steps of this one
};

}  // namespace signorini
