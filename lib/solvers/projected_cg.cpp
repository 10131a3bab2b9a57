#include "solvers/projected_cg.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace signorini {

namespace {

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

double inverse(double x) { return x > 0.0 ? 1.0 / x : 0.0; }

Norms norms_of(std::span<const double> x) {
  Norms norms;
  for (const double value : x) {
    norms.two += value * value;
    norms.max = std::max(norms.max, std::abs(value));
  }
  norms.two = std::sqrt(norms.two);
  return norms;
}

/// Breaks cycles. An exact step along a soft direction may run far out of the admissible set, and its
/// projection may undo the progress of the steps before it: with one contact and W_T2T2 ≪ W_T1T1 it cycles
/// through r = 0, r_N > 0, sticking. When g·z had no new minimum for kPatience iterations, the next kPatience
/// steps are at most one Jacobi step long (α ≤ 1, z being scaled by D), half of it the next time, and so on.
class Watchdog {
 public:
  double longest_step() const { return guarded_ > 0 ? limit_ : std::numeric_limits<double>::infinity(); }

  void observe(double g_dot_z) {
    const bool released = guarded_ > 0 && --guarded_ == 0;
    if (released || g_dot_z < least_) {
      least_ = g_dot_z;
      waited_ = 0;
    } else if (++waited_ >= kPatience) {
      waited_ = 0;
      guarded_ = kPatience;
      limit_ = triggered_ ? 0.5 * limit_ : 1.0;
      triggered_ = true;
    }
  }

 private:
  static constexpr int kPatience = 100;
  double least_ = std::numeric_limits<double>::infinity();
  double limit_ = 1.0;
  int waited_ = 0;
  int guarded_ = 0;
  bool triggered_ = false;
};

}  // namespace

void ProjectedCg::prepare(const GaussSeidelData& data) {
  data_ = &data;
  const auto m = static_cast<std::size_t>(data.contacts());
  for (std::vector<double>* x : {&u_, &z_, &d_, &F_, &WF_}) x->assign(3 * m, 0.0);
  normal_step_.resize(m);
  stick_step_.resize(m);
  for (std::size_t k = 0; k < m; ++k) {
    normal_step_[k] = inverse(data.diagonal[k](0, 0));
    stick_step_[k] = normal_step_[k] > 0.0 ? inverse(data.tangent_stiffness[static_cast<Index>(k)]) : 0.0;
  }
  face_.assign(m, ContactFace{});
}

/// u = W r + q; returns the exact error, or NaN where nobody asks for it.
double ProjectedCg::measure(std::span<const double> r, bool exact) {
  if (exact) return alart_curnier_error(*data_, r, u_);
  multiply(data_->W, r, u_);
  for (std::size_t i = 0; i < u_.size(); ++i) u_[i] += data_->q[static_cast<Index>(i)];
  return std::numeric_limits<double>::quiet_NaN();
}

/// ϱ = −u, its face at r with g, S, C, and z = D/(1 + D C) g. Returns g·z, and g·(z before) through
/// `g_dot_old_z`.
template <FrictionLaw law>
double ProjectedCg::look(std::span<const double> r, bool robust, double* g_dot_old_z) {
  faces_changed_ = 0;
  double g_dot_z = 0.0;
  double g_dot_old = 0.0;
  for (std::size_t k = 0; k < face_.size(); ++k) {
    const double rho[3] = {-u_[3 * k], -u_[3 * k + 1], -u_[3 * k + 2]};
    ContactFace face = face_of(law, data_->mu[static_cast<Index>(k)], r.data() + 3 * k, rho);
    if (!(normal_step_[k] > 0.0)) std::fill(face.g, face.g + 3, 0.0);
    double D_N = 1.0;
    double D_T = 1.0;
    if (robust) {
      D_N = normal_step_[k];
      D_T = stick_step_[k];
      if (face.curvature > 0.0) D_T /= 1.0 + D_T * face.curvature;
    }
    double* z = z_.data() + 3 * k;
    g_dot_old += face.g[0] * z[0] + face.g[1] * z[1] + face.g[2] * z[2];
    z[0] = D_N * face.g[0];
    z[1] = D_T * face.g[1];
    z[2] = D_T * face.g[2];
    g_dot_z += face.g[0] * z[0] + face.g[1] * z[1] + face.g[2] * z[2];
    faces_changed_ += face.code() != face_[k].code() ? 1 : 0;
    face_[k] = face;
  }
  *g_dot_old_z = g_dot_old;
  return g_dot_z;
}

