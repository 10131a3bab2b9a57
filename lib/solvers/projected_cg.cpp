#include "solvers/projected_cg.h"

#include <algorithm>
#include <cmath>
#include <tuple>

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

}  // namespace

void ProjectedCg::prepare(const GaussSeidelData& data) {
  data_ = &data;
  const auto m = static_cast<std::size_t>(data.contacts());
  for (std::vector<double>* x : {&u_, &g_, &z_, &d_, &F_, &WF_}) x->assign(3 * m, 0.0);
  S_.assign(2 * m, 0.0);
  curvature_.assign(m, 0.0);
  code_.assign(m, 0);
}

double ProjectedCg::measure(std::span<const double> r) { return alart_curnier_error(*data_, r, u_); }

/// ϱ = −u, g, S, C and z = D/(1 + D C) g at r; returns g·z, and g·(z before) through `g_dot_old_z`.
double ProjectedCg::update_faces(std::span<const double> r, bool robust, double* g_dot_old_z) {
  faces_changed_ = false;
  double g_dot_z = 0.0;
  double g_dot_old = 0.0;
  for (std::size_t k = 0; k < code_.size(); ++k) {
    const auto row = static_cast<Index>(k);
    const double rho[3] = {-u_[3 * k], -u_[3 * k + 1], -u_[3 * k + 2]};
    const ContactFace face = face_of(data_->law, data_->mu[row], r.data() + 3 * k, rho);
    faces_changed_ = faces_changed_ || face.code() != code_[k];
    code_[k] = face.code();
    curvature_[k] = face.curvature;
    const double W_NN = data_->diagonal[k](0, 0);
    double D[3] = {1.0, 1.0, 1.0};
    if (robust) {
      D[0] = inverse(W_NN);
      D[1] = D[2] = inverse(data_->tangent_stiffness[row] + face.curvature);  // D/(1 + D C) = 1/(λ + C)
    }
    for (std::size_t j = 0; j < 3; ++j) {
      const double g = W_NN > 0.0 ? face.g[j] : 0.0;
      const double z = D[j] * g;
      g_dot_old += g * z_[3 * k + j];
      g_dot_z += g * z;
      g_[3 * k + j] = g;
      z_[3 * k + j] = z;
    }
    S_[2 * k] = face.S[0];
    S_[2 * k + 1] = face.S[1];
  }
  *g_dot_old_z = g_dot_old;
  return g_dot_z;
}

void ProjectedCg::reset_direction() { std::copy(z_.begin(), z_.end(), d_.begin()); }

/// F = d + S d_N, W F; returns numerator and denominator of α. The `true` form moves by d alone along the
/// whole ϱ = −u.
std::pair<double, double> ProjectedCg::step_terms(bool robust) {
  double numerator = 0.0;
  double bend = 0.0;
  for (std::size_t k = 0; k < code_.size(); ++k) {
    const double* d = d_.data() + 3 * k;
    const double follow = robust ? d[0] : 0.0;
    F_[3 * k] = d[0];
    F_[3 * k + 1] = d[1] + S_[2 * k] * follow;
    F_[3 * k + 2] = d[2] + S_[2 * k + 1] * follow;
    bend += curvature_[k] * (d[1] * d[1] + d[2] * d[2]);
    for (std::size_t j = 0; j < 3; ++j) numerator += (robust ? g_[3 * k + j] : -u_[3 * k + j]) * d[j];
  }
  multiply(data_->W, F_, WF_);
  return {numerator, dot(d_, WF_) + (robust ? bend : 0.0)};
}

/// r = P(r + α F); returns the norms of the step.
Norms ProjectedCg::advance(double alpha, bool robust, std::span<double> r) {
  Norms step;
  for (std::size_t k = 0; k < code_.size(); ++k) {
    double* r_k = r.data() + 3 * k;
    const double old[3] = {r_k[0], r_k[1], r_k[2]};
    for (std::size_t j = 0; j < 3; ++j) r_k[j] += alpha * F_[3 * k + j];
    const auto slides = static_cast<std::uint8_t>(robust ? code_[k] >> 1 : 0);
    project_impulse(data_->law, data_->mu[static_cast<Index>(k)], slides, S_.data() + 2 * k, r_k);
    for (std::size_t j = 0; j < 3; ++j) {
      const double change = r_k[j] - old[j];
      step.two += change * change;
      step.max = std::max(step.max, std::abs(change));
    }
  }
  step.two = std::sqrt(step.two);
  return step;
}

/// d = projection of z + β d on the tangent cone (the `true` form leaves it unprojected, as the paper does).
void ProjectedCg::next_direction(double beta, bool robust, std::span<const double> r) {
  for (std::size_t i = 0; i < d_.size(); ++i) d_[i] = z_[i] + beta * d_[i];
  if (!robust) return;
  for (std::size_t k = 0; k < code_.size(); ++k) {
    project_on_tangent_cone(data_->law, data_->mu[static_cast<Index>(k)], r.data() + 3 * k,
                            static_cast<std::uint8_t>(code_[k] >> 1), d_.data() + 3 * k);
  }
}

