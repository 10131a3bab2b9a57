#pragma once

#include <string>
#include <vector>

#include "contact/friction_state.h"
#include "harness/protocols.h"

/// What a replay shows of a solver on a snapshot. All of it is the referee's (contact/residuals.h), nothing the solver's
/// own.
namespace signorini {

struct ReplayAnswer {
  SolveStatus status = SolveStatus::failed;
  int iterations = 0;
  double residual = Residuals::kUnmeasured;  ///< the largest of `errors`
  std::string message;
  // empty without an answer; m contacts
  Vector r;                    ///< 3m, N·s
  Vector u;                    ///< 3m, m/s
  std::vector<double> errors;  ///< m, unit-free
  std::vector<FrictionState> states;
  /// Residuals of the contacts after iterations `at`, ascending, the last those of the answer. Empty where no solver ran.
  std::vector<int> at;
  std::vector<std::vector<double>> errors_at;
};

/// A traced curve has at most so many iterates, start and end included.
inline constexpr int kReplayIterates = 30;

/// 0, 1, 2, 3, 4, 6, 8, 11, … up to `last`: equally far apart on a logarithmic axis, ascending, at most `kReplayIterates` − 1.
std::vector<int> replay_schedule(int last);

/// Protocol self-stopped, with the residuals of all contacts kept on the way.
ReplayAnswer solve_for_replay(const RunTarget& target, const SolverVariant& variant, const RunLimits& limits);

/// Impulses that were recorded, judged as an answer by `law`.
ReplayAnswer recorded_answer(const RunTarget& target, const Vector& impulse, LawSpec law, double tolerance);

}  // namespace signorini
