#pragma once

#include <array>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "krylov/krylov_method.h"
#include "solvers/active_set/saddle_system.h"
#include "solvers/mass_solver.h"
#include "solvers/thresholds.h"

/// Krylov iterations on velocities and impulses together while contacts change their states: what conjugate
/// residuals, MINRES and staggered projections have in common. One iteration is one step of the Krylov method and
/// costs one product with M.
///
/// After each step: where the system is solved, the states are evaluated as those of a converged state
/// (`when_solved`); else, where `interval` says so and only after steps with α > 0 (docs/theory.md, C39), as
/// those on the way, where changes whose gate is below `postpone` times the residual of the system wait: they are
/// below the current velocity error, and every restart discards the conjugate directions. After any change the
/// method restarts.
namespace signorini {

/// Iterations between evaluations of the states (docs/theory.md, C40), from the ratio x of the residual to the
/// tolerance; or growing (ours): 1 (Full) or 4 (Diag) after an evaluation that changed anything, else two more
/// than the last.
enum class StateInterval { automatic, growing, log2, log10_squared, ln_squared, every, converged };
template <>
struct EnumNames<StateInterval> {
  static constexpr std::array<std::pair<StateInterval, std::string_view>, 7> value{
      {{StateInterval::automatic, "auto"},
       {StateInterval::growing, "growing"},
       {StateInterval::log2, "log2"},
       {StateInterval::log10_squared, "log10-squared"},
       {StateInterval::ln_squared, "ln-squared"},
       {StateInterval::every, "every"},
       {StateInterval::converged, "converged"}}};
};
/// ⌊log2(x)/3⌋, ⌊log10(x)²/3⌋, ⌊ln(x)²/3⌋ and at least 1; `converged`: never on the way; `growing`: 1.
int iterations_between(StateInterval kind, double ratio);

/// Watches a positive number that should halve again and again.
class Halving {
 public:
  void begin(double value, int iteration) {
    value_ = value;
    since_ = iteration;
  }
  bool overdue(double value, int iteration, int patience) {
    if (value < 0.5 * value_) begin(value, iteration);
    return iteration - since_ > patience;
  }

 private:
  double value_ = std::numeric_limits<double>::infinity();
  int since_ = 0;
};

class ActiveSetSolver : public MassSolver {
 public:
  /// The next solve starts from the velocities of the last one.
  void update_contacts(const ContactProblem& problem) override;

 protected:
  explicit ActiveSetSolver(std::unique_ptr<KrylovMethod> method) : method_(std::move(method)) {}

  void prepare_system(const ContactProblem& problem, FrictionLaw law, Judge judge, EndsBy end,
                      const StateRules& rules, bool scale_duplicates, const ContactBlockOptions& blocks = {});
  /// Start values into the system; `full`: the block preconditioner.
  void begin(std::span<const double> r, bool full);
  Iteration iterate(std::span<double> r) override;
  LoopEnd settle(std::span<double> r) override;
  IterationProgress progress() override;
  const SolveCounters& counters() override;

  /// Before the first step.
  virtual void begin_iterations() = 0;
  /// Whether the linear system is solved to what is asked of it.
  virtual bool solved() = 0;
  /// What follows then, and where nothing moves any more: other states, another system, or the end.
  virtual LoopEnd when_solved() = 0;
  /// Measures against stagnation; true when one of them changed anything.
  virtual bool lose_patience();
  /// Of states on the way: the interval, and m/s: the tolerance that the residual is compared with.
  virtual StateInterval interval() const = 0;
  virtual double state_tolerance() const = 0;
  double gate_on_the_way() const { return std::max(state_tolerance(), postpone_ * saddle_.residual); }

  SaddleSystem saddle_;
  std::unique_ptr<KrylovMethod> method_;
  double postpone_ = 1.0;
  bool wait_for_descent_ = true;  ///< evaluate states only after steps with α > 0

  // of one solve
  int iterations_ = 0;
  double estimate_ = 0.0;    ///< of the last iterate, m/s
  bool stuck_ = false;       ///< no step moves anything
  long long fallbacks_ = 0;  ///< taken by the solver itself; count as guards

 private:
  bool evaluation_is_due() const;
  bool evaluate_on_the_way();

  std::vector<double> start_;  ///< n: velocities that solves start from
  bool belong_ = false;        ///< they are those of the last answer
  /// n: at the beginning of the step, or empty. Solves from impulses r ≠ 0 start there where M is not factored.
  std::vector<double> previous_;
  bool fresh_ = true;
  KrylovStep step_;
  Halving linear_;
  int shortest_interval_ = 1;  ///< growing: iterations, after a change
  int interval_length_ = 1;    ///< growing: iterations
  int next_evaluation_ = 1;    ///< growing: iteration
};

}  // namespace signorini