/// d = projection of z + β d on the tangent cone, F = d + S d_N, and the two terms of α.
/// The `true` form leaves d unprojected, as the paper does, and moves by d alone along the whole ϱ.
template <FrictionLaw law>
ProjectedCg::Terms ProjectedCg::aim(double beta, bool robust) {
  Terms terms;
  double bend = 0.0;
  for (std::size_t k = 0; k < face_.size(); ++k) {
    const ContactFace& face = face_[k];
    const double* z = z_.data() + 3 * k;
    double* d = d_.data() + 3 * k;
    double* F = F_.data() + 3 * k;
    for (int j = 0; j < 3; ++j) F[j] = d[j] = z[j] + beta * d[j];
    if (robust) {
      project_on_tangent_cone(law, face, d);
      F[0] = d[0];
      F[1] = d[1] + face.S[0] * d[0];
      F[2] = d[2] + face.S[1] * d[0];
      bend += face.curvature * (d[1] * d[1] + d[2] * d[2]);
      terms.numerator += face.g[0] * d[0] + face.g[1] * d[1] + face.g[2] * d[2];
    } else {
      for (std::size_t j = 0; j < 3; ++j) terms.numerator -= u_[3 * k + j] * d[j];
    }
  }
  multiply(data_->W, F_, WF_);
  terms.denominator = dot(d_, WF_) + bend;
  return terms;
}

/// r = P(r + α F); returns the norms of the step.
template <FrictionLaw law>
Norms ProjectedCg::move(double alpha, bool robust, std::span<double> r) {
  Norms step;
  for (std::size_t k = 0; k < face_.size(); ++k) {
    double* r_k = r.data() + 3 * k;
    const double* F = F_.data() + 3 * k;
    const double old[3] = {r_k[0], r_k[1], r_k[2]};
    for (int j = 0; j < 3; ++j) r_k[j] += alpha * F[j];
    const std::uint8_t slides = robust ? face_[k].slides : std::uint8_t{0};
    project_impulse(law, data_->mu[static_cast<Index>(k)], slides, face_[k].S, r_k);
    for (int j = 0; j < 3; ++j) {
      const double change = r_k[j] - old[j];
      step.two += change * change;
      step.max = std::max(step.max, std::abs(change));
    }
  }
  step.two = std::sqrt(step.two);
  return step;
}

Norms ProjectedCg::residual_norms() const {
  Norms norms;
  for (const ContactFace& face : face_) {
    for (const double g : face.g) {
      norms.two += g * g;
      norms.max = std::max(norms.max, std::abs(g));
    }
  }
  norms.two = std::sqrt(norms.two);
  return norms;
}

/// Projects the start on the admissible set; true when that changed it.
bool ProjectedCg::make_admissible(std::span<double> r) const {
  constexpr double kFree[2] = {0.0, 0.0};
  bool changed = false;
  for (std::size_t k = 0; k < face_.size(); ++k) {
    double* r_k = r.data() + 3 * k;
    const double old[3] = {r_k[0], r_k[1], r_k[2]};
    project_impulse(data_->law, data_->mu[static_cast<Index>(k)], 0, kFree, r_k);
    if (!(normal_step_[k] > 0.0)) std::fill(r_k, r_k + 3, 0.0);
    changed = changed || !std::equal(old, old + 3, r_k);
  }
  return changed;
}

