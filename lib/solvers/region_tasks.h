#pragma once

#include <memory>

#include "solvers/region_solver.h"

/// Decorator: any solver on the detached regions of a problem, each region an independent oneTBB task.
///
/// Regions start in descending order of predicted cost, small ones in batches (region_schedule.h). Every
/// region stops by the global velocity scale U, so the assembled r meets the asked residual. Every region has
/// its own solver instance and its result depends on nothing but the region: the bits are the same for any
/// number of threads. A region that holds most of the problem is solved by several threads where its solver is
/// `parallel`.
///
/// The assembled report: the worst status of all regions (with the message of the first region that has it),
/// the most iterations of any region, and products Σ c_R p_R / Σ c_R with c_R the blocks of the region's W
/// and p_R its products, which compares with the products of an unsplit solve. A region that its solver
/// cannot take makes the status `unsupported`; an error while one is prepared is thrown with the region's
/// name in front.
namespace signorini {

class RegionTasks : public RegionSolver {
 public:
  /// `prototype`: every region is solved by a fresh copy of it.
  RegionTasks(std::unique_ptr<Solver> prototype, RegionOptions options);
  ~RegionTasks() override;

  std::string_view name() const override;
  std::string options() const override;
  const CommonOptions& common() const override;
  const SolverTraits& traits() const override;
  std::unique_ptr<Solver> fresh() const override;
  std::string unsupported_reason(const ContactProblem& problem) const override;
  /// Partitions, extracts and prepares every region (in parallel).
  void prepare(const ContactProblem& problem) override;
  /// With an observer every region is traced and the assembled iterates are replayed: after k iterations a
  /// region that stopped earlier shows its final values. Iterates kept at a time stay within
  /// `trace_megabytes`; a longer run is solved again for the next window of iterations.
  SolveReport solve(std::span<double> r, const StopRule& stop, IterationObserver* observer) override;

  /// After `prepare`, of the same problem: that of the costliest region where each has its own.
  std::string choice(const ContactProblem& problem) const override;

  /// Tasks of regions, of predicted cost in blocks of W, side by side, an iteration each; those regions that get the threads
  /// for themselves one after the other before them, as their solvers count.
  WorkAndSpan work_and_span(int cores) const override;

  bool solves_apart() const override { return true; }
  const RegionPartition& partition() const override;
  void limit_iterations(std::span<const int> limits) override;
  std::span<const SolveReport> region_reports() const override;
  std::span<const double> region_seconds() const override;
  int threads_used() const override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace signorini
