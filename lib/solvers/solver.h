#pragma once

#include <array>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/cancellation.h"
#include "base/options.h"
#include "base/parallel.h"
#include "contact/contact_problem.h"
#include "contact/delassus_operator.h"
#include "contact/friction_law.h"
#include "solvers/work_and_span.h"

/// A `Solver` solves one `ContactProblem`: first `prepare`, then `solve`.
///
///     solver->prepare(problem)             setup: Delassus operator, factors, workspaces; timed apart
///     solver->solve(r, stop, observer)     iterations; allocates nothing; may be called again
///
/// Its traits say what it needs of a problem and what it can do. New solvers derive from `DelassusSolver`
/// (delassus_solver.h: u = W r + q) or from `MassSolver` (mass_solver.h: M v = H r + f) and leave `solve` to
/// the loop of iterative_solver.h. lib/solvers/README.md is the map of this folder.
namespace signorini {

enum class SolveStatus {
  converged,  ///< a stop rule that promises accuracy was met
  iteration_limit,
  time_limit,
  stalled,  ///< no progress is possible any more above the tolerance
  diverged,
  unsupported,  ///< the solver cannot take this problem; `message` says why
  failed        ///< setup or arithmetic broke down; `message` says where
};
template <>
struct EnumNames<SolveStatus> {
  static constexpr std::array<std::pair<SolveStatus, std::string_view>, 7> value{
      {{SolveStatus::converged, "converged"},
       {SolveStatus::iteration_limit, "iteration_limit"},
       {SolveStatus::time_limit, "time_limit"},
       {SolveStatus::stalled, "stalled"},
       {SolveStatus::diverged, "diverged"},
       {SolveStatus::unsupported, "unsupported"},
       {SolveStatus::failed, "failed"}}};
};

struct StopRule {
  /// Stop when the residual (contact/residuals.h) is ≤ this; 0 switches the rule off. Unit-free.
  double residual = 1e-6;
  int max_iterations = 10000;  ///< sweeps, CG steps, outer iterations: whatever the solver calls an iteration
  double time_limit = std::numeric_limits<double>::infinity();  ///< s, checked between iterations
  /// Raised: the solve ends as if out of time. Null: nobody cancels.
  const CancelFlag* cancelled = nullptr;
  /// U in m/s that the residual is relative to; 0 = max|q| of the problem handed to `prepare`. Regions get
  /// the U of the whole problem, so that the assembled r meets the asked residual: the residual is a maximum
  /// over contacts.
  double velocity_scale = 0.0;
  /// The answer is the last iterate although an earlier one had a smaller error: for solves inside another iteration, which
  /// would stand still otherwise.
  bool take_last = false;
  /// Switches off everything but max_iterations and time_limit (traced and fixed-count runs).
  bool fixed_iterations = false;
};

/// The work of one solve, counted by the solver; unit-free. What a solver does not do stays 0.
struct SolveCounters {
  long long mass_products = 0;       ///< products with M; a block sweep over M counts as one
  long long direction_products = 0;  ///< products with H or with its transpose
  long long contact_sweeps = 0;      ///< sweeps over all contacts, inner ones included (the region with most)
  long long triangular_solves = 0;  ///< solves with a factor of M or M + H C Hᵀ (two triangles count as one)
  long long factorisations = 0;     ///< of matrices during the solve
  long long evaluations = 0;        ///< evaluations of the states of all contacts
  long long state_changes = 0;      ///< contacts that changed state (on, off, sticking, sliding)
  long long restarts = 0;           ///< conjugate directions given up
  long long guards = 0;             ///< breakdowns met and mended, fallbacks taken
  long long relinearisations = 0;   ///< changes of rows during a solve; passes of staggered
                                    ///< projections; minimisations of `sap`

  SolveCounters& operator+=(const SolveCounters& other) {
    mass_products += other.mass_products;
    direction_products += other.direction_products;
    contact_sweeps += other.contact_sweeps;
    triangular_solves += other.triangular_solves;
    factorisations += other.factorisations;
    evaluations += other.evaluations;
    state_changes += other.state_changes;
    restarts += other.restarts;
    guards += other.guards;
    relinearisations += other.relinearisations;
    return *this;
  }
};

/// What a solver tells of an iteration. Maximum norms in m/s; NaN where a solver has no such quantity
/// (Verschoor 2019, Fig. 6 plots the three).
struct IterationProgress {
  double plain =
      std::numeric_limits<double>::quiet_NaN();  ///< max(|D⁻¹ ρ_v|, |ρ_c|) of the system being solved
  double preconditioned =
      std::numeric_limits<double>::quiet_NaN();  ///< velocity part of P⁻¹ρ, P the preconditioner
  double constraint =
      std::numeric_limits<double>::quiet_NaN();  ///< |ρ_c|: relative velocity left in active rows
  SolveCounters counters;                        ///< so far
};

/// What a solver needs of a problem, and what it can do with it.
enum class SolverNeeds {
  mass,      ///< M and H: solves for velocities
  delassus,  ///< W, q and μ, which are assembled from M and H where the problem has no W
  either     ///< takes the problem as it is
};
template <>
struct EnumNames<SolverNeeds> {
  static constexpr std::array<std::pair<SolverNeeds, std::string_view>, 3> value{
      {{SolverNeeds::mass, "mass"}, {SolverNeeds::delassus, "delassus"}, {SolverNeeds::either, "either"}}};
};

struct SolverTraits {
  static constexpr std::size_t kMostPhases = 4;