PhaseReport ProjectedCg::run(const Settings& settings, std::span<double> r, const StopTest& stop,
                             const PaperRules& rules, IterationObserver* observer, BestIterate& best) {
  PhaseReport report;
  const bool exact = !stop.fixed() || settings.handing_on >= 0.0;
  report.error = measure(r, exact);
  report.products = 1;
  best.offer(r, report.error);
  if (stop.met(report.error)) {
    report.end = PhaseEnd::converged;
    return report;
  }
  if (make_admissible(r)) {
    report.error = measure(r, exact);
    ++report.products;
    best.offer(r, report.error);
  }
  if (settings.form == CgForm::printed) return run_printed(settings, r, stop, rules, observer, best);
  return data_->law == FrictionLaw::cone
             ? iterate<FrictionLaw::cone>(settings, r, stop, rules, observer, best, report)
             : iterate<FrictionLaw::pyramid>(settings, r, stop, rules, observer, best, report);
}

template <FrictionLaw law>
PhaseReport ProjectedCg::iterate(const Settings& settings, std::span<double> r, const StopTest& stop,
                                 const PaperRules& rules, IterationObserver* observer, BestIterate& best,
                                 PhaseReport report) {
  const bool robust = settings.form == CgForm::robust;
  const bool paper = rules.active() && !stop.fixed();
  const bool exact = !stop.fixed() || settings.handing_on >= 0.0;
  double g_dot_old = 0.0;
  double g_dot_z = look<law>(r, robust, &g_dot_old);
  double beta = 0.0;
  Watchdog watchdog;
  std::fill(d_.begin(), d_.end(), 0.0);
  while (report.iterations < settings.phase.cap) {
    if (report.error <= settings.handing_on) {
      report.end = PhaseEnd::handed_on;
      return report;
    }
    if (stop.out_of_time()) {
      report.end = PhaseEnd::time;
      return report;
    }
    Terms terms = aim<law>(beta, robust);
    ++report.products;
    if (!(terms.numerator > 0.0 && terms.denominator > 0.0)) {
      ++report.counters.guards;
      std::fill(d_.begin(), d_.end(), 0.0);
      terms = aim<law>(0.0, robust);
      ++report.products;
    }
    double alpha = terms.numerator / terms.denominator;
    if (!(terms.numerator > 0.0 && terms.denominator > 0.0) || !std::isfinite(alpha)) {
      const bool finite = std::isfinite(terms.numerator) && std::isfinite(terms.denominator);
      report.end = finite ? PhaseEnd::stuck : PhaseEnd::diverged;
      if (finite && !exact) report.error = measure(r, true);
      return report;
    }
    if (robust && alpha > watchdog.longest_step()) {
      alpha = watchdog.longest_step();
      ++report.counters.guards;
    }
    const Norms step = move<law>(alpha, robust, r);
    report.error = measure(r, exact);
    ++report.iterations;
    ++report.products;
    const double old_g_dot_z = g_dot_z;
    g_dot_z = look<law>(r, robust, &g_dot_old);
    watchdog.observe(g_dot_z);
    ++report.counters.evaluations;
    report.counters.state_changes += faces_changed_;
    if (observer != nullptr) show_iteration(*observer, settings.phase, report, r, residual_norms().max);
    if (!std::isfinite(g_dot_z) || (exact && !std::isfinite(report.error))) {
      report.end = PhaseEnd::diverged;
      return report;
    }
    // without measured errors a finite iterate is kept from time to time, in case the iteration diverges
    if (exact || (report.iterations & (report.iterations - 1)) == 0)
      best.offer(r, exact ? report.error : g_dot_z);
    if (stop.met(report.error)) {
      report.end = PhaseEnd::converged;
      return report;
    }
    if (paper && rules.met(step, residual_norms())) {
      report.end = PhaseEnd::paper_rule;
      return report;
    }
    beta = (settings.beta == CgBeta::pr ? g_dot_z - g_dot_old : g_dot_z) / old_g_dot_z;
    const bool jammed = settings.powell > 0.0 && std::abs(g_dot_old) > settings.powell * g_dot_z;
    const bool restart = robust && (faces_changed_ > 0 || jammed || !(beta > 0.0));
    if (restart || !std::isfinite(beta)) {
      beta = 0.0;
      ++report.counters.restarts;
    }
  }
  return report;
}

