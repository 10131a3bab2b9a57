#pragma once

#include <memory>
#include <span>
#include <vector>

#include "linalg/types.h"

/// Sparse Cholesky factor of a symmetric positive definite matrix, P M Pᵀ = L Lᵀ.
///
/// CHOLMOD (minimum degree, large factors by nested dissection where that is cheaper; supernodal where it pays) or
/// Eigen's SimplicialLLT (factor_library.h); a diagonal matrix takes neither. Everything runs on the calling thread and gives the same bits every time.
/// The workspaces of a solve belong to the factor: one factor must not be used by two threads at once.
///
/// Many right-hand sides of a supernodal factor are solved by supernodal_solve.h, as a *panel*: stored row by row in the
/// order of the factor. Whoever has few non-zeros in them, and reads few rows of the answer, fills a panel himself.
namespace signorini {

/// The part of a factorisation that depends on the non-zero pattern alone (ordering, elimination tree,
/// structure of L): made once for many matrices of one pattern. May be read by several threads at once.
class SpdPattern {
 public:
  explicit SpdPattern(const SparseRows& M);
  ~SpdPattern();
  SpdPattern(SpdPattern&&) noexcept;
  SpdPattern& operator=(SpdPattern&&) noexcept;

 private:
  friend class SpdFactor;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

class SpdFactor {
 public:
  /// Reads both triangles (M is taken as symmetric). Throws `InputError` that names the dof when M is not
  /// positive definite; with CHOLMOD, `MemoryError` before a factor is made that does not fit into memory.
  /// `pattern`, where given, must be that of a matrix with the same non-zeros; it saves time and changes no bit.
  explicit SpdFactor(const SparseRows& M, const SpdPattern* pattern = nullptr);
  ~SpdFactor();
  SpdFactor(SpdFactor&&) noexcept;
  SpdFactor& operator=(SpdFactor&&) noexcept;

  Index size() const;
  bool is_diagonal() const;
  /// Numbers stored of L, zeros of dense blocks included: a solve reads them twice.
  long long fill() const;

  /// x = M⁻¹ b; b and x may be the same memory. Allocates nothing.
  void solve(std::span<const double> b, std::span<double> x) const;
  /// X = M⁻¹ B, column by column (n×k).
  Matrix solve_columns(const Matrix& B) const;
  /// Y = L⁻¹ P B (n×k), so that Bᵀ M⁻¹ B = Yᵀ Y: half the work of `solve_columns`, and exactly symmetric.
  Matrix half_solve(const Matrix& B) const;
  /// The same in the place of B, with a panel that is kept for the next time.
  void half_solve(Matrix& B, std::vector<double>& panel) const;

  /// Where every dof stands in a panel; empty where there are none (diagonal, simplicial).
  std::span<const Index> panel_rows() const;
  /// What `solve_panel` needs to know of the dofs whose rows are read.
  std::vector<char> needed_for(std::span<const Index> dofs) const;
  /// X := M⁻¹ X, n rows of `width` numbers (supernodal_width). Rows of other dofs than those of `needed_for` are left
  /// undefined.
  void solve_panel(std::span<double> X, std::size_t width, std::span<const char> needed) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace signorini
