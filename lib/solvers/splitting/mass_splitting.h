#pragma once

#include <span>
#include <string>
#include <string_view>

#include "solvers/accelerated/accelerated_map.h"
#include "solvers/delassus_solver.h"
#include "solvers/registered_solver.h"
#include "solvers/splitting/split_sweep.h"

/// `mass-splitting`: all contacts at once, each with its share of the masses that it touches (split_sweep.h), again and
/// again (Tonge, Benevolenski and Voroshilov 2012). A pile that is one island keeps all cores busy, without colours.
///
/// `outer` accelerates r → G(r), one such iteration: `nesterov` (nesterov_sweeps.h), `nncg` or `anderson` as they do sweeps;
/// `none` is the published method.
///
/// Departures from the paper: contacts are updated by velocities and impulses as everywhere here, without a bias for
/// penetration; a body is split among all of its contacts, also those that are open.
///
/// Works on the velocities of bodies where all have few dofs (mass points and rigid bodies), else on W. The bits of an answer do
/// not depend on the number of threads.
namespace signorini {

struct MassSplittingOptions {
  CommonOptions common;
  Acceleration outer = Acceleration::nncg;

  template <class Visitor>
  void visit(Visitor& v) {
    common.visit(v);
    v("outer", outer, "what accelerates the iterations: nncg, nesterov or anderson; none: as published");
  }
};

class MassSplitting : public RegisteredSolver<MassSplitting, MassSplittingOptions, DelassusSolver> {
 public:
  static constexpr std::string_view kName = "mass-splitting";
  static constexpr SolverTraits kTraits{.parallel = true};
  explicit MassSplitting(const Options& options) : RegisteredSolver(options) {}

  std::string unsupported_reason(const ContactProblem& problem) const override;
  bool works_on_impulses(const ContactProblem& problem) const override;
  bool follows_free_velocity() const override { return false; }
  void prepare(const ContactProblem& problem) override;
  void prepare_island(ReducedProblem problem, Vector mu) override;
  WorkAndSpan work_and_span(int cores) const override { return sweep_.work_and_span(cores); }

 protected:
  Iteration start(std::span<double> r, const StopTest& stop) override;
  Iteration iterate(std::span<double> r) override;
  MeasureSchedule::Tells estimates_tell() const override { return MeasureSchedule::Tells::last; }

 private:
  void set_sweeps(GaussSeidelData data);

  SplitSweep sweep_;
  AcceleratedMap steps_;
};

}  // namespace signorini
