#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/clock.h"
#include "solvers/delassus_solver.h"
#include "solvers/relaxation/sweep_map.h"
#include "solvers/schwarz/subdomains.h"
#include "solvers/work_and_span.h"

/// One iteration of `schwarz` (schwarz.h): every subdomain once, colour by colour, those of a colour side by side.
namespace signorini {

class SchwarzSweep final : public SweepMap {
 public:
  /// `data` is that of the whole problem and must outlive the use. Every subdomain gets a fresh copy of `inner`, a
  /// `DelassusSolver` whose q may be changed.
  void prepare(const GaussSeidelData& data, Subdomains subdomains, const Solver& inner);
  /// The rule of the solves to come, whose time limit begins now and counts for all of them together, and the share of the
  /// impulses that is taken.
  void start(const StopRule& inner, double damping);
  /// The residual at which subdomains stop from now on.
  void stop_at(double residual) { rule_.residual = residual; }

  SweepStep step(std::span<const double> along, std::span<double> r, std::span<double> change,
                 TaskArena* arena) override;

  const Subdomains& subdomains() const { return subdomains_; }
  /// Of a step in which every subdomain makes the same number of inner iterations, in contacts; barriers are not counted.
  WorkAndSpan work_and_span(int cores) const;
  /// Of the last step: the most inner iterations of any subdomain, and products with all W_EE, in products with W.
  int inner_iterations() const { return inner_iterations_; }
  double products() const { return products_; }

 private:
  struct Part {
    std::unique_ptr<DelassusSolver> solver;
    std::vector<double> q, r;  ///< 3|E|
    SolveReport report;
  };
  void solve(std::size_t part, std::span<const double> r);
  void take(std::size_t part, std::span<double> r) const;
  void count_work();

  const GaussSeidelData* data_ = nullptr;
  Subdomains subdomains_;
  std::vector<Part> parts_;
  StopRule rule_;
  Stopwatch watch_;  ///< since `start`
  double damping_ = 1.0;
  std::vector<double> before_;  ///< 3m, N·s
  int inner_iterations_ = 0;
  double products_ = 0.0;
};

}  // namespace signorini
