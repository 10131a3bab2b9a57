#pragma once

#include <cstddef>

#include "linalg/simd.h"

/// Updates of dense factors: c := c − Σ_k a_k b_k for every entry of a matrix.
///
/// Terms are taken in the order of k, each by one fused multiply-add (with `Isa::portable` the product is rounded first). So the
/// bits depend on the numbers alone: not on the registers and caches of the processor, nor on how a matrix is cut into pieces.
namespace signorini {

/// A dense matrix wherever it is stored: entry (i, j) at i row_step + j column_step.
struct DenseView {
  const double* entries;
  std::ptrdiff_t row_step, column_step;

  double operator()(std::ptrdiff_t i, std::ptrdiff_t j) const {
    return entries[i * row_step + j * column_step];
  }
};

/// Entries of `rows` × `columns` in columns, the next of which begins `stride` numbers later.
struct DenseTarget {
  double* entries;
  std::ptrdiff_t rows, columns, stride;

  double* at(std::ptrdiff_t i, std::ptrdiff_t j) const { return entries + i + j * stride; }
};

enum class DensePart { lower, whole };

/// C := C − A B with `depth` columns of A, which stand in columns (row_step 1). Of `lower` entries above the diagonal of C
/// are neither read nor written.
void subtract_product(Isa level, DenseView A, DenseView B, std::ptrdiff_t depth, DenseTarget C,
                      DensePart part = DensePart::whole);

/// y := y − a x.
void subtract_multiple(Isa level, double a, const double* x, double* y, std::ptrdiff_t size);

/// X := L⁻¹ X with the lower triangle L of order X.rows in columns (row_step 1), whose diagonal counts as 1.
void solve_unit_lower(Isa level, DenseView L, DenseTarget X);

}  // namespace signorini
