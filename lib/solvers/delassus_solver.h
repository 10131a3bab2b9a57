#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "linalg/same_bits.h"
#include "solvers/iterative_solver.h"
#include "solvers/relaxation/gauss_seidel.h"

/// The base of solvers on impulses: u = W r + q (3m), which read nothing else of a problem but μ.
///
/// `prepare` assembles the Delassus operator W and q, or takes those of a region: assembled together and cut
/// apart, W and q of many regions cost little more than those of the whole problem (region_systems.h). The
/// exact error is the Alart–Curnier error through W (contact_error.h).
namespace signorini {

class DelassusSolver : public IterativeSolver {
 public:
  std::string unsupported_reason(const ContactProblem& problem) const override {
    return island_refusal(problem.contacts());
  }
  void use_arena(TaskArena* arena) override { arena_ = arena; }
  double largest_free_velocity() const override { return data_.q.lpNorm<Eigen::Infinity>(); }
  void prepare(const ContactProblem& problem) override {
    ReducedProblem reduced = assemble_reduced(problem, arena_);
    Vector free = std::move(reduced.free);
    prepare_island(std::move(reduced), problem.mu);
    if (problem.factors) last_.emplace(Directions{problem.H, std::move(free)});  // in a scene
  }
  /// Where nothing but w differs, as in the last solve of a step, W and what was made of it stay.
  void update_contacts(const ContactProblem& problem) override {
    if (!last_ || !follows_free_velocity() || !same_directions(problem)) return prepare(problem);
    change_free_velocity(span_of(Vector(last_->free + problem.w)));
  }
  /// The prepared problem with another q (3m, m/s), as a subdomain gets where impulses around it change; W and μ stay.
  /// Allocates nothing. Only where the solver `follows_free_velocity`.
  virtual void change_free_velocity(std::span<const double> q) {
    signorini::change_free_velocity(data_, q);
    scale_ = signorini::velocity_scale(data_.q);
  }
  /// False where the method, with these options, takes q apart in `prepare`.
  virtual bool follows_free_velocity() const { return true; }

 protected:
  /// Called by `prepare_island`.
  void set_data(GaussSeidelData data) {
    last_.reset();
    data_ = std::move(data);
    const std::size_t rows = data_.q.size();
    scale_ = signorini::velocity_scale(data_.q);
    u_.resize(rows);
    best().resize(rows);
  }
  /// At the start of each solve.
  void reset_counters() {
    counters_ = {};
    products_ = 0;
  }
  /// The `Iteration` of a sweep over the contacts with this largest correction in m/s, which estimates the
  /// error before the sweep (`MeasureSchedule::Tells::last`).
  Iteration swept(double correction) {
    ++products_;
    ++counters_.contact_sweeps;
    Iteration iteration;
    iteration.estimate = correction;
    iteration.exhausted = correction <= std::numeric_limits<double>::epsilon() * scale_;
    return iteration;
  }

  double velocity_scale() override { return scale_; }
  double measure(std::span<const double> r, double /*estimate*/) override {
    ++products_;
    return alart_curnier_error(data_, r, u_, arena_);
  }
  const SolveCounters& counters() override { return counters_; }
  long long products() override { return products_; }

  GaussSeidelData data_;
  std::vector<double> u_;  ///< 3m: W r + q of the last `measure`, m/s
  SolveCounters counters_;
  long long products_ = 0;
  TaskArena* arena_ = nullptr;

 private:
  /// Of the problem that was prepared.
  struct Directions {
    SparseColumns H;
    Vector free;  ///< Hᵀ M⁻¹ f, m/s
  };
  bool same_directions(const ContactProblem& problem) const {
    return problem.has_primal() && !problem.has_dual() && problem.mu == data_.mu &&
           same_bits(problem.H, last_->H);
  }

  std::optional<Directions> last_;
  double scale_ = 1.0;  ///< U, m/s
};

}  // namespace signorini
