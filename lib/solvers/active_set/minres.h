#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "solvers/active_set/cr.h"

/// `minres`: the minimal residual method in the place of conjugate residuals (Verschoor and Jalba 2019,
/// section 7). The recurrence: krylov/minimal_residuals.h; all else is that of `cr-diag`.
///
/// A change of states starts a new Lanczos process. With `switching = on-the-way` contacts change as for
/// cr-diag; where each contact changes by itself (`prediction = single`) the short processes in between may never
/// get anywhere (the paper saw failures): the status then says iteration_limit. With `converged` states are frozen
/// until the linear system is solved.
namespace signorini {

enum class MinresSwitching { automatic, converged, on_the_way };
template <>
struct EnumNames<MinresSwitching> {
  static constexpr std::array<std::pair<MinresSwitching, std::string_view>, 3> value{
      {{MinresSwitching::automatic, "auto"},
       {MinresSwitching::converged, "converged"},
       {MinresSwitching::on_the_way, "on-the-way"}}};
};

struct MinresOptions : CrDiagOptions {
  MinresSwitching switching = MinresSwitching::automatic;
  template <class Visitor>
  void visit(Visitor& v) {
    common.visit(v);
    v("prediction", prediction, kPredictionHelp);
    v("patience", patience, kPatienceHelp);
    v("judge", judge, kJudgeHelp);
    v("switching", switching,
      "converged: states change only where the linear system is solved; on-the-way: also before, at the "
      "intervals of cr-diag; auto: on-the-way with prediction = coupled, converged with single");
  }
  void validate() const { CrOptions::validate("solver 'minres'"); }
};

class Minres : public RegisteredSolver<Minres, MinresOptions, SwitchingResiduals> {
 public:
  static constexpr std::string_view kName = "minres";
  static constexpr SolverTraits kTraits{.needs = SolverNeeds::mass, .parallel = true};
  explicit Minres(const Options& options);

 protected:
  StateInterval interval() const override;
};

}  // namespace signorini
