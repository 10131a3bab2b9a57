#pragma once

#include <string_view>

#include "solvers/delassus_solver.h"
#include "solvers/registered_solver.h"

/// `ca`: full constraint anticipation (Otaduy 2009 section 5.1, eq. 8; Baraff 1996).
///
/// `prepare` builds the dense Delassus operator W = Hᵀ M⁻¹ H of every island by one Cholesky factor per body
/// and three solves per contact; `solve` sweeps projected Gauss–Seidel (gauss_seidel.h) over it, O(m²) per
/// sweep. It is the baseline of iterative constraint anticipation; the cost that matters is that of
/// `prepare`. Verschoor and Jalba 2019, section 6.2.4, form W by a forward and a backward substitution for every
/// constraint: `columns = one_by_one`. Ours solves for 48 columns at a time, to the same answer but for the last bits.
namespace signorini {

struct CaOptions {
  CommonOptions common;
  ColumnSolves columns = ColumnSolves::together;

  template <class Visitor>
  void visit(Visitor& v) {
    common.visit(v);
    v("columns", columns,
      "how M⁻¹ H is solved for: together: 48 columns at a time; one_by_one: every column by a forward and a "
      "backward "
      "substitution of its own, as in Verschoor 2019, section 6.2.4");
  }
};

class Ca : public RegisteredSolver<Ca, CaOptions, DelassusSolver> {
 public:
  static constexpr std::string_view kName = "ca";
  static constexpr SolverTraits kTraits{};
  explicit Ca(const Options& options) : RegisteredSolver(options) {}

  std::string unsupported_reason(const ContactProblem& problem) const override;
  std::string island_refusal(Index contacts) const override;
  /// Islands are formed from one factor of M together; by columns each forms its own W.
  bool works_on_impulses(const ContactProblem& problem) const override {
    return options_.columns == ColumnSolves::together && DelassusSolver::works_on_impulses(problem);
  }
  void prepare(const ContactProblem& problem) override;
  void prepare_island(ReducedProblem problem, Vector mu) override;

 protected:
  Iteration start(std::span<double> r, const StopTest& stop) override;
  Iteration iterate(std::span<double> r) override { return swept(gauss_seidel_sweep(data_, r)); }
  MeasureSchedule::Tells estimates_tell() const override { return MeasureSchedule::Tells::last; }

 private:
  void prepare_filled(BlockSparseMatrix W, Vector q, Vector mu);
};

}  // namespace signorini
