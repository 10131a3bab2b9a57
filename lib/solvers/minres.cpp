#include "solvers/minres.h"

#include <algorithm>
#include <cmath>

namespace signorini {

namespace {

CrOptions with_switching(const Minres::Options& options) {
  CrOptions result = options;
  if (options.switching == MinresSwitching::converged) result.interval = CrInterval::converged;
  return result;
}

}  // namespace

Minres::Minres(const Options& options)
    : ConjugateResiduals(with_switching(options), CrPreconditioner::diag,
                         std::make_unique<MinimalResiduals>()),
      own_options_(options) {}

void MinimalResiduals::resize(const SaddleSystem& s) {
  const std::size_t n = s.v.size();
  const std::size_t rows = s.u.size();
  for (auto* x : {&t_, &t_before_, &next_, &v_, &Bv_}) x->resize(n, rows);
  Hv_.assign(rows, 0.0);
  for (Direction& d : direction_) {
    d.w.resize(n, rows);
    d.Bw.resize(n, rows);
    d.Hw.assign(rows, 0.0);
  }
}

void MinimalResiduals::restart(SaddleSystem& s) {
  ++s.counters.restarts;
  s.residual_vector(t_);
  s.precondition(t_, v_, false);
  rotation_.begin(std::sqrt(std::max(0.0, s.dot_of(t_, v_))));
  for (Direction& d : direction_) {
    for (auto* x : {&d.w.v, &d.w.c, &d.Bw.v, &d.Bw.c, &d.Hw}) std::fill(x->begin(), x->end(), 0.0);
  }
}

KrylovStep MinimalResiduals::step(SaddleSystem& s) {
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
  s.apply(v_, Bv_, Hv_, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
    s.partial[chunk][0] = dot(s.cut(v_.v, begin, end), s.cut(Bv_.v, begin, end));
  });
  const double alpha = s.sum(0, dot(v_.c, Bv_.c));
  // t_{k+1}
  const double back = rotation_.back(), own = alpha / rotation_.beta();
  const auto next = [&](std::span<const double> Bv, std::span<const double> t, std::span<const double> before,
                        std::span<double> out) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = Bv[i] - own * t[i] - back * before[i];
  };
  s.each_chunk([&](std::size_t, std::size_t begin, std::size_t end) {
    next(s.cut(Bv_.v, begin, end), s.cut(t_.v, begin, end), s.cut(t_before_.v, begin, end),
         s.cut(next_.v, begin, end));
  });
  next(Bv_.c, t_.c, t_before_.c, next_.c);
  // v_k moves into w_k, which is divided by γ_k in the end
  const Direction& last = direction_[static_cast<std::size_t>(newest_)];
  const Direction& before = direction_[static_cast<std::size_t>((newest_ + 2) % 3)];
  newest_ = (newest_ + 1) % 3;
  Direction& d = direction_[static_cast<std::size_t>(newest_)];
  SaddleVector& preconditioned = d.w;  // w_{k−3} is not needed any more
  std::swap(t_before_, t_);
  std::swap(t_, next_);
  std::swap(preconditioned, v_);  // v_k moves into w_k
  s.precondition(t_, v_, false);
  const double beta = std::sqrt(std::max(0.0, s.dot_of(t_, v_)));
  const auto [delta, epsilon, gamma, phi] = rotation_.turn(alpha, beta);
  if (!(gamma > 0.0)) {
    result.stuck = true;
    return result;
  }
  const auto combine = [delta = delta, epsilon = epsilon, gamma = gamma](
                           std::span<const double> fresh, std::span<const double> one,
                           std::span<const double> two, std::span<double> out) {
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = (fresh[i] - delta * one[i] - epsilon * two[i]) / gamma;
  };
  combine(d.w.c, last.w.c, before.w.c, d.w.c);
  combine(Bv_.c, last.Bw.c, before.Bw.c, d.Bw.c);
  combine(Hv_, last.Hw, before.Hw, d.Hw);
  s.each_chunk([&](std::size_t, std::size_t begin, std::size_t end) {
    combine(s.cut(d.w.v, begin, end), s.cut(last.w.v, begin, end), s.cut(before.w.v, begin, end),
            s.cut(d.w.v, begin, end));
    combine(s.cut(Bv_.v, begin, end), s.cut(last.Bw.v, begin, end), s.cut(before.Bw.v, begin, end),
            s.cut(d.Bw.v, begin, end));
  });
  s.move(phi, d.w, d.Bw, d.Hw, [](std::size_t, std::size_t, std::size_t) {});
  result.alpha = 1.0;  // MINRES has no sign that tells when states may be looked at
  result.restart = rotation_.exhausted();
  return result;
}

bool MinimalResiduals::turn(SaddleSystem&) { return !rotation_.finished(); }

/// Through vectors that no step keeps.
double MinimalResiduals::preconditioned_norm(SaddleSystem& s) {
  s.residual_vector(next_);
  s.precondition(next_, Bv_, false);
  double largest = 0.0;
  for (const double x : Bv_.v) largest = std::max(largest, std::abs(x));
  return largest;
}

}  // namespace signorini
