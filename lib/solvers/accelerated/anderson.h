#pragma once

#include <array>
#include <span>
#include <string_view>
#include <utility>

#include "solvers/accelerated/anderson_sweeps.h"
#include "solvers/registered_solver.h"
#include "solvers/relaxation/sweeping_solver.h"

/// `anderson`: sweeps of projected Gauss–Seidel r → y = G(r) (gauss_seidel.h) on u = W r + q, accelerated by the
/// last `window` of them (Anderson 1965; Walker and Ni 2011; anderson_history.h):
///
///     y = G(r),  d = y − r,  r ← y − Σ γ_j Δy_j,  γ = argmin |d − Σ γ_j Δd_j|,  |d|² = Σ (d_N²/ρ_N + d_T²/ρ_T)
///
/// ρ: the steps of the sweep. y, which fulfils the contact law's bounds, is the iterate that is judged and
/// returned. With window = 0 this is `pgs`.
///
/// Safeguard (`guard = growth`): as in Zhang, O'Donoghue and Boyd 2020 the sizes of d decide whether points are
/// accelerated, with rules of our own. Where |d| is more than kGrowth times the last, the history is forgotten
/// and the next sweep starts from y. Where |d| has had no new minimum for a while, plain sweeps follow
/// (stall_guard.h). `guard = none` has neither. Bad points are not taken back: that wastes their sweeps.
///
/// An iteration costs one sweep, one pass over `window` columns for γ and one for r; with `matrix = bodies` also the velocities
/// of the new r.
namespace signorini {

enum class AndersonGuard { growth, none };
template <>
struct EnumNames<AndersonGuard> {
  static constexpr std::array<std::pair<AndersonGuard, std::string_view>, 2> value{
      {{AndersonGuard::growth, "growth"}, {AndersonGuard::none, "none"}}};
};

struct AndersonOptions {
  CommonOptions common;
  int window = 5;
  AndersonGuard guard = AndersonGuard::growth;
  SweepOrder order = SweepOrder::natural;
  SweepMatrix matrix = SweepMatrix::delassus;

  template <class Visitor>
  void visit(Visitor& v) {
    common.visit(v);
    v("window", window, "sweeps that a new point is combined from, besides the last one; 0: plain sweeps");
    v("guard", guard,
      "growth: the history is forgotten where a sweep changes more than twice as much as the last one, and "
      "plain sweeps follow where nothing is gained; none: no guard");
    v("order", order, kSweepOrderHelp);
    v("matrix", matrix, kSweepMatrixHelp);
  }
  void validate() const;
};

class Anderson : public RegisteredSolver<Anderson, AndersonOptions, SweepingSolver> {
 public:
  static constexpr std::string_view kName = "anderson";
  static constexpr SolverTraits kTraits{.parallel = true};
  explicit Anderson(const Options& options) : RegisteredSolver(options) {}

  void prepare_island(ReducedProblem problem, Vector mu) override;

 protected:
  SweepMatrix matrix() const override { return options_.matrix; }
  void prepare_bodies(const ContactProblem& problem) override;
  Iteration start(std::span<double> r, const StopTest& stop) override;
  Iteration iterate(std::span<double> r) override;
  MeasureSchedule::Tells estimates_tell() const override { return MeasureSchedule::Tells::last; }

 private:
  AndersonSweeps sweeps_;
};

}  // namespace signorini
