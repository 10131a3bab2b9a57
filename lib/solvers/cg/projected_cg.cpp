#include "solvers/cg/projected_cg.h"

#include <algorithm>
#include <cmath>

#include "linalg/types.h"

namespace signorini {

namespace {

double dot_in_order(std::span<const double> a, std::span<const double> b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

double inverse(double x) { return x > 0.0 ? 1.0 / x : 0.0; }

constexpr double kFree[2] = {0.0, 0.0};  ///< no sliding impulses to keep on their bound

}  // namespace

void ProjectedCg::Watchdog::observe(double g_dot_z) {
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

void ProjectedCg::prepare(const GaussSeidelData& data, const ContactBlockOptions& blocks) {
  data_ = &data;
  const std::size_t m = data.contacts();
  for (std::vector<double>* x : {&u_, &z_, &d_, &F_, &WF_}) x->assign(3 * m, 0.0);
  normal_step_.resize(m);
  stick_step_.resize(m);
  for (std::size_t k = 0; k < m; ++k) {
    normal_step_[k] = inverse(data.diagonal[k](0, 0));
    stick_step_[k] = normal_step_[k] > 0.0 ? inverse(data.tangent_inverse_mass[k]) : 0.0;
  }
  face_.assign(m, ContactFace{});
  in_blocks_ = blocks.blocks > 0;
  if (!in_blocks_) return;
  blocks_.prepare(data.W, blocks, 1);
  rows_.assign(m, ContactRows{});
  block_z_.assign(3 * m, 0.0);
}

Iteration ProjectedCg::start(const Settings& settings, std::span<const double> r, SolveCounters& counters,
                             long long& products, TaskArena* arena) {
  settings_ = settings;
  counters_ = &counters;
  products_ = &products;
  arena_ = arena;
  fresh_ = true;
  beta_ = 0.0;
  step_ = {};
  watchdog_ = {};
  blocks_.forget();
  evaluate(r);
  Iteration first;
  first.error = error_;
  return first;
}

/// u = W r + q and, where somebody asks for it, the exact error.
void ProjectedCg::evaluate(std::span<const double> r) {
  ++*products_;
  error_ = std::numeric_limits<double>::quiet_NaN();
  if (settings_.exact) {
    error_ = alart_curnier_error(*data_, r, u_, arena_);
    return;
  }
  multiply(arena_, data_->W, r, u_);
  for (std::size_t i = 0; i < u_.size(); ++i) u_[i] += data_->q[i];
}

/// ϱ = −u, its face at r with g, S, C, and z = D/(1 + D C) g; g·z, and g·(z before).
template <class Law>
void ProjectedCg::project_residual(std::span<const double> r) {
  faces_changed_ = 0;
  double g_dot_z = 0.0;
  double g_dot_old = 0.0;
  for (std::size_t k = 0; k < face_.size(); ++k) {
    const double rho[3] = {-u_[3 * k], -u_[3 * k + 1], -u_[3 * k + 2]};
    ContactFace face = face_of<Law>(data_->mu[k], r.data() + 3 * k, rho);
    if (!(normal_step_[k] > 0.0)) std::fill(face.g, face.g + 3, 0.0);
    double D_N = 1.0;
    double D_T = 1.0;
    if (robust()) {
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
  g_dot_old_z_ = g_dot_old;
  g_dot_z_ = g_dot_z;
  if (in_blocks_) precondition_normals();
}

/// z_N by blocks of W_NN, and g·z.
void ProjectedCg::precondition_normals() {
  for (std::size_t k = 0; k < face_.size(); ++k) {
    const ContactFace& face = face_[k];
    rows_[k].size = 0;
    if (normal_step_[k] > 0.0 && (face.pressed || face.g[0] > 0.0)) rows_[k].add(Vector3::UnitX(), 0.0);
    std::copy_n(face.g, 3, block_z_.data() + 3 * k);
  }
  counters_->factorisations += blocks_.set_rows(rows_);
  blocks_.apply(block_z_, block_z_);
  g_dot_z_ = 0.0;
  for (std::size_t k = 0; k < face_.size(); ++k) {
    double* z = z_.data() + 3 * k;
    z[0] = block_z_[3 * k];
    g_dot_z_ += face_[k].g[0] * z[0] + face_[k].g[1] * z[1] + face_[k].g[2] * z[2];
  }
}

/// d = projection of z + β d on the tangent cone, F = d + S d_N, and the two terms of α.
/// The `true` form leaves d unprojected, as the paper does, and moves by d alone along the whole ϱ.
template <class Law>
ProjectedCg::Terms ProjectedCg::aim(double beta) {
  Terms terms;
  double bend = 0.0;
  for (std::size_t k = 0; k < face_.size(); ++k) {
    const ContactFace& face = face_[k];
    const double* z = z_.data() + 3 * k;
    double* d = d_.data() + 3 * k;
    double* F = F_.data() + 3 * k;
    for (int j = 0; j < 3; ++j) F[j] = d[j] = z[j] + beta * d[j];
    if (robust()) {
      project_on_tangent_cone<Law>(face, d);
      F[0] = d[0];
      F[1] = d[1] + face.S[0] * d[0];
      F[2] = d[2] + face.S[1] * d[0];
      bend += face.curvature * (d[1] * d[1] + d[2] * d[2]);
      terms.numerator += face.g[0] * d[0] + face.g[1] * d[1] + face.g[2] * d[2];
    } else {
      for (std::size_t j = 0; j < 3; ++j) terms.numerator -= u_[3 * k + j] * d[j];
    }
  }
  multiply(arena_, data_->W, F_, WF_);
  ++*products_;
  terms.denominator = dot_in_order(d_, WF_) + bend;
  return terms;
}

/// r = P(r + α F).
template <class Law>
void ProjectedCg::move(double alpha, std::span<double> r) {
  Norms step;
  for (std::size_t k = 0; k < face_.size(); ++k) {
    double* r_k = r.data() + 3 * k;
    const double* F = F_.data() + 3 * k;
    const double old[3] = {r_k[0], r_k[1], r_k[2]};
    for (int j = 0; j < 3; ++j) r_k[j] += alpha * F[j];
    const std::uint8_t slides = robust() ? face_[k].slides : std::uint8_t{0};
    project_impulse<Law>(data_->mu[k], slides, face_[k].S, r_k);
    for (int j = 0; j < 3; ++j) step.add(r_k[j] - old[j]);
  }
  step_ = step.rooted();
}

Norms ProjectedCg::residual() const {
  Norms norms;
  if (settings_.form == CgForm::printed) {
    for (const double g : z_) norms.add(g);
  } else {
    for (const ContactFace& face : face_) {
      for (const double g : face.g) norms.add(g);
    }
  }
  return norms.rooted();
}

/// Projects the start on the admissible set; true when that changed it.
template <class Law>
bool ProjectedCg::make_admissible(std::span<double> r) const {
  bool changed = false;
  for (std::size_t k = 0; k < face_.size(); ++k) {
    double* r_k = r.data() + 3 * k;
    const double old[3] = {r_k[0], r_k[1], r_k[2]};
    project_impulse<Law>(data_->mu[k], 0, kFree, r_k);
    if (!(normal_step_[k] > 0.0)) std::fill(r_k, r_k + 3, 0.0);
    changed = changed || !std::equal(old, old + 3, r_k);
  }
  return changed;
}

template <class Law>
void ProjectedCg::begin(std::span<double> r, BestIterate& best) {
  fresh_ = false;
  if (make_admissible<Law>(r)) {
    evaluate(r);
    best.offer(r, error_);
  }
  if (settings_.form == CgForm::printed) {
    // r₀ = b − A λ₀ = −u, d₀ = r₀; z_ holds the residual of the recurrence
    for (std::size_t i = 0; i < z_.size(); ++i) z_[i] = d_[i] = -u_[i];
    g_dot_z_ = dot_in_order(z_, z_);
    return;
  }
  std::fill(d_.begin(), d_.end(), 0.0);
  project_residual<Law>(r);
}

Iteration ProjectedCg::iterate(std::span<double> r, BestIterate& best) {
  return with_law(data_->law, [&](auto law) {
    using Law = decltype(law);
    if (fresh_) begin<Law>(r, best);
    return settings_.form == CgForm::printed ? step_printed<Law>(r) : step_forward<Law>(r);
  });
}

template <class Law>
Iteration ProjectedCg::step_forward(std::span<double> r) {
  Iteration iteration;
  Terms terms = aim<Law>(beta_);
  if (!(terms.numerator > 0.0 && terms.denominator > 0.0)) {
    ++counters_->guards;
    std::fill(d_.begin(), d_.end(), 0.0);
    terms = aim<Law>(0.0);
  }
  double alpha = terms.numerator / terms.denominator;
  const bool bends_down = robust() && terms.numerator > 0.0 && terms.denominator <= 0.0;
  if (bends_down) alpha = 1.0;  // of a Jacobi step: there is no least energy along F
  if (!(terms.numerator > 0.0 && (terms.denominator > 0.0 || bends_down)) || !std::isfinite(alpha)) {
    if (!std::isfinite(terms.numerator) || !std::isfinite(terms.denominator))
      return iteration;  // NaN: diverged
    iteration.moved = false;
    iteration.error = error_;
    return iteration;
  }
  if (robust() && alpha > watchdog_.longest_step()) {
    alpha = watchdog_.longest_step();
    ++counters_->guards;
  }
  move<Law>(alpha, r);
  evaluate(r);
  old_g_dot_z_ = g_dot_z_;
  project_residual<Law>(r);
  watchdog_.observe(g_dot_z_);
  ++counters_->evaluations;
  counters_->state_changes += faces_changed_;
  if (!std::isfinite(g_dot_z_)) return iteration;  // NaN: diverged
  iteration.error = error_;
  iteration.merit = settings_.exact ? error_ : g_dot_z_;
  return iteration;
}

/// Algorithm 2 as it stands: the residual by its recurrence r̃ = r − α A d, then its projection given the new
/// impulses.
template <class Law>
Iteration ProjectedCg::step_printed(std::span<double> r) {
  Iteration iteration;
  std::copy(d_.begin(), d_.end(), F_.begin());
  multiply(arena_, data_->W, F_, WF_);
  ++*products_;
  const double alpha = g_dot_z_ / dot_in_order(d_, WF_);
  if (!std::isfinite(alpha) || g_dot_z_ == 0.0) {
    iteration.moved = g_dot_z_ != 0.0;  // else NaN: diverged
    iteration.error = iteration.moved ? iteration.error : error_;
    return iteration;
  }
  move<Law>(alpha, r);
  double next = 0.0, with_old = 0.0;
  for (std::size_t k = 0; k < face_.size(); ++k) {
    double* g = z_.data() + 3 * k;
    const double tilde[3] = {g[0] - alpha * WF_[3 * k], g[1] - alpha * WF_[3 * k + 1],
                             g[2] - alpha * WF_[3 * k + 2]};
    const ContactFace face = face_of<Law>(data_->mu[k], r.data() + 3 * k, tilde);
    for (std::size_t j = 0; j < 3; ++j) {
      next += face.g[j] * face.g[j];
      with_old += face.g[j] * g[j];
      g[j] = face.g[j];
    }
  }
  old_g_dot_z_ = g_dot_z_;
  g_dot_z_ = next;
  g_dot_old_z_ = with_old;
  if (!std::isfinite(next) || !all_finite(r)) return iteration;  // NaN: diverged
  if (settings_.exact) evaluate(r);
  iteration.error = settings_.exact ? error_ : iteration.error;
  iteration.merit = next;
  return iteration;
}

void ProjectedCg::settle() {
  beta_ = (settings_.beta == CgBeta::pr ? g_dot_z_ - g_dot_old_z_ : g_dot_z_) / old_g_dot_z_;
  if (settings_.form == CgForm::printed) {
    for (std::size_t i = 0; i < d_.size(); ++i) d_[i] = z_[i] + beta_ * d_[i];
    return;
  }
  const bool restart = robust() && (faces_changed_ > 0 || !(beta_ > 0.0));
  if (!restart && std::isfinite(beta_)) return;
  beta_ = 0.0;
  ++counters_->restarts;
}

}  // namespace signorini
