#include "linalg/jacobi_condition.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <cmath>
#include <vector>

#include "base/check.h"
#include "base/rng.h"

namespace signorini {

namespace {

/// Factors L of the diagonal blocks.
std::vector<Matrix3> block_factors(const SparseRows& A) {
  if (A.rows() != A.cols() || A.rows() % 3 != 0)
    throw_input("{}x{} matrix: its rows are not nodes of 3 degrees of freedom", A.rows(), A.cols());
  std::vector<Matrix3> factors(A.rows() / 3, Matrix3::Zero());
  for (Eigen::Index i = 0; i < A.rows(); ++i) {
    for (SparseRows::InnerIterator entry(A, i); entry; ++entry) {
      if (entry.col() / 3 == i / 3) factors[i / 3](i % 3, entry.col() % 3) = entry.value();
    }
  }
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const Eigen::LLT<Matrix3> factor(factors[i]);
    if (!factors[i].allFinite() || factor.info() != Eigen::Success)
      throw_input("node {}: its diagonal block is not positive definite", i);
    factors[i] = factor.matrixL();
  }
  return factors;
}

/// y = L⁻¹ A L⁻ᵀ x; `work` is scratch.
void multiply(const SparseRows& A, const std::vector<Matrix3>& factors, const Vector& x, Vector& work,
              Vector& y) {
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const Eigen::Index row = 3 * i;
    work.segment<3>(row) = factors[i].transpose().triangularView<Eigen::Upper>().solve(x.segment<3>(row));
  }
  y.noalias() = A * work;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const Eigen::Index row = 3 * i;
    const Vector3 part = y.segment<3>(row);
    y.segment<3>(row) = factors[i].triangularView<Eigen::Lower>().solve(part);
  }
}

}  // namespace

JacobiSpectrum jacobi_spectrum(const SparseRows& A) {
  /// Steps between looks at the eigenvalues, and what they may move by in between.
  constexpr int kLook = 10;
  constexpr double kSettled = 1e-3;
  const Eigen::Index n = A.rows();
  const std::vector<Matrix3> factors = block_factors(A);
  JacobiSpectrum spectrum;
  if (n == 0) return spectrum;
  Rng rng(1);
  Vector q(n), before = Vector::Zero(n), y(n), work(n);
  for (Eigen::Index i = 0; i < n; ++i) q[i] = rng.uniform(-1.0, 1.0);
  q.normalize();
  std::vector<double> diagonal, beside;
  for (double beta = 0.0; spectrum.steps < JacobiSpectrum::kLongest;) {
    multiply(A, factors, q, work, y);
    y -= beta * before;
    diagonal.push_back(q.dot(y));
    y -= diagonal.back() * q;
    beta = y.norm();
    ++spectrum.steps;
    // an invariant subspace: all that the start values see; past n steps rounding gives copies of eigenvalues
    const bool ended = !(beta > 1e-13 * std::abs(diagonal.front()));
    if (ended || spectrum.steps % kLook == 0 || spectrum.steps == JacobiSpectrum::kLongest) {
      Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver;
      solver.computeFromTridiagonal(Eigen::Map<const Vector>(diagonal.data(), spectrum.steps),
                                    Eigen::Map<const Vector>(beside.data(), spectrum.steps - 1),
                                    Eigen::EigenvaluesOnly);
      const double low = solver.eigenvalues().minCoeff(), high = solver.eigenvalues().maxCoeff();
      const bool settled =
          std::abs(low - spectrum.low) <= kSettled * low && high - spectrum.high <= kSettled * high;
      spectrum.low = low;
      spectrum.high = high;
      if (ended || settled) break;
    }
    beside.push_back(beta);
    before = q;
    q = y / beta;
  }
  return spectrum;
}

}  // namespace signorini
