#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "linalg/dense_lu.h"
#include "linalg/general_factor.h"
#include "linalg/spd_factor.h"
#include "linalg/types.h"

/// Factors of A + t B for a few numbers t > 0; A and B are sparse and square, B is symmetric.
///
/// Dense (Cholesky) up to kSmall rows, or where the pattern fills kDense of the matrix and it is not larger than
/// kLargestDense; a sparse Cholesky factor of one symbolic analysis elsewhere. Where A is not symmetric
/// (linalg/asymmetry.h) LU factors take their place. The first factor is kept beside the present one, so that a solver
/// can begin every solve with it. Up to kSmall rows nothing is allocated after `prepare`.
namespace signorini {

class PencilFactor {
 public:
  static constexpr Eigen::Index kSmall = 240, kLargestDense = 3000;
  static constexpr double kDense = 0.35;

  void prepare(const SparseRows& A, const SparseRows& B);
  Index size() const { return size_; }
  /// False where A + t B is not positive definite: then the present factor stays.
  bool factor_first(double t) { return factor(t, first_); }
  /// The same for every further factor.
  bool factor(double t);
  /// Back to the factor of `factor_first`.
  void use_first() { present_ = &first_; }
  /// x := (A + t B)⁻¹ x.
  void solve(std::span<double> x) const;
  bool is_symmetric() const { return symmetric_; }
  /// Numbers of the present factor: of L, which a solve reads twice, or of L and U.
  long long fill() const;

 private:
  struct Factor {
    Matrix cholesky;
    DenseLu lu;
    std::optional<SpdFactor> sparse;
    std::optional<GeneralFactor> sparse_lu;
  };
  bool factor(double t, Factor& into);
  void reserve_dense(Factor& factor) const;
  bool factor_dense(Factor& into);
  void solve_dense(std::span<double> x) const;
  bool factor_sparse(Factor& into);

  Index size_ = 0;
  bool symmetric_ = true, dense_ = true;
  SparseRows sum_;             ///< the pattern of A and B together; values of the last A + t B
  std::vector<double> A_, B_;  ///< per entry of `sum_`
  std::unique_ptr<SpdPattern> pattern_;
  Matrix full_;  ///< dense: A + t B
  Factor first_, second_;
  const Factor* present_ = &first_;
  double second_t_ = 0.0;  ///< of `second_`
};

}  // namespace signorini
