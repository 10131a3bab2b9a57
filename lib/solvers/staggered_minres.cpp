#include <algorithm>
#include <cmath>

#include "linalg/dot.h"
#include "solvers/staggered_qp.h"

/// MINRES on the linear systems of staggered projections (lanczos_rotation.h).
namespace signorini {

void StaggeredQp::restart_lanczos() {
  residual_vector(t_);
  precondition(t_, lanczos_);
  rotation_.begin(std::sqrt(std::max(0.0, dot(t_.v, lanczos_.v) + dot(t_.c, lanczos_.c))));
  for (Direction& d : direction_) {
    for (auto* x : {&d.w.v, &d.w.c, &d.Bw.v, &d.Bw.c, &d.Hw}) std::fill(x->begin(), x->end(), 0.0);
  }
}

double StaggeredQp::step_lanczos() {
  if (!(rotation_.beta() > 0.0)) return 0.0;
  // v_k
  const double scale = 1.0 / rotation_.beta();
  for (auto* x : {&lanczos_.v, &lanczos_.c}) {
    for (double& entry : *x) entry *= scale;
  }
  apply(lanczos_, B_lanczos_, H_lanczos_);
  const double alpha = dot(lanczos_.v, B_lanczos_.v) + dot(lanczos_.c, B_lanczos_.c);
  // t_{k+1}
  const double back = rotation_.back(), own = alpha / rotation_.beta();
  const auto next = [&](std::span<const double> Bv, std::span<const double> t, std::span<const double> before,
                        std::span<double> out) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = Bv[i] - own * t[i] - back * before[i];
  };
  next(B_lanczos_.v, t_.v, t_before_.v, next_.v);
  next(B_lanczos_.c, t_.c, t_before_.c, next_.c);
  // v_k moves into the place of w_{k−3} and becomes w_k
  const Direction& last = direction_[newest_];
  const Direction& before = direction_[(newest_ + 2) % 3];
  newest_ = (newest_ + 1) % 3;
  Direction& d = direction_[newest_];
  std::swap(t_before_, t_);
  std::swap(t_, next_);
  std::swap(d.w, lanczos_);
  precondition(t_, lanczos_);
  const double beta = std::sqrt(std::max(0.0, dot(t_.v, lanczos_.v) + dot(t_.c, lanczos_.c)));
  const LanczosRotation::Step step = rotation_.turn(alpha, beta);
  if (!(step.gamma > 0.0)) return 0.0;
  const auto combine = [&step](std::span<const double> fresh, std::span<const double> one,
                               std::span<const double> two, std::span<double> out) {
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = (fresh[i] - step.delta * one[i] - step.epsilon * two[i]) / step.gamma;
  };
  combine(d.w.v, last.w.v, before.w.v, d.w.v);
  combine(d.w.c, last.w.c, before.w.c, d.w.c);
  combine(B_lanczos_.v, last.Bw.v, before.Bw.v, d.Bw.v);
  combine(B_lanczos_.c, last.Bw.c, before.Bw.c, d.Bw.c);
  combine(H_lanczos_, last.Hw, before.Hw, d.Hw);
  axpy(step.phi, d.w.v, v_);
  axpy(-step.phi, d.Bw.v, momentum_);
  axpy(step.phi, d.w.c, r_);
  axpy(step.phi, d.Hw, u_);
  measure();
  return rotation_.exhausted() ? 0.0 : 1.0;
}

}  // namespace signorini
