#pragma once

#include <memory>

#include "solvers/paper_rules.h"
#include "solvers/reduced_solver.h"

/// `ca`: full constraint anticipation (Otaduy 2009 section 5.1, eq. 8; Baraff 1996).
///
/// `prepare` builds the dense Delassus matrix W of every island, by one Cholesky factor per body and three
/// solves per contact; `solve` sweeps projected Gauss–Seidel over it, O(m²) per sweep. The baseline that
/// iterative constraint anticipation is compared with: the cost that matters is the one of `prepare`.
namespace signorini {

class Ca : public ReducedSolver {
 public:
  static constexpr std::string_view kName = "ca";
  struct Options {
    CommonOptions common;
    double max_gib = 4.0;

    template <class Visitor>
    void visit(Visitor& v) {
      common.visit(v);
      v("max_gib", max_gib, "memory that the dense W of all islands may take, GiB");
    }
    void validate() const;
  };

  explicit Ca(const Options& options);
  ~Ca() override;

  std::string_view name() const override { return kName; }
  std::string options() const override { return options_text(options_); }
  const CommonOptions& common() const override { return options_.common; }
  std::string unsupported_reason(const ContactProblem& problem) const override;
  std::unique_ptr<ReducedSolver> fresh() const override { return std::make_unique<Ca>(options_); }
  std::string island_refusal(Index contacts) const override;
  void prepare(const ContactProblem& problem) override;
  void prepare_island(ReducedProblem problem, Vector mu) override;
  SolveReport solve(std::span<double> r, const StopRule& stop, IterationObserver* observer) override;

 private:
  void prepare_filled(BlockSparseMatrix W, Vector q, Vector mu);

  struct Impl;
  Options options_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace signorini
