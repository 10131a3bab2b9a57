#include "linalg/conjugate_gradient.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace signorini {

namespace {

Eigen::Map<const Vector3> block3(std::span<const double> x, std::size_t i) {
  return Eigen::Map<const Vector3>(x.data() + 3 * i);
}

Eigen::Map<Vector3> block3(std::span<double> x, std::size_t i) {
  return Eigen::Map<Vector3>(x.data() + 3 * i);
}

/// D⁻¹, symmetric to the bit; false when D is not positive definite.
bool invert_spd(const Matrix3& D, Matrix3& inverse) {
  const Eigen::LLT<Matrix3> factor(D);
  if (factor.info() != Eigen::Success || !D.allFinite()) return false;
  const Matrix3 X = factor.solve(Matrix3::Identity());
  inverse = 0.5 * (X + X.transpose());
  return true;
}

}  // namespace

void ConjugateGradient::prepare(TaskArena& arena, const BlockSparseMatrix& A,
                                const SymmetricBlockMatrix* folded) {
  SIGNORINI_CHECK(A.block_rows == A.block_columns);
  if (folded != nullptr)
    SIGNORINI_CHECK(folded->block_rows == A.block_rows && folded->chunk_rows % kRowGrain == 0);
  A_ = &A;
  folded_ = folded;
  const std::size_t rows = A.block_rows;
  inverse_.resize(rows);
  r_.resize(3 * rows);
  z_.resize(3 * rows);
  p_.resize(3 * rows);
  Ap_.resize(3 * rows);
  partial_.resize((rows + kRowGrain - 1) / kRowGrain);
  std::atomic<Index> bad{A.block_rows};
  arena.for_chunks(rows, kRowGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto row = static_cast<Index>(i);
      if (invert_spd(diagonal_block(A, row), inverse_[i])) continue;
      for (Index seen = bad.load(); row < seen && !bad.compare_exchange_weak(seen, row);) {
      }
      return;
    }
  });
  if (bad.load() < A.block_rows) {
    throw_input("conjugate gradients: the diagonal block of dofs {} to {} is not positive definite",
                3 * bad.load(), 3 * bad.load() + 2);
  }
}

double ConjugateGradient::sum() const {
  double sum = 0.0;
  for (const double part : partial_) sum += part;
  return sum;
}

/// y = A x; then(begin, end) on the block rows of every chunk of kRowGrain while they are in cache.
template <class Then>
void ConjugateGradient::multiply(TaskArena& arena, std::span<const double> x, std::span<double> y,
                                 const Then& then) {
  const std::size_t rows = inverse_.size();
  if (folded_ == nullptr) {
    return arena.for_chunks(rows, kRowGrain, [&](std::size_t begin, std::size_t end) {
      multiply_rows(*A_, static_cast<Index>(begin), static_cast<Index>(end), x, y);
      then(begin, end);
    });
  }
  arena.for_each_task(folded_->chunks(), [&](std::size_t task) {
    const auto chunk = static_cast<Index>(task);
    multiply_chunk(*folded_, chunk, x, y);
    const std::size_t last = folded_->chunk_end(chunk);
    for (std::size_t begin = folded_->chunk_begin(chunk); begin < last; begin += kRowGrain)
      then(begin, std::min(last, begin + kRowGrain));
  });
}

/// r = b − A x, z = D⁻¹ r; returns rᵀz.
double ConjugateGradient::residual_of(TaskArena& arena, std::span<const double> b,
                                      std::span<const double> x) {
  multiply(arena, x, r_, [&](std::size_t begin, std::size_t end) {
    double part = 0.0;
    for (std::size_t i = begin; i < end; ++i) {
      block3(std::span(r_), i) = block3(b, i) - block3(std::span<const double>(r_), i);
      block3(std::span(z_), i).noalias() = inverse_[i] * block3(std::span<const double>(r_), i);
      part += block3(std::span<const double>(r_), i).dot(block3(std::span<const double>(z_), i));
    }
    partial_[begin / kRowGrain] = part;
  });
  return sum();
}

