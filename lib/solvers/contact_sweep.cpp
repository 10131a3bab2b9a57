#include "solvers/contact_sweep.h"

#include <algorithm>
#include <cmath>

#include "base/roots.h"
#include "linalg/connected_components.h"

namespace signorini {

namespace {

/// Blocks of W_D that make a task worth its start: a sweep over them is repeated several times.
constexpr Index kTaskBlocks = 500;

/// r_k and u_k of one contact while it repeats N, T1, T2.
struct LocalContact {
  Vector3 r;
  Vector3 u;
  const Matrix3& D;
  InverseMass inverse_mass;
  double mu;
  double held;           ///< bound of friction; negative: μ r_N
  double inverse_omega;  // 1/ω

  void move(int j, double change) {
    r[j] += change;
    u += (inverse_omega * change) * D.col(j);
  }
  void normal() { move(0, std::max(-r[0], -u[0] / (inverse_omega * inverse_mass.normal))); }
  double bound() const { return held >= 0.0 ? held : mu * r[0]; }
  /// Both tangents at once where they share a bound, else one after the other.
  template <class Law>
  void tangents() {
    if constexpr (Law::kPartSize == 1) {
      for (int j = 1; j < 3; ++j) {
        if (!(D(j, j) > 0.0)) continue;
        move(j, std::clamp(r[j] - u[j] / (inverse_omega * D(j, j)), -bound(), bound()) - r[j]);
      }
    } else {
      if (!(inverse_mass.tangent > 0.0)) return;
      const Vector2 stepped = r.tail<2>() - u.tail<2>() / (inverse_omega * inverse_mass.tangent);
      const Vector2 change = Law::project_tangent(stepped, bound()) - r.tail<2>();
      move(1, change[0]);
      move(2, change[1]);
    }
  }
};

/// Row k of W times r.
Vector3 row_times(const BlockSparseMatrix& W, std::size_t k, std::span<const double> r) {
  Vector3 u = Vector3::Zero();
  for (Index b = W.row_begin[k]; b < W.row_begin[k + 1]; ++b) {
    const std::size_t l = W.column[b];
    u += Eigen::Map<const Matrix3>(W.block(b)) * Eigen::Map<const Vector3>(r.data() + 3 * l);
  }
  return u;
}

}  // namespace

void ContactSweep::prepare(const PrimalSystem& system) {
  system_ = &system;
  inverse_mass_.resize(system.contacts());
  for (Index k = 0; k < system.contacts(); ++k) inverse_mass_[k] = inverse_mass_of(system.W_D_diagonal[k]);
  by_nodes_ = system.couples_by_nodes();
  if (by_nodes_) coupling_.prepare(system);
  find_regions();
}

void ContactSweep::find_regions() {
  const Components components = by_nodes_ ? coupling_.components() : connected_components(system_->W_D);
  region_begin_.assign(components.count + 1, 0);
  for (const Index region : components.label) ++region_begin_[region + 1];
  for (std::size_t i = 1; i < region_begin_.size(); ++i) region_begin_[i] += region_begin_[i - 1];
  region_contacts_.resize(components.label.size());
  std::vector<Index> next(region_begin_.begin(), region_begin_.end() - 1);
  for (Index k = 0; k < count(components.label); ++k) region_contacts_[next[components.label[k]]++] = k;
  outcome_.assign(components.count, {});
  seen_.assign(components.count, {});
  region_task_.assign(1, 0);
  Index work = 0;
  for (Index region = 0; region < components.count; ++region) {
    for (Index c = region_begin_[region]; c < region_begin_[region + 1]; ++c) {
      const Index k = region_contacts_[c];
      work += by_nodes_ ? coupling_.size_of(k) : system_->W_D.row_begin[k + 1] - system_->W_D.row_begin[k];
    }
    if (work < kTaskBlocks) continue;
    region_task_.push_back(region + 1);
    work = 0;
  }
  if (region_task_.back() != components.count) region_task_.push_back(components.count);
}

Vector3 ContactSweep::own_velocity(std::size_t k, std::span<const double> r) const {
  return by_nodes_ ? coupling_.velocity(static_cast<Index>(k)) : row_times(system_->W_D, k, r);
}

void ContactSweep::without_own(std::span<const double> u, std::span<const double> r, std::span<double> q) {
  if (by_nodes_) coupling_.start(r);
  for (std::size_t k = 0; k < inverse_mass_.size(); ++k)
    Eigen::Map<Vector3>(q.data() + 3 * k) = Eigen::Map<const Vector3>(u.data() + 3 * k) - own_velocity(k, r);
}

ContactSweep::Seen ContactSweep::sweep_region(double inverse_omega, std::span<const double> q,
                                              const Rule& rule, Index region, std::span<double> r) {
  return with_law(system_->law, [&](auto law) {
    using Law = decltype(law);
    const bool plain = rule.moves == Moves::all && rule.bounds.empty();
    return plain ? sweep_region_by<Law, true>(inverse_omega, q, rule, region, r)
                 : sweep_region_by<Law, false>(inverse_omega, q, rule, region, r);
  });
}

/// Plain: all impulses move, bounds are μ r_N; so much is known to the compiler in the loop.
template <class Law, bool Plain>
ContactSweep::Seen ContactSweep::sweep_region_by(double inverse_omega, std::span<const double> q,
                                                 const Rule& rule, Index region, std::span<double> r) {
  Seen seen;
  double poison = 0.0;
  const int repetitions = rule.repetitions;
  const Index end = region_begin_[region + 1];
  for (Index place = region_begin_[region]; place < end; ++place) {
    const std::size_t k = region_contacts_[place];
    Eigen::Map<Vector3> rk(r.data() + 3 * k);
    if (!(inverse_mass_[k].normal > 0.0)) {
      rk.setZero();  // (W_D)_NN = 0: it moves nothing
      continue;
    }
    LocalContact c{rk,
                   inverse_omega * own_velocity(k, r) + Eigen::Map<const Vector3>(q.data() + 3 * k),
                   system_->W_D_diagonal[k],
                   inverse_mass_[k],
                   system_->mu[k],
                   Plain || rule.bounds.empty() ? -1.0 : rule.bounds[k],
                   inverse_omega};
    seen.closing = std::max(seen.closing, -c.u[0]);
    if (Plain && c.u[0] >= 0.0 && c.r.isZero(0.0)) continue;  // open, and stays open
    for (int i = 0; i < repetitions; ++i) {
      const Vector3 before = c.r;
      if (Plain || rule.moves != Moves::tangents) c.normal();
      if (Plain || rule.moves != Moves::normals) c.template tangents<Law>();
      if (c.r == before) break;
    }
    const Vector3 change = c.r - rk;
    rk = c.r;
    if (by_nodes_) coupling_.add(static_cast<Index>(k), change);
    const double normal = change[0] * c.inverse_mass.normal;
    const double tangent = change.tail<2>().norm() * c.inverse_mass.tangent;
    const double correction = inverse_omega * hypotenuse(normal, tangent);
    poison += 0.0 * correction;
    seen.correction = std::max(seen.correction, correction);
    seen.normal = std::max(seen.normal, inverse_omega * std::abs(normal));
    seen.tangent = std::max(seen.tangent, inverse_omega * tangent);
  }
  seen.correction += poison;
  return seen;
}

/// The inner loop of Otaduy 2009 section 5.5: one sweep over all contacts after the other.
ContactSweep::Outcome ContactSweep::run_until_settled(double inverse_omega, std::span<const double> q,
                                                      const Rule& rule, std::span<double> r,
                                                      TaskArena* arena) {
  const auto settled = [&rule](double now, double before) {
    return std::abs(now - before) <= rule.share * before;
  };
  Outcome all;
  Seen before;
  while (all.sweeps < rule.limit) {
    for_each_task(arena, region_task_.size() - 1, [&](std::size_t task) {
      for (Index region = region_task_[task]; region < region_task_[task + 1]; ++region)
        seen_[region] = sweep_region(inverse_omega, q, rule, region, r);
    });
    Seen now;
    double poison = 0.0;
    for (const Seen& seen : seen_) {
      poison += 0.0 * seen.correction;
      now.correction = std::max(now.correction, seen.correction);
      now.normal = std::max(now.normal, seen.normal);
      now.tangent = std::max(now.tangent, seen.tangent);
      now.closing = std::max(now.closing, seen.closing);
    }
    now.correction += poison;
    if (all.sweeps++ == 0) all.first = now.correction;
    if (!(now.correction > rule.enough)) break;
    if (all.sweeps > 1 && settled(now.normal, before.normal) && settled(now.tangent, before.tangent) &&
        now.closing <= rule.closing)
      break;
    before = now;
  }
  return all;
}

ContactSweep::Outcome ContactSweep::run(double omega, std::span<const double> q, const Rule& rule,
                                        std::span<double> r, TaskArena* arena) {
  const double inverse_omega = 1.0 / omega;
  if (by_nodes_) coupling_.start(r);
  if (rule.changes) return run_until_settled(inverse_omega, q, rule, r, arena);
  for_each_task(arena, region_task_.size() - 1, [&](std::size_t task) {
    for (Index region = region_task_[task]; region < region_task_[task + 1]; ++region) {
      Outcome& inner = outcome_[region];
      inner = {};
      for (int sweep = 0; sweep < rule.limit; ++sweep) {
        const double correction = sweep_region(inverse_omega, q, rule, region, r).correction;
        ++inner.sweeps;
        if (sweep == 0) inner.first = correction;
        if (!(correction > rule.enough)) break;
      }
    }
  });
  Outcome all;
  double poison = 0.0;
  for (const Outcome& inner : outcome_) {
    poison += 0.0 * inner.first;
    all.first = std::max(all.first, inner.first);
    all.sweeps = std::max(all.sweeps, inner.sweeps);
  }
  all.first += poison;
  return all;
}

}  // namespace signorini
