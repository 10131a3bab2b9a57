#include "linalg/general_factor.h"

#include <Eigen/SparseLU>

#include "base/check.h"
#include "linalg/spd_factor.h"

namespace signorini {

struct GeneralFactor::Impl {
  Eigen::SparseLU<SparseColumns, Eigen::COLAMDOrdering<SparseColumns::StorageIndex>> lu;
};

GeneralFactor::GeneralFactor(const SparseRows& M) : impl_(std::make_unique<Impl>()) {
  const SparseRows transposed = M.transpose();
  SparseRows symmetric = 0.5 * (M + transposed);
  symmetric.makeCompressed();
  const SpdFactor definite(symmetric);  // throws where xᵀ M x ≤ 0 for some x
  SparseColumns columns = M;
  columns.makeCompressed();
  impl_->lu.compute(columns);
  if (impl_->lu.info() != Eigen::Success) throw_input("mass matrix: not positive definite (LU breaks down)");
}
GeneralFactor::~GeneralFactor() = default;
GeneralFactor::GeneralFactor(GeneralFactor&&) noexcept = default;
GeneralFactor& GeneralFactor::operator=(GeneralFactor&&) noexcept = default;

long long GeneralFactor::fill() const { return impl_->lu.nnzL() + impl_->lu.nnzU(); }

void GeneralFactor::solve(std::span<const double> b, std::span<double> x) const {
  const Vector right = Eigen::Map<const Vector>(b.data(), b.size());
  Eigen::Map<Vector>(x.data(), x.size()) = impl_->lu.solve(right);
}

Matrix GeneralFactor::solve_columns(const Matrix& B) const { return impl_->lu.solve(B); }

}  // namespace signorini
