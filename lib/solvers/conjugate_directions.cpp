#include "solvers/conjugate_directions.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace signorini {

namespace {

/// Relative size below which an inner product counts as a breakdown (docs/theory.md, C38).
constexpr double kBreakdown = 1e-13;
/// Breakdowns of Full after which Diag takes over.
constexpr int kPatience = 3;
/// ‖B z‖ relative to what it was at the start below which the point is stationary although ρ ≠ 0
/// (over-constrained).
constexpr double kStationary = 1e-12;

}  // namespace

void ConjugateDirections::resize(const SaddleSystem& s) {
  for (auto* x : {&z, &Bz, &p, &Bp, &q, &CBz}) x->resize(s.v.size(), s.u.size());
  for (auto* x : {&Hz, &Hp}) x->assign(s.u.size(), 0.0);
}

void ConjugateDirections::restart(SaddleSystem& s) {
  ++s.counters.restarts;
  s.residual_vector(Bz);
  s.precondition(Bz, z, s.full);
  s.apply(z, Bz, Hz);
  zBz = s.dot_of(z, Bz);
  zz = s.dot_of(z, z);
  BzBz = s.dot_of(Bz, Bz);
  p.v = z.v;
  p.c = z.c;
  Bp.v = Bz.v;
  Bp.c = Bz.c;
  Hp = Hz;
  s.precondition(Bp, q, s.full);
  Bpq = s.dot_of(Bp, q);
  BpBp = BzBz;
  qq = s.dot_of(q, q);
  reference = BzBz;
}

KrylovStep ConjugateDirections::step(SaddleSystem& s) {
  KrylovStep result;
  if (guarded_ && broken()) {
    ++s.counters.guards;
    result.stuck = !minimising_step(s);
    result.restart = true;
    result.alpha = 1.0;
    if (may_fall_back_ && s.counters.guards >= kPatience) s.full = false;
    return result;
  }
  result.alpha = zBz / Bpq;
  advance(s, result.alpha);
  return result;
}

bool ConjugateDirections::turn(SaddleSystem& s) {
  s.apply(z, Bz, Hz, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
    const std::span<const double> Bz_part = s.cut(Bz.v, begin, end);
    s.partial[chunk][0] = dot(s.cut(z.v, begin, end), Bz_part);
    s.partial[chunk][1] = dot(Bz_part, Bz_part);
  });
  const double next = s.sum(0, dot(z.c, Bz.c));
  BzBz = s.sum(1, dot(Bz.c, Bz.c));
  const double beta = next / zBz;
  zBz = next;
  s.precondition_special(Bz, CBz, s.full);
  s.each_chunk([&](std::size_t chunk, std::size_t begin, std::size_t end) {
    xpby(s.cut(z.v, begin, end), beta, s.cut(p.v, begin, end));
    xpby(s.cut(Bz.v, begin, end), beta, s.cut(Bp.v, begin, end));
    std::array<double, 3 * SaddleSystem::kChunk> part;  // C⁻¹ B z
    s.precondition_chunk(chunk, Bz, CBz, begin, end, part.data());
    xpby(std::span<const double>(part.data(), end - begin), beta, s.cut(q.v, begin, end));
    const std::span<const double> Bp_part = s.cut(Bp.v, begin, end), q_part = s.cut(q.v, begin, end);
    s.partial[chunk] = {dot(Bp_part, q_part), dot(Bp_part, Bp_part), dot(q_part, q_part)};
  });
  xpby(z.c, beta, p.c);
  xpby(Bz.c, beta, Bp.c);
  xpby(CBz.c, beta, q.c);
  xpby(Hz, beta, Hp);
  Bpq = s.sum(0, dot(Bp.c, q.c));
  BpBp = s.sum(1, dot(Bp.c, Bp.c));
  qq = s.sum(2, dot(q.c, q.c));
  // over-constrained: B C⁻¹ ρ vanishes although ρ does not
  return !(BzBz <= kStationary * kStationary * reference);
}

double ConjugateDirections::preconditioned_norm(SaddleSystem&) {
  double largest = 0.0;
  for (const double x : z.v) largest = std::max(largest, std::abs(x));
  return largest;
}

void ConjugateDirections::advance(SaddleSystem& s, double alpha) {
  s.move(alpha, p, Bp, Hp, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
    axpy(-alpha, s.cut(q.v, begin, end), s.cut(z.v, begin, end));
    const std::span<const double> z_part = s.cut(z.v, begin, end);
    s.partial[chunk][1] = dot(z_part, z_part);
  });
  axpy(-alpha, q.c, z.c);
  zz = s.sum(1, dot(z.c, z.c));
}

bool ConjugateDirections::broken() const {
  // roots first: products of four vectors leave the range of numbers at velocities of 1e80 m/s
  return !(std::abs(zBz) > kBreakdown * std::sqrt(zz) * std::sqrt(BzBz)) ||
         !(std::abs(Bpq) > kBreakdown * std::sqrt(BpBp) * std::sqrt(qq));
}

bool ConjugateDirections::minimising_step(SaddleSystem& s) {
  s.residual_vector(Bp);
  s.precondition(Bp, z, false);
  s.apply(z, Bz, Hz);
  s.precondition(Bz, p, false);
  s.apply(p, Bp, Hp);
  s.precondition(Bp, q, false);
  const double denominator = s.dot_of(Bp, q);
  const double alpha = s.dot_of(Bp, z) / denominator;
  if (!(denominator > 0.0) || !std::isfinite(alpha) || alpha == 0.0) return false;
  advance(s, alpha);
  return true;
}

}  // namespace signorini