  SolverNeeds needs = SolverNeeds::delassus;
  bool cone = true;            ///< serves law = cone
  bool pyramid = true;         ///< serves law = pyramid
  bool parallel = false;       ///< `solve` uses the arena; `prepare` of any solver may
  bool inner_regions = false;  ///< serves region mode points-inner
  /// Names of the kinds of iterations that it tells apart; "" where there are fewer.
  std::array<std::string_view, kMostPhases> phases{};
};

struct SolveReport {
  SolveStatus status = SolveStatus::failed;
  int iterations = 0;  ///< with regions: the maximum over regions
  std::array<int, SolverTraits::kMostPhases>
      phase_iterations{};  ///< of `iterations`, by `SolverTraits::phases`
  long long products = 0;  ///< products with the whole of W (or M), sweeps included
  SolveCounters counters;
  double own_residual =
      std::numeric_limits<double>::quiet_NaN();  ///< what the solver believes; never plotted
  std::string message;
};

/// Sees every iterate of a traced run. Never attached to a timed run.
class IterationObserver {
 public:
  virtual ~IterationObserver() = default;
  /// After iteration `iteration` (1, 2, …; 0 = the start) with the whole r (3m). `phase`: "", "cg", "gs", …
  virtual void on_iteration(int iteration, std::span<const double> r, std::string_view phase) = 0;
  /// Before `on_iteration` of the same iteration, by solvers that have something to say.
  virtual void on_progress(int iteration, const IterationProgress& progress) {
    (void)iteration;
    (void)progress;
  }
};

/// Options that all solvers share; embedded as `common` and visited first.
struct CommonOptions {
  FrictionLaw law = FrictionLaw::cone;
  PyramidFrame frame = PyramidFrame::fixed;
  bool warm_start = false;

  template <class Visitor>
  void visit(Visitor& v) {
    v("law", law, "friction law");
    v("frame", frame,
      "tangents of the pyramid: fixed: the problem's own; aligned: t1 along the tangential free velocity; "
      "rotated: the problem's own, turned by 45 degrees");
    v("warm_start", warm_start, "start from the impulses of the previous step where the recording has them");
  }
  LawSpec spec() const { return {law, frame}; }
};

class Solver {
 public:
  virtual ~Solver() = default;

  /// Registry name and the full option text (base/options.h).
  virtual std::string_view name() const = 0;
  virtual std::string options() const = 0;
  virtual const CommonOptions& common() const = 0;
  virtual const SolverTraits& traits() const = 0;
  /// The same solver with the same options, nothing prepared.
  virtual std::unique_ptr<Solver> fresh() const = 0;

  /// Empty when `problem` can be solved; else the reason, one line.
  virtual std::string unsupported_reason(const ContactProblem& problem) const = 0;
  /// Threads that `prepare` and `solve` may use inside one problem; null (the default) = the calling thread
  /// only. Must outlive the solver's use of it. The bits of an answer never depend on it.
  virtual void use_arena(TaskArena* arena) { (void)arena; }
  /// The problem must outlive the solver's use of it and has passed `find_defect`.
  virtual void prepare(const ContactProblem& problem) = 0;
  /// Instead of `prepare`, when nothing but the contacts (H, w, mu, their number) has changed since it: M, f
  /// and dt are the same values. Solvers on velocities keep what belongs to M (its factor above all) and
  /// start the next solve from the velocity of the last one, as re-linearisation during a solve does
  /// (Verschoor 2019, Algorithm 1). Solvers on impulses keep W where H and mu are the same too.
  virtual void update_contacts(const ContactProblem& problem) { prepare(problem); }

  /// Why it works on this problem as it does, one line; empty for a solver that does not choose. Needs no `prepare`.
  virtual std::string choice(const ContactProblem& problem) const;

  /// After `prepare`: max|q| of that problem in m/s, or what takes its place in the solves to come (a bound from below, or
  /// the velocity that the solver counts from); 0 where it vanishes, NaN where the solver does not know it. U of a problem
  /// solved by regions is the largest of its regions'.
  virtual double largest_free_velocity() const { return std::numeric_limits<double>::quiet_NaN(); }

  /// After `prepare`: what its plan allows on so many cores, whatever the arena. Serial where the solver does not use threads;
  /// NaN where it does and does not count them.
  virtual WorkAndSpan work_and_span(int cores) const;

  /// Whether `problem` is solved on W and q alone: then `prepare_island` serves it too.
  virtual bool works_on_impulses(const ContactProblem& /*problem*/) const {
    return traits().needs == SolverNeeds::delassus;
  }
  /// Where `works_on_impulses`, for regions whose W and q were assembled together: as
  /// `unsupported_reason` and `prepare` of a problem of one island.
  virtual std::string island_refusal(Index contacts) const;
  virtual void prepare_island(ReducedProblem problem, Vector mu);

  /// `r`: start values in, answer out; 3m. Allocates nothing. Deterministic: the same bits for the same
  /// input.
  virtual SolveReport solve(std::span<double> r, const StopRule& stop, IterationObserver* observer) = 0;
};

}  // namespace signorini