/// Projects the start on the admissible set; true when that changed it.
bool ProjectedCg::make_admissible(std::span<double> r) const {
  constexpr double kFree[2] = {0.0, 0.0};
  bool changed = false;
  for (std::size_t k = 0; k < code_.size(); ++k) {
    double* r_k = r.data() + 3 * k;
    const double old[3] = {r_k[0], r_k[1], r_k[2]};
    project_impulse(data_->law, data_->mu[static_cast<Index>(k)], 0, kFree, r_k);
    if (!(data_->diagonal[k](0, 0) > 0.0)) std::fill(r_k, r_k + 3, 0.0);
    changed = changed || !std::equal(old, old + 3, r_k);
  }
  return changed;
}

PhaseReport ProjectedCg::run(const Settings& settings, std::span<double> r, const StopTest& stop,
                             const PaperRules& rules, IterationObserver* observer, BestIterate& best) {
  PhaseReport report;
  report.error = measure(r);
  report.products = 1;
  best.offer(r, report.error);
  if (stop.met(report.error)) {
    report.end = PhaseEnd::converged;
    return report;
  }
  if (make_admissible(r)) {
    report.error = measure(r);
    ++report.products;
    best.offer(r, report.error);
  }
  if (settings.form == CgForm::printed) return run_printed(settings, r, stop, rules, observer, best);

  const bool robust = settings.form == CgForm::robust;
  const bool paper = rules.active() && !stop.fixed();
  double g_dot_old = 0.0;
  double g_dot_z = update_faces(r, robust, &g_dot_old);
  reset_direction();
  while (report.iterations < settings.phase.cap) {
    if (report.error <= settings.handing_on) {
      report.end = PhaseEnd::handed_on;
      return report;
    }
    if (stop.out_of_time()) {
      report.end = PhaseEnd::time;
      return report;
    }
    auto [numerator, denominator] = step_terms(robust);
    ++report.products;
    if (!(numerator > 0.0 && denominator > 0.0)) {
      reset_direction();
      std::tie(numerator, denominator) = step_terms(robust);
      ++report.products;
    }
    const double alpha = numerator / denominator;
    if (!(numerator > 0.0 && denominator > 0.0) || !std::isfinite(alpha)) {
      report.end =
          std::isfinite(numerator) && std::isfinite(denominator) ? PhaseEnd::stuck : PhaseEnd::diverged;
      return report;
    }
    const Norms step = advance(alpha, robust, r);
    report.error = measure(r);
    ++report.iterations;
    ++report.products;
    const double old_g_dot_z = g_dot_z;
    g_dot_z = update_faces(r, robust, &g_dot_old);
    if (observer != nullptr) {
      observer->on_iteration(settings.phase.first_iteration + report.iterations, r, settings.phase.phase);
    }
    if (!std::isfinite(g_dot_z) || !std::isfinite(report.error)) {
      report.end = PhaseEnd::diverged;
      return report;
    }
    best.offer(r, report.error);
    if (stop.met(report.error)) {
      report.end = PhaseEnd::converged;
      return report;
    }
    if (paper && rules.met(step, norms_of(g_))) {
      report.end = PhaseEnd::paper_rule;
      return report;
    }
    double beta = settings.beta == CgBeta::pr ? (g_dot_z - g_dot_old) / old_g_dot_z : g_dot_z / old_g_dot_z;
    if (robust && (faces_changed_ || !(beta > 0.0))) beta = 0.0;
    if (!std::isfinite(beta)) beta = 0.0;
    next_direction(beta, robust, r);
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
  // r₀ = b − A λ₀ = −u, d₀ = r₀; g_ holds the residual of the recurrence
  report.error = measure(r);
  for (std::size_t i = 0; i < g_.size(); ++i) g_[i] = d_[i] = -u_[i];
  double g_dot_g = dot(g_, g_);
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
    const Norms step = advance(alpha, false, r);
    ++report.iterations;
    if (observer != nullptr) {
      observer->on_iteration(settings.phase.first_iteration + report.iterations, r, settings.phase.phase);
    }
    // r̃ = r − α A d, then its projection given the new impulses
    double next_g_dot_g = 0.0;
    double g_dot_old = 0.0;
    for (std::size_t k = 0; k < code_.size(); ++k) {
      double* g = g_.data() + 3 * k;
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
      report.error = measure(r);
      ++report.products;
      best.offer(r, report.error);
    }
    if (stop.met(report.error)) {
      report.end = PhaseEnd::converged;
      return report;
    }
    if (paper && rules.met(step, norms_of(g_))) {
      report.end = PhaseEnd::paper_rule;
      return report;
    }
    const double beta =
        settings.beta == CgBeta::pr ? (next_g_dot_g - g_dot_old) / g_dot_g : next_g_dot_g / g_dot_g;
    g_dot_g = next_g_dot_g;
    for (std::size_t i = 0; i < d_.size(); ++i) d_[i] = g_[i] + beta * d_[i];
  }
  if (!measuring) report.error = std::numeric_limits<double>::quiet_NaN();
  return report;
}

}  // namespace signorini
