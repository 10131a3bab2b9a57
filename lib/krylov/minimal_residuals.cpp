#include "krylov/minimal_residuals.h"

#include <algorithm>
#include <cmath>

namespace signorini {

void MinimalResiduals::resize(const KrylovSystem& s) {
  const std::size_t n = s.dofs(), rows = s.rows();
  for (auto* x : {&t_, &t_before_, &next_, &v_}) x->resize(n, rows);
  Kv_.resize(n, rows);
  for (Direction& d : direction_) {
    d.w.resize(n, rows);
    d.Kw.resize(n, rows);
  }
}

void MinimalResiduals::begin(bool full) {
  full_ = full && metric_ != LanczosMetric::definite;
  restarts_ = guards_ = 0;
}

double MinimalResiduals::root(KrylovSystem& s) {
  const double square = s.dot_of(t_, v_);
  sign_before_ = sign_;
  sign_ = square < 0.0 && metric_ == LanczosMetric::with_signs ? -1.0 : 1.0;
  return std::sqrt(full_ ? std::abs(square) : std::max(0.0, square));
}

void MinimalResiduals::restart(KrylovSystem& s) {
  ++restarts_;
  s.residual_vector(t_);
  s.precondition(t_, v_, full_);
  rotation_.begin(root(s));
  for (Direction& d : direction_) {
    for (auto* x : {&d.w.v, &d.w.c, &d.Kw.K.v, &d.Kw.K.c, &d.Kw.H}) std::fill(x->begin(), x->end(), 0.0);
  }
}

KrylovStep MinimalResiduals::step(KrylovSystem& s) {
  KrylovStep result;
  if (!(rotation_.beta() > 0.0)) {
    result.stuck = true;
    return result;
  }
  // v_k
  const double scale = 1.0 / rotation_.beta();
  s.each_chunk([&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) v_.v[i] *= scale;
  });
  for (double& x : v_.c) x *= scale;
  s.apply(v_, Kv_, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
    s.partial[chunk][0] = dot(cut(v_.v, begin, end), cut(Kv_.K.v, begin, end));
  });
  const double alpha = sign_ * s.sum(0, dot(v_.c, Kv_.K.c));
  // t_{k+1}
  const double back = sign_ * sign_before_ * rotation_.back(), own = alpha / rotation_.beta();
  const auto next = [&](std::span<const double> Kv, std::span<const double> t, std::span<const double> before,
                        std::span<double> out) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = Kv[i] - own * t[i] - back * before[i];
  };
  s.each_chunk([&](std::size_t, std::size_t begin, std::size_t end) {
    next(cut(Kv_.K.v, begin, end), cut(t_.v, begin, end), cut(t_before_.v, begin, end),
         cut(next_.v, begin, end));
  });
  next(Kv_.K.c, t_.c, t_before_.c, next_.c);
  // v_k moves into the place of w_{k−3} and becomes w_k, which is divided by γ_k in the end
  const Direction& last = direction_[newest_];
  const Direction& before = direction_[(newest_ + 2) % 3];
  newest_ = (newest_ + 1) % 3;
  Direction& d = direction_[newest_];
  std::swap(t_before_, t_);
  std::swap(t_, next_);
  std::swap(d.w, v_);
  s.precondition(t_, v_, full_);
  const double beta = root(s);
  const auto [delta, epsilon, gamma, phi] = rotation_.turn(alpha, beta, sign_ * sign_before_);
  if (!(gamma > 0.0)) {
    result.stuck = true;
    return result;
  }
  const auto combine = [of_one = delta, of_two = epsilon, divisor = gamma](
                           std::span<const double> fresh, std::span<const double> one,
                           std::span<const double> two, std::span<double> out) {
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = (fresh[i] - of_one * one[i] - of_two * two[i]) / divisor;
  };
  combine(d.w.c, last.w.c, before.w.c, d.w.c);
  combine(Kv_.K.c, last.Kw.K.c, before.Kw.K.c, d.Kw.K.c);
  combine(Kv_.H, last.Kw.H, before.Kw.H, d.Kw.H);
  s.each_chunk([&](std::size_t, std::size_t begin, std::size_t end) {
    combine(cut(d.w.v, begin, end), cut(last.w.v, begin, end), cut(before.w.v, begin, end),
            cut(d.w.v, begin, end));
    combine(cut(Kv_.K.v, begin, end), cut(last.Kw.K.v, begin, end), cut(before.Kw.K.v, begin, end),
            cut(d.Kw.K.v, begin, end));
  });
  s.move(phi, d.w, d.Kw, [](std::size_t, std::size_t, std::size_t) {});
  result.alpha = 1.0;  // MINRES has no sign that tells when contacts may change their states
  result.mended = rotation_.exhausted();
  return result;
}

bool MinimalResiduals::turn(KrylovSystem& /*s*/) { return !rotation_.finished(); }

/// Through vectors that no step keeps.
double MinimalResiduals::preconditioned_norm(KrylovSystem& s) {
  s.residual_vector(next_);
  s.precondition(next_, Kv_.K, full_);
  double largest = 0.0;
  for (const double x : Kv_.K.v) largest = std::max(largest, std::abs(x));
  return largest;
}

}  // namespace signorini
