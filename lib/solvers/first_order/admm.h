#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "solvers/first_order/admm_iteration.h"
#include "solvers/first_order/first_order_solver.h"
#include "solvers/first_order/pencil_factor.h"
#include "solvers/registered_solver.h"

/// `admm`: the iteration of admm_iteration.h on u = W r + q (dual form). The matrix W + t S is factored
/// (pencil_factor.h), symmetric or not; an iteration is one solve with that factor (`triangular_solves`) and no
/// product with W. The exact error costs a product and is measured where the estimate promises enough.
namespace signorini {

struct AdmmOptions {
  CommonOptions common;
  AdmmSettings admm;

  template <class Visitor>
  void visit(Visitor& v) {
    common.visit(v);
    admm.visit(v);
  }
  void validate() const { admm.validate("admm"); }
};

/// (W + t S)⁻¹ from W. Rows that never carry an impulse are cut out.
class DelassusResolvent : public Resolvent {
 public:
  /// All must outlive the use.
  void prepare(const BlockSparseMatrix& W, std::span<const double> q, const ContactCones& cones);

  std::span<const double> free_velocity() const override { return q_; }
  bool factor_first(double t) override { return factor_.factor_first(t); }
  bool factor(double t) override { return factor_.factor(t); }
  void use_first() override { factor_.use_first(); }
  const PencilFactor& pencil() const { return factor_; }
  double smallest_exact() const override { return 0.0; }
  void apply(double t, std::span<const double> c, std::span<double> impulse,
             std::span<double> velocity) override;

 private:
  std::span<const double> q_;
  const ContactCones* cones_ = nullptr;
  PencilFactor factor_;
};

class Admm : public RegisteredSolver<Admm, AdmmOptions, FirstOrderSolver> {
 public:
  static constexpr std::string_view kName = "admm";
  static constexpr SolverTraits kTraits{};
  explicit Admm(const Options& options) : RegisteredSolver(options) {}

  void prepare_island(ReducedProblem problem, Vector mu) override;

 protected:
  Iteration start(std::span<double> r, const StopTest& stop) override;
  Iteration iterate(std::span<double> r) override { return iteration_.iterate(r); }

 private:
  DelassusResolvent resolvent_;
  AdmmIteration iteration_;
  std::vector<double> u_start_;  ///< 3m, m/s
};

}  // namespace signorini
