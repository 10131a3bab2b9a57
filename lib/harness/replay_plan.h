#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/solve_plan.h"
#include "record/recording_file.h"

/// What `signorini replay` is asked for, and which frames and answers that means.
namespace signorini {

/// Bytes of a replay before compression that a browser still opens at once.
inline constexpr double kLargestReplay = 64.0e6;

struct ReplayRequest {
  std::string file = {};
  std::string steps = {};  ///< see `frames_in`
  int every = 1;           ///< every how many of them
  std::vector<std::string> solvers =
      {};                           ///< in lists; `kRecordedAnswer` among them; empty: see `plan_replay`
  SolveRequest solve = {};          ///< plugins, settings and limits of the solvers
  double largest = kLargestReplay;  ///< bytes
};

/// In the place of a solver's name: the impulses that the solver which drove the scene answered.
inline constexpr const char* kRecordedAnswer = "recorded";

struct ReplayPlan {
  std::vector<std::string> frames;  ///< ids, ascending
  /// In the order asked for; nothing stands for `kRecordedAnswer`.
  std::vector<std::optional<SolverVariant>> answers;
  RunLimits limits;
};

/// The ids that `steps` names: "A:B" from step A to step B, both included, "A:", ":B", "A" with all its solves, "A.2" its
/// second solve, or a list of these with commas; "" names all. Throws `UsageError` for a text of another form and where
/// there is no such frame.
std::vector<std::string> frames_in(const std::vector<std::string>& ids, const std::string& steps,
                                   const std::string& file);

/// Without solvers: the recorded impulses where the first frame with contacts has them, else `auto`. Throws `UsageError` for names and
/// numbers that make no sense, and where the frames hold more than `largest` bytes: the line says what to choose.
ReplayPlan plan_replay(const ReplayRequest& request, const RecordingReader& reader);

}  // namespace signorini
