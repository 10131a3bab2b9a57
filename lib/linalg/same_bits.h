#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include <Eigen/SparseCore>

/// Sparse matrices with equal non-zeros, and with equal values to the last bit. Both are compressed.
namespace signorini {

template <class Matrix>
bool same_pattern(const Matrix& A, const Matrix& B) {
  if (A.rows() != B.rows() || A.cols() != B.cols() || A.nonZeros() != B.nonZeros()) return false;
  return std::equal(A.outerIndexPtr(), A.outerIndexPtr() + A.outerSize() + 1, B.outerIndexPtr()) &&
         std::equal(A.innerIndexPtr(), A.innerIndexPtr() + A.nonZeros(), B.innerIndexPtr());
}

template <class Matrix>
bool same_bits(const Matrix& A, const Matrix& B) {
  return same_pattern(A, B) &&
         (A.nonZeros() == 0 ||
          std::memcmp(A.valuePtr(), B.valuePtr(),
                      sizeof(typename Matrix::Scalar) * static_cast<std::size_t>(A.nonZeros())) == 0);
}

}  // namespace signorini
