#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "solvers/registered_solver.h"

/// `reference`: accurate impulses, whatever they cost. Four other solvers in turn, until one meets the residual:
///
///     prox-newton    proximal Newton on impulses; alone it meets 1e-12 on nearly all problems of solids and of few bodies
///     auto           sweeps and Newton steps of several kinds; where full steps pass and proximal ones do not
///     body-newton    Newton on velocities; needs M
///     sap            convex steps on velocities, for stacks whose contacts are redundant; needs M, cone only
///
/// In the first round each begins with the start values: what another found may lead it astray. In later rounds each begins with
/// the best impulses so far, for kMoreIterations times as many iterations. The solve is stuck when a round has not halved the
/// residual. The answer is the best of all stages.
///
/// An iteration is one of theirs. How accurate the answer really is says the referee (contact/residuals.h), which shares no code
/// with the four. With μ = 0 it is the projection of the free velocity on the admissible velocities in the metric of M.
/// A run of a fixed number of iterations is one of `prox-newton`. Later stages are made and prepared when their turn comes, and
/// allocate then.
namespace signorini {

class Stages;

struct ReferenceOptions {
  CommonOptions common;

  template <class Visitor>
  void visit(Visitor& v) {
    common.visit(v);
  }
};

class Reference : public RegisteredSolver<Reference, ReferenceOptions, Solver> {
 public:
  static constexpr std::string_view kName = "reference";
  static constexpr SolverTraits kTraits{.needs = SolverNeeds::either,
                                        .parallel = true,
                                        .phases = {"prox-newton", "auto", "body-newton", "sap"}};
  static constexpr int kMoreIterations = 4;
  explicit Reference(const Options& options);

  std::string unsupported_reason(const ContactProblem& /*problem*/) const override { return ""; }
  void use_arena(TaskArena* arena) override;
  void prepare(const ContactProblem& problem) override;
  double largest_free_velocity() const override;
  SolveReport solve(std::span<double> r, const StopRule& stop, IterationObserver* observer) override;

 private:
  static constexpr std::size_t kStages = kTraits.phases.size();
  class Course;
  struct Stage {
    std::unique_ptr<Solver> solver;
    bool serves = false;  ///< the problem and the law
    bool ready = false;
  };
  void make(std::size_t stage);
  bool take(std::size_t stage, int round, Course& course);

  const ContactProblem* problem_ = nullptr;
  std::array<Stage, kStages> stages_;
  std::vector<double> start_, best_, found_;  ///< 3m, N·s
  double best_residual_ = 0.0;
  std::size_t best_stage_ = 0;
};

}  // namespace signorini
