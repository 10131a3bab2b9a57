#pragma once

#include <string>
#include <vector>

#include "contact/contact_problem.h"
#include "solvers/solver.h"

/// The solver inside a time step: one contact problem, a cold restart where a warm start fails, and what to
/// think of the answer.
namespace signorini {

/// How the solver is told of the problem: `whole` as a new one, `contacts` as the last one with other
/// contacts (Solver::update_contacts).
enum class Preparation { whole, contacts };

struct DrivenSolve {
  SolveReport report;      ///< of the last attempt
  int iterations = 0;      ///< of both
  bool restarted = false;  ///< the warm start failed, and the problem was solved again from zero
  /// The impulses are finite, and the solver converged or its own residual is at most the accepted one.
  bool accepted = false;

  /// "solver 'pgs' ends as stalled with residual 2.00e-03 on 12 contacts (accepted: 1e-04)"
  std::string failure(const Solver& solver, const ContactProblem& problem, double accepted_residual) const;
};

/// Solves `problem` from its warm start; `impulses`: 3 per contact, resized. A restart starts from nothing
/// that the failed attempt left in the solver. Throws `UsageError` naming step `step` when the solver does
/// not take such problems, `Cancelled` when the flag of `stop` was raised meanwhile.
DrivenSolve drive(Solver& solver, const ContactProblem& problem, Preparation preparation,
                  const StopRule& stop, double accepted_residual, long long step,
                  std::vector<double>& impulses);

}  // namespace signorini
