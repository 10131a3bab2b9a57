#pragma once

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <cstdint>
#include <span>

namespace signorini {

/// Row, column and contact numbers. 32 bits: FCLib and CHOLMOD's int interface use the same.
using Index = std::int32_t;

/// The number of entries as an Index, which is what loops over them compare with.
template <typename Container>
Index count(const Container& x) {
  return static_cast<Index>(x.size());
}

using Vector = Eigen::VectorXd;
using Vector3 = Eigen::Vector3d;
using Matrix = Eigen::MatrixXd;
using Matrix3 = Eigen::Matrix3d;

/// Compressed sparse rows / columns, sorted, no duplicates. Explicit zeros are kept: FCLib files store whole
/// blocks.
using SparseRows = Eigen::SparseMatrix<double, Eigen::RowMajor, Index>;
using SparseColumns = Eigen::SparseMatrix<double, Eigen::ColMajor, Index>;

/// The numbers of a vector as a span; the vector must outlive it.
inline std::span<double> span_of(Vector& x) { return {x.data(), static_cast<std::size_t>(x.size())}; }
inline std::span<const double> span_of(const Vector& x) {
  return {x.data(), static_cast<std::size_t>(x.size())};
}

}  // namespace signorini
