#include <Eigen/SparseCholesky>
#include <cmath>

#include "base/check.h"
#include "linalg/sparse_factor.h"

namespace signorini {
namespace {

class EigenFactor final : public SparseFactor {
 public:
  explicit EigenFactor(const SparseRows& M) : work_(M.rows()) {
    llt_.compute(SparseColumns(M));
    if (llt_.info() != Eigen::Success) {
      throw_input("mass matrix of {} dofs: not positive definite (Cholesky breaks down)", M.rows());
    }
  }

  void solve(const double* b, double* x) override {
    const Eigen::Map<const Vector> rhs(b, work_.size());
    const auto& to = llt_.permutationP().indices();
    for (Eigen::Index i = 0; i < work_.size(); ++i) work_[to[i]] = rhs[i];
    llt_.matrixL().solveInPlace(work_);
    llt_.matrixU().solveInPlace(work_);
    for (Eigen::Index i = 0; i < work_.size(); ++i) x[i] = work_[to[i]];
  }

  Matrix solve_columns(const Matrix& B) override { return llt_.solve(B); }

  void half_solve(Matrix& B, std::vector<double>&) override {
    B = (llt_.permutationP() * B).eval();
    llt_.matrixL().solveInPlace(B);
  }

  long long fill() const override { return llt_.matrixL().nestedExpression().nonZeros(); }

 private:
  Eigen::SimplicialLLT<SparseColumns, Eigen::Lower> llt_;
  Vector work_;
};

}  // namespace

std::unique_ptr<SparseFactor> factor_by_eigen(const SparseRows& M) {
  return std::make_unique<EigenFactor>(M);
}

}  // namespace signorini
