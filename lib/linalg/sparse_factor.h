#pragma once

#include <memory>
#include <span>
#include <vector>

#include "linalg/types.h"

/// What `SpdFactor` takes from a library: the Cholesky factor P M Pᵀ = L Lᵀ of a sparse matrix with off-diagonal entries.
namespace signorini {

/// Ordering and structure of L, from the pattern alone.
class SparseAnalysis {
 public:
  SparseAnalysis() = default;
  SparseAnalysis(const SparseAnalysis&) = delete;
  SparseAnalysis& operator=(const SparseAnalysis&) = delete;
  virtual ~SparseAnalysis() = default;
};

class SparseFactor {
 public:
  SparseFactor() = default;
  SparseFactor(const SparseFactor&) = delete;
  SparseFactor& operator=(const SparseFactor&) = delete;
  virtual ~SparseFactor() = default;

  /// b and x may be the same memory.
  virtual void solve(const double* b, double* x) = 0;
  virtual Matrix solve_columns(const Matrix& B) = 0;
  /// B := L⁻¹ P B.
  virtual void half_solve(Matrix& B, std::vector<double>& panel) = 0;
  virtual long long fill() const = 0;

  /// Of a supernodal factor; others have no panels.
  virtual std::span<const Index> panel_rows() const { return {}; }
  virtual std::vector<char> needed_for(std::span<const Index>) const { return {}; }
  virtual void solve_panel(std::span<double>, std::size_t, std::span<const char>) const {}
};

/// By CHOLMOD; a program that was built without it ends with an internal error. `analysis`: by CHOLMOD too, of a matrix
/// with the non-zeros of M, or null.
std::unique_ptr<SparseAnalysis> analyse_by_cholmod(const SparseRows& M);
std::unique_ptr<SparseFactor> factor_by_cholmod(const SparseRows& M, const SparseAnalysis* analysis);

/// By Eigen's SimplicialLLT, which analyses the pattern itself.
std::unique_ptr<SparseFactor> factor_by_eigen(const SparseRows& M);

/// Throws `InputError`.
[[noreturn]] void throw_not_definite(Index dof);

}  // namespace signorini
