#include "krylov/conjugate_residuals.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace signorini {

namespace {

/// Relative size below which an inner product counts as a breakdown (docs/theory.md, C38): dividing by it would
/// cost half of the digits of the next direction, and with them ρ = d − K y.
constexpr double kBreakdown = 1e-8;
/// Breakdowns of the block preconditioner after which the diagonal one takes over.
constexpr int kPatience = 3;
/// ‖K z‖ relative to what it was at the start below which the point is stationary although ρ ≠ 0
/// (over-constrained).
constexpr double kStationary = 1e-12;

}  // namespace

void ConjugateResiduals::resize(const KrylovSystem& s) {
  for (auto* x : {&z_, &p_, &q_, &PKz_}) x->resize(s.dofs(), s.rows());
  for (auto* x : {&Kz_, &Kp_}) x->resize(s.dofs(), s.rows());
}

void ConjugateResiduals::begin(bool full) {
  full_ = may_fall_back_ = full;
  restarts_ = guards_ = 0;
  std::fill(z_.v.begin(), z_.v.end(), 0.0);
}

void ConjugateResiduals::restart(KrylovSystem& s) {
  ++restarts_;
  s.residual_vector(Kz_.K);
  s.precondition(Kz_.K, z_, full_);
  s.apply(z_, Kz_);
  zKz_ = s.dot_of(z_, Kz_.K);
  zz_ = s.dot_of(z_, z_);
  KzKz_ = s.dot_of(Kz_.K, Kz_.K);
  p_ = z_;
  Kp_ = Kz_;
  s.precondition(Kp_.K, q_, full_);
  Kpq_ = s.dot_of(Kp_.K, q_);
  KpKp_ = KzKz_;
  qq_ = s.dot_of(q_, q_);
  reference_ = KzKz_;
}

KrylovStep ConjugateResiduals::step(KrylovSystem& s) {
  KrylovStep result;
  has_image_ = false;
  if (guarded_ && broken()) {
    ++guards_;
    result.stuck = !minimising_step(s);
    result.mended = true;
    result.alpha = 1.0;
    if (may_fall_back_ && guards_ >= kPatience) full_ = false;
    return result;
  }
  result.alpha = zKz_ / Kpq_;
  advance(s, result.alpha);
  return result;
}

bool ConjugateResiduals::turn(KrylovSystem& s) {
  const auto measure = [&](std::size_t chunk, std::size_t begin, std::size_t end) {
    const std::span<const double> Kz = cut(Kz_.K.v, begin, end);
    s.partial[chunk][0] = dot(cut(z_.v, begin, end), Kz);
    s.partial[chunk][1] = dot(Kz, Kz);
  };
  if (has_image_) {
    s.each_chunk(measure);
  } else {
    s.apply(z_, Kz_, measure);
  }
  const double next = s.sum(0, dot(z_.c, Kz_.K.c));
  KzKz_ = s.sum(1, dot(Kz_.K.c, Kz_.K.c));
  const double beta = next / zKz_;
  zKz_ = next;
  s.precondition_coupled(Kz_.K, PKz_, full_);
  s.each_chunk([&](std::size_t chunk, std::size_t begin, std::size_t end) {
    xpby(cut(z_.v, begin, end), beta, cut(p_.v, begin, end));
    xpby(cut(Kz_.K.v, begin, end), beta, cut(Kp_.K.v, begin, end));
    std::array<double, KrylovSystem::kChunk> part;  // P⁻¹ K z
    s.precondition_chunk(chunk, Kz_.K, PKz_, begin, end, part.data());
    xpby(std::span<const double>(part.data(), end - begin), beta, cut(q_.v, begin, end));
    const std::span<const double> Kp = cut(Kp_.K.v, begin, end), q = cut(q_.v, begin, end);
    s.partial[chunk] = {dot(Kp, q), dot(Kp, Kp), dot(q, q)};
  });
  xpby(z_.c, beta, p_.c);
  xpby(Kz_.K.c, beta, Kp_.K.c);
  xpby(PKz_.c, beta, q_.c);
  xpby(Kz_.H, beta, Kp_.H);
  Kpq_ = s.sum(0, dot(Kp_.K.c, q_.c));
  KpKp_ = s.sum(1, dot(Kp_.K.c, Kp_.K.c));
  qq_ = s.sum(2, dot(q_.c, q_.c));
  // over-constrained: K P⁻¹ ρ vanishes although ρ does not
  return !(KzKz_ <= kStationary * kStationary * reference_);
}

double ConjugateResiduals::preconditioned_norm(KrylovSystem& /*s*/) {
  double largest = 0.0;
  for (const double x : z_.v) largest = std::max(largest, std::abs(x));
  return largest;
}

double ConjugateResiduals::squared_gradient(KrylovSystem& s, double dt) {
  if (!has_image_) s.apply(z_, Kz_);
  has_image_ = true;
  s.each_chunk([&](std::size_t chunk, std::size_t begin, std::size_t end) {
    const std::span<const double> Kz = cut(Kz_.K.v, begin, end);
    s.partial[chunk][0] = dot(Kz, Kz);
  });
  return s.sum(0, dt * dt * dot(Kz_.K.c, Kz_.K.c));
}

void ConjugateResiduals::advance(KrylovSystem& s, double alpha) {
  s.move(alpha, p_, Kp_, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
    axpy(-alpha, cut(q_.v, begin, end), cut(z_.v, begin, end));
    const std::span<const double> z = cut(z_.v, begin, end);
    s.partial[chunk][1] = dot(z, z);
  });
  axpy(-alpha, q_.c, z_.c);
  zz_ = s.sum(1, dot(z_.c, z_.c));
}

bool ConjugateResiduals::broken() const {
  // roots first: products of four vectors leave the range of numbers at velocities of 1e80 m/s
  return !(std::abs(zKz_) > kBreakdown * std::sqrt(zz_) * std::sqrt(KzKz_)) ||
         !(std::abs(Kpq_) > kBreakdown * std::sqrt(KpKp_) * std::sqrt(qq_));
}

bool ConjugateResiduals::minimising_step(KrylovSystem& s) {
  s.residual_vector(Kp_.K);
  s.precondition(Kp_.K, z_, false);
  s.apply(z_, Kz_);
  s.precondition(Kz_.K, p_, false);
  s.apply(p_, Kp_);
  s.precondition(Kp_.K, q_, false);
  const double denominator = s.dot_of(Kp_.K, q_);
  const double alpha = s.dot_of(Kp_.K, z_) / denominator;
  if (!(denominator > 0.0) || !std::isfinite(alpha) || alpha == 0.0) return false;
  advance(s, alpha);
  return true;
}

}  // namespace signorini
