#pragma once

#include <array>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "solvers/first_order/first_order_solver.h"
#include "solvers/registered_solver.h"

/// `fbf`: forward–backward–forward steps on the variational inequality of the exact law,
///
///     r ∈ K,  F(r)·(y − r) ≥ 0 for all y ∈ K,   F(r) = W r + q + μ s(u_T) n        (cone_projection.h)
///
///     z = P_K(x − τ S⁻¹ F(x)),   τ shortened until τ ‖F(x) − F(z)‖ ≤ ν ‖x − z‖     S, norms: contact_cones.h
///     g = x − z − τ S⁻¹(F(x) − F(z)),   x⁺ = x − κ g
///
/// `length = tseng`: κ = 1 (Tseng 2000, with X the whole space). `length = contraction`: the step that comes
/// nearest to the solutions, κ = γ (x − z)·g/‖g‖², γ = 1.8 (He 1997). The answer is z, which
/// lies in K. No objective, no outer loop: nothing but F is evaluated, and W may be unsymmetric.
///
/// Two products with W per iteration, W z and W x⁺, and one more for every shortened τ (`guards`). ν = 0.9; where
/// the ratio of both sides is below 0.4 the next τ is 1.5 times as long (He and Liao 2002). τ never falls below
/// ν/(L (1 + 2 μ)), L Gershgorin's bound: F has no larger Lipschitz constant for a symmetric W.
///
/// Convergence is proven for a monotone F. Coulomb's F is not monotone; where friction is strong the iteration may
/// cycle, and the status says so.
namespace signorini {

enum class FbfLength { tseng, contraction };
template <>
struct EnumNames<FbfLength> {
  static constexpr std::array<std::pair<FbfLength, std::string_view>, 2> value{
      {{FbfLength::tseng, "tseng"}, {FbfLength::contraction, "contraction"}}};
};

struct FbfOptions {
  CommonOptions common;
  FbfLength length = FbfLength::contraction;

  template <class Visitor>
  void visit(Visitor& v) {
    common.visit(v);
    v("length", length,
      "of the second step. contraction: towards the nearest solution (He 1997); tseng: 1 (Tseng 2000)");
  }
};

class Fbf : public RegisteredSolver<Fbf, FbfOptions, FirstOrderSolver> {
 public:
  static constexpr std::string_view kName = "fbf";
  static constexpr SolverTraits kTraits{.parallel = true};
  explicit Fbf(const Options& options) : RegisteredSolver(options) {}

  void prepare_island(ReducedProblem problem, Vector mu) override;

 protected:
  Iteration start(std::span<double> r, const StopTest& stop) override;
  Iteration iterate(std::span<double> r) override;

 private:
  struct Point {
    std::vector<double> r;      ///< 3m, N·s
    std::vector<double> u;      ///< 3m: W r + q, m/s
    std::vector<double> shift;  ///< m, m/s
  };
  void evaluate_at(Point& point);
  double predict();
  void correct();

  Point now_, trial_;         ///< x, z
  std::vector<double> pull_;  ///< 3m: F(x) − F(z), m/s
  double least_tau_ = 0.0;

  double tau_ = 1.0;  ///< of one solve
};

}  // namespace signorini
