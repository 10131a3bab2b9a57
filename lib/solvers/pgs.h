#pragma once

#include <memory>

#include "solvers/solver.h"

/// Projected Gauss–Seidel on u = W r + q (Lazarevych 2010 eqs. 6, 7, 14, 15).
namespace signorini {

class Pgs : public Solver {
 public:
  static constexpr std::string_view kName = "pgs";
  struct Options {
    CommonOptions common;
    template <class Visitor>
    void visit(Visitor& v) {
      common.visit(v);
    }
  };

  explicit Pgs(const Options& options);
  ~Pgs() override;

  std::string_view name() const override { return kName; }
  std::string options() const override { return options_text(options_); }
  const CommonOptions& common() const override { return options_.common; }
  std::string unsupported_reason(const ContactProblem& problem) const override;
  void prepare(const ContactProblem& problem) override;
  SolveReport solve(std::span<double> r, const StopRule& stop, IterationObserver* observer) override;

 private:
  struct Impl;
  Options options_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace signorini
