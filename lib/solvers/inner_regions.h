#pragma once

#include <memory>
#include <string>

#include "base/parallel.h"
#include "regions/region_partition.h"
#include "solvers/solver.h"

/// Region mode points-inner: the whole problem is solved at once, and inside every iteration the part that
/// falls apart over the mass-point regions is solved region by region, as tasks.
///
/// `ica` alone has such a part: its inner problem couples contacts by B = Hᵀ D⁻¹ H with D block diagonal, and
/// B is block diagonal over the mass-point regions for every M (docs/theory.md, Regions and islands). So the
/// mode is exact where `points` is not; the rest of an iteration (the sweep over M) runs body by body. The
/// bits are those of mode none for any number of threads.
namespace signorini {

class InnerRegions : public Solver {
 public:
  InnerRegions(std::unique_ptr<Solver> inner, int threads);

  std::string_view name() const override { return inner_->name(); }
  std::string options() const override { return inner_->options(); }
  const CommonOptions& common() const override { return inner_->common(); }
  /// Also where the solver has no inner problem of this kind.
  std::string unsupported_reason(const ContactProblem& problem) const override;
  void prepare(const ContactProblem& problem) override;
  void update_contacts(const ContactProblem& problem) override;
  SolveReport solve(std::span<double> r, const StopRule& stop, IterationObserver* observer) override;

  /// The mass-point regions of the prepared problem.
  const RegionPartition& partition() const { return partition_; }

 private:
  std::unique_ptr<TaskArena> arena_;  // outlives the solver that uses it
  std::unique_ptr<Solver> inner_;
  RegionPartition partition_;
};

}  // namespace signorini
