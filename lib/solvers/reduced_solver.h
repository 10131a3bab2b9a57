#pragma once

#include <memory>
#include <string>

#include "contact/delassus_operator.h"
#include "solvers/solver.h"

/// A solver that reads nothing of a problem but u = W r + q and μ.
///
/// W and q of many regions cost little more than those of the whole problem when they are assembled together
/// and cut apart, and a region of a few contacts is not worth parsing options for: this is what `RegionTasks`
/// needs to do both.
namespace signorini {

class ReducedSolver : public Solver {
 public:
  /// `prepare` assembles W and q in parallel.
  void use_arena(TaskArena* arena) override { arena_ = arena; }
  /// The same solver with the same options, nothing prepared.
  virtual std::unique_ptr<ReducedSolver> fresh() const = 0;
  /// Like `unsupported_reason`, for a problem of one island.
  virtual std::string island_refusal(Index /*contacts*/) const { return ""; }
  /// Like `prepare`, for a problem of one island: all its contacts hang together through W.
  virtual void prepare_island(ReducedProblem problem, Vector mu) = 0;

 protected:
  TaskArena* arena() const { return arena_; }

 private:
  TaskArena* arena_ = nullptr;
};

}  // namespace signorini
