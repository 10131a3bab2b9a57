#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "regions/region_partition.h"
#include "solvers/solver.h"

/// A solver on a whole problem or on its regions: solver, region mode and threads of a row of runs.csv.
namespace signorini {

struct RegionOptions {
  RegionMode mode = RegionMode::points;
  int threads = 1;
  double trace_megabytes = 256.0;  ///< iterates of a traced run that are kept at a time
  /// s. A solve of one region begins on one thread; the others join after this time. To wake them takes 20 to 100 µs, at
  /// most a tenth of this: a short solve is not slower with several threads than with one.
  double head_start = 1e-3;
};

class RegionSolver : public Solver {
 public:
  /// Of the prepared problem; mode none: all contacts in one region.
  virtual const RegionPartition& partition() const = 0;
  /// Whether every region is solved by itself.
  virtual bool solves_apart() const { return false; }
  /// Of the next solves, by region label; empty: `max_iterations` for all. Only where regions are solved
  /// apart.
  virtual void limit_iterations(std::span<const int> limits);
  /// Per region of the last solve; empty where regions are not solved apart.
  virtual std::span<const SolveReport> region_reports() const { return {}; }
  virtual std::span<const double> region_seconds() const { return {}; }
  /// Most threads that a loop of the last solve was shared among; 1 where the problem is too small for more. On a small
  /// problem it depends on the clock (`RegionTasks`, `RegionOptions::head_start`).
  virtual int threads_used() const { return 1; }
};

/// Base of decorators: forwards every call to another solver.
template <class Base>
class ForwardingSolver : public Base {
 public:
  explicit ForwardingSolver(std::unique_ptr<Solver> inner) : inner_(std::move(inner)) {}

  std::string_view name() const override { return inner_->name(); }
  std::string options() const override { return inner_->options(); }
  const CommonOptions& common() const override { return inner_->common(); }
  const SolverTraits& traits() const override { return inner_->traits(); }
  std::string unsupported_reason(const ContactProblem& problem) const override {
    return inner_->unsupported_reason(problem);
  }
  void use_arena(TaskArena* arena) override { inner_->use_arena(arena); }
  void prepare(const ContactProblem& problem) override { inner_->prepare(problem); }
  void update_contacts(const ContactProblem& problem) override { inner_->update_contacts(problem); }
  SolveReport solve(std::span<double> r, const StopRule& stop, IterationObserver* observer) override {
    return inner_->solve(r, stop, observer);
  }
  std::string choice(const ContactProblem& problem) const override { return inner_->choice(problem); }
  WorkAndSpan work_and_span(int cores) const override { return inner_->work_and_span(cores); }

 protected:
  std::unique_ptr<Solver> inner_;
};

/// The whole problem at once: mode none, on one thread, or mode points-inner, where the inner problem of
/// every iteration is solved region by region, as tasks.
///
/// Only solvers with the trait `inner_regions` take points-inner. The inner problem of `ica` couples contacts
/// by W_D = Hᵀ D⁻¹ H, which is block diagonal over the mass-point regions for every M (docs/theory.md,
/// Regions and islands), so the mode is exact where `points` is not. The sweep over M runs body by body. The
/// bits are those of mode none for any number of threads.
class UncutProblem : public ForwardingSolver<RegionSolver> {
 public:
  explicit UncutProblem(std::unique_ptr<Solver> inner, RegionOptions options = {RegionMode::none, 1});

  std::unique_ptr<Solver> fresh() const override;
  /// Also where the solver has no inner problem of this kind.
  std::string unsupported_reason(const ContactProblem& problem) const override;
  void prepare(const ContactProblem& problem) override;
  void update_contacts(const ContactProblem& problem) override;
  SolveReport solve(std::span<double> r, const StopRule& stop, IterationObserver* observer) override;
  const RegionPartition& partition() const override { return partition_; }
  int threads_used() const override { return arena_ ? arena_->busiest() : 1; }
  /// Mode none has one thread: serial, whatever the solver could do with more.
  WorkAndSpan work_and_span(int cores) const override {
    return options_.mode == RegionMode::none ? WorkAndSpan{1.0, 1.0, 1.0} : inner_->work_and_span(cores);
  }

 private:
  RegionOptions options_;
  std::unique_ptr<TaskArena> arena_;
  RegionPartition partition_;
};

/// The solver of a registry entry for a row of a table. Throws `UsageError` as `make_solver` does.
std::unique_ptr<RegionSolver> make_region_solver(std::string_view name, const OptionMap& options,
                                                 RegionOptions regions);
/// The same for a solver that is at hand.
std::unique_ptr<RegionSolver> with_regions(std::unique_ptr<Solver> solver, RegionOptions regions);

}  // namespace signorini
