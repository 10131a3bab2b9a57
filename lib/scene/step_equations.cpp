#include "scene/step_equations.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "linalg/connected_components.h"

namespace signorini {

namespace {

constexpr std::size_t kRowGrain = 512;

/// Dofs of the largest mechanical body.
Index largest_body(const BlockSparseMatrix& A) {
  const Components bodies = connected_components(A);
  std::vector<Index> dofs(bodies.count, 0);
  for (const Index body : bodies.label) dofs[body] += 3;
  return dofs.empty() ? 0 : *std::max_element(dofs.begin(), dofs.end());
}

}  // namespace

void StepEquations::prepare(TaskArena& arena, const BlockSparseMatrix& A, FactorStore& store) {
  A_ = &A;
  direct_ = largest_body(A) <= kDirectDofs;
  if (direct_) {
    try {
      factor_.refactor(to_scalar(A), 3, store, &arena);
    } catch (const InputError&) {
      direct_ = false;
    }
  }
  if (!direct_) cg_.prepare(arena, A);
}

double StepEquations::residual(TaskArena& arena, std::span<const double> b, std::span<const double> x) {
  arena.for_chunks(A_->block_rows, kRowGrain, [&](std::size_t begin, std::size_t end) {
    multiply_rows(*A_, static_cast<Index>(begin), static_cast<Index>(end), x, r_);
    for (std::size_t i = 3 * begin; i < 3 * end; ++i) r_[i] = b[i] - r_[i];
  });
  const auto square = [&](std::span<const double> y) {
    return arena.deterministic_sum(y.size(), 3 * kRowGrain, [&](std::size_t begin, std::size_t end) {
      double sum = 0.0;
      for (std::size_t i = begin; i < end; ++i) sum += y[i] * y[i];
      return sum;
    });
  };
  const double size = std::sqrt(square(b));
  return size > 0.0 ? std::sqrt(square(r_)) / size : 0.0;
}

CgReport StepEquations::solve(TaskArena& arena, std::span<const double> b, std::span<double> x,
                              double tolerance, int max_iterations) {
  if (!direct_) return cg_.solve(arena, b, x, tolerance, max_iterations);
  r_.resize(b.size());
  change_.resize(b.size());
  factor_.solve(b, x, &arena);
  CgReport report{.iterations = 1, .residual = residual(arena, b, x), .converged = false};
  if (report.residual > tolerance && std::isfinite(report.residual)) {
    // one step of refinement: what rounding left
    factor_.solve(r_, change_, &arena);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += change_[i];
    report = {.iterations = 2, .residual = residual(arena, b, x), .converged = false};
  }
  report.converged = report.residual <= tolerance;
  return report;
}

}  // namespace signorini