PhaseReport ProjectedCg::run_printed(const Settings& settings, std::span<double> r, const StopTest& stop,
                                     const PaperRules& rules, IterationObserver* observer,
                                     BestIterate& best) {
  PhaseReport report;
  report.products = 2;
  const bool paper = rules.active() && !stop.fixed();
  const bool measuring = stop.judging() || paper || settings.handing_on >= 0.0;
  // r₀ = b − A λ₀ = −u, d₀ = r₀; z_ holds the residual of the recurrence
  report.error = measure(r, measuring);
  for (std::size_t i = 0; i < z_.size(); ++i) z_[i] = d_[i] = -u_[i];
  double g_dot_g = dot(z_, z_);
  while (report.iterations < settings.phase.cap) {
    if (report.error <= settings.handing_on) {
      report.end = PhaseEnd::handed_on;
      return report;
    }
    if (stop.out_of_time()) {
      report.end = PhaseEnd::time;
      return report;
    }
    std::copy(d_.begin(), d_.end(), F_.begin());
    multiply(data_->W, F_, WF_);
    ++report.products;
    const double alpha = g_dot_g / dot(d_, WF_);
    if (!std::isfinite(alpha) || g_dot_g == 0.0) {
      report.end = g_dot_g == 0.0 ? PhaseEnd::stuck : PhaseEnd::diverged;
      break;
    }
    const Norms step = data_->law == FrictionLaw::cone ? move<FrictionLaw::cone>(alpha, false, r)
                                                       : move<FrictionLaw::pyramid>(alpha, false, r);
    ++report.iterations;
    if (observer != nullptr) show_iteration(*observer, settings.phase, report, r);
    // r̃ = r − α A d, then its projection given the new impulses
    double next_g_dot_g = 0.0;
    double g_dot_old = 0.0;
    for (std::size_t k = 0; k < face_.size(); ++k) {
      double* g = z_.data() + 3 * k;
      const double tilde[3] = {g[0] - alpha * WF_[3 * k], g[1] - alpha * WF_[3 * k + 1],
                               g[2] - alpha * WF_[3 * k + 2]};
      const ContactFace face = face_of(data_->law, data_->mu[static_cast<Index>(k)], r.data() + 3 * k, tilde);
      for (std::size_t j = 0; j < 3; ++j) {
        next_g_dot_g += face.g[j] * face.g[j];
        g_dot_old += face.g[j] * g[j];
        g[j] = face.g[j];
      }
    }
    if (!std::isfinite(next_g_dot_g) || !all_finite(r)) {
      report.end = PhaseEnd::diverged;
      return report;
    }
    if (measuring) {
      report.error = measure(r, true);
      ++report.products;
      best.offer(r, report.error);
    }
    if (stop.met(report.error)) {
      report.end = PhaseEnd::converged;
      return report;
    }
    if (paper && rules.met(step, norms_of(z_))) {
      report.end = PhaseEnd::paper_rule;
      return report;
    }
    const double beta =
        settings.beta == CgBeta::pr ? (next_g_dot_g - g_dot_old) / g_dot_g : next_g_dot_g / g_dot_g;
    g_dot_g = next_g_dot_g;
    for (std::size_t i = 0; i < d_.size(); ++i) d_[i] = z_[i] + beta * d_[i];
  }
  if (!measuring) report.error = std::numeric_limits<double>::quiet_NaN();
  return report;
}

}  // namespace signorini