/// bᵀ D⁻¹ b
double ConjugateGradient::squared_norm(TaskArena& arena, std::span<const double> b) {
  SIGNORINI_CHECK(b.size() == 3 * inverse_.size());
  arena.for_chunks(inverse_.size(), kRowGrain, [&](std::size_t begin, std::size_t end) {
    double part = 0.0;
    for (std::size_t i = begin; i < end; ++i) {
      const Vector3 own = block3(b, i);
      part += own.dot(inverse_[i] * own);
    }
    partial_[begin / kRowGrain] = part;
  });
  return sum();
}

/// Ap = A p; returns pᵀA p.
double ConjugateGradient::multiply_direction(TaskArena& arena) {
  multiply(arena, p_, Ap_, [&](std::size_t begin, std::size_t end) {
    double part = 0.0;
    for (std::size_t k = 3 * begin; k < 3 * end; ++k) part += p_[k] * Ap_[k];
    partial_[begin / kRowGrain] = part;
  });
  return sum();
}

/// x += α p, r −= α A p, z = D⁻¹ r; returns rᵀz.
double ConjugateGradient::descend(TaskArena& arena, double alpha, std::span<double> x) {
  arena.for_chunks(inverse_.size(), kRowGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = 3 * begin; k < 3 * end; ++k) {
      x[k] += alpha * p_[k];
      r_[k] -= alpha * Ap_[k];
    }
    double part = 0.0;
    for (std::size_t i = begin; i < end; ++i) {
      block3(std::span(z_), i).noalias() = inverse_[i] * block3(std::span<const double>(r_), i);
      part += block3(std::span<const double>(r_), i).dot(block3(std::span<const double>(z_), i));
    }
    partial_[begin / kRowGrain] = part;
  });
  return sum();
}

/// p = z + β p.
void ConjugateGradient::turn(TaskArena& arena, double beta) {
  arena.for_chunks(3 * inverse_.size(), 3 * kRowGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) p_[k] = z_[k] + beta * p_[k];
  });
}

CgReport ConjugateGradient::solve(TaskArena& arena, std::span<const double> b, std::span<double> x,
                                  double tolerance, int max_iterations) {
  SIGNORINI_CHECK(A_ != nullptr && b.size() == r_.size() && x.size() == r_.size());
  CgReport report;
  reduction_ = 0.0;
  const double scale = squared_norm(arena, b);
  if (scale == 0.0) {
    std::fill(x.begin(), x.end(), 0.0);
    report.converged = true;
    return report;
  }
  const double target = tolerance * tolerance * scale;
  double rz = residual_of(arena, b, x);
  double last_true = std::numeric_limits<double>::infinity();
  const double first = rz;
  polynomial_.begin();
  const auto finish = [&](bool converged) {
    report.residual = std::sqrt(rz / scale);
    report.converged = converged;
    reduction_ = converged ? std::sqrt(rz / first) : 0.0;
    return report;
  };
  while (true) {
    // Here rz belongs to the true residual.
    if (rz <= target) return finish(true);
    // Written so that NaN ends the loop. A restart that gains less than a factor 2 in ‖r‖ has met rounding.
    if (!(rz < 0.25 * last_true) || report.iterations >= max_iterations) return finish(false);
    last_true = rz;
    polynomial_.turn_back();
    turn(arena, 0.0);
    while (rz > target && report.iterations < max_iterations) {
      const double pAp = multiply_direction(arena);
      if (!(pAp > 0.0)) break;
      const double alpha = rz / pAp;
      const double next = descend(arena, alpha, x);
      ++report.iterations;
      turn(arena, next / rz);
      polynomial_.add(alpha, next / rz);
      rz = next;
    }
    rz = residual_of(arena, b, x);
  }
}

}  // namespace signorini
