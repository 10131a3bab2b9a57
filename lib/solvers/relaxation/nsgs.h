#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "solvers/registered_solver.h"
#include "solvers/relaxation/exact_sweep.h"
#include "solvers/relaxation/sweep_stages.h"
#include "solvers/relaxation/sweeping_solver.h"

/// `nsgs`: nonsmooth Gauss–Seidel on u = W r + q (Jourdan, Alart and Jean 1998): the contacts in turn, each solved
/// exactly while the others are held. One iteration is one sweep (exact_sweep.h).
///
/// Beside `pgs`, which moves each contact one projected step: one contact alone takes one sweep, and where W_kk is
/// a multiple of the identity (mass points) the two are the same method.
///
/// Departure: the paper solves each contact by Newton's method on the equations of Alart and Curnier; here the
/// solution is exact, so that no inner tolerance has to be chosen. With an `order` other than the natural one contacts are
/// swept by colours, side by side, or there and back (sweep_plan.h). With `matrix = bodies` sweeps work on the velocities of
/// bodies, found anew from r after kLongestUse sweeps as in ordered_sweep.h.
namespace signorini {

struct NsgsOptions {
  CommonOptions common;
  SweepOrder order = SweepOrder::natural;
  SweepMatrix matrix = SweepMatrix::delassus;

  template <class Visitor>
  void visit(Visitor& v) {
    common.visit(v);
    v("order", order, kSweepOrderHelp);
    v("matrix", matrix, kSweepMatrixHelp);
  }
  void validate() const {}
};

class Nsgs : public RegisteredSolver<Nsgs, NsgsOptions, SweepingSolver> {
 public:
  static constexpr std::string_view kName = "nsgs";
  static constexpr SolverTraits kTraits{.parallel = true};
  explicit Nsgs(const Options& options) : RegisteredSolver(options) {}

  void prepare_island(ReducedProblem problem, Vector mu) override;
  void change_free_velocity(std::span<const double> q) override;

 protected:
  SweepMatrix matrix() const override { return options_.matrix; }
  void prepare_bodies(const ContactProblem& problem) override;
  Iteration start(std::span<double> r, const StopTest& stop) override;
  Iteration iterate(std::span<double> r) override;
  MeasureSchedule::Tells estimates_tell() const override { return MeasureSchedule::Tells::last; }

 private:
  void prepare_exact();

  ExactSweep exact_;
  SweepStages stages_;
  std::vector<ExactSweep::Outcome> partial_;  ///< by piece
  std::vector<double> v_;                     ///< velocities of bodies, m/s; empty with W
  int age_ = 0;                               ///< sweeps since v_ was found from r
};

}  // namespace signorini
