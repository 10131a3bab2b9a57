#include "solvers/contact_sweep.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"
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

void ContactSweep::prepare(const PrimalSystem& system, SweepOrder order) {
  SIGNORINI_CHECK(order != SweepOrder::symmetric);
  system_ = &system;
  inverse_mass_.resize(system.contacts());
  for (Index k = 0; k < system.contacts(); ++k) inverse_mass_[k] = inverse_mass_of(system.W_D_diagonal[k]);
  by_nodes_ = system.couples_by_nodes();
  if (by_nodes_) coupling_.prepare(system);
  find_regions();
  colour_regions(order);
  gather_tasks();
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
  is_split_.assign(components.count, 0);
  splits_.clear();
}

/// Regions that are to be coloured: their contacts by colour, those of one colour in ascending order.
void ContactSweep::colour_regions(SweepOrder order) {
  const Index least = order == SweepOrder::coloured ? 2 : kColouredContacts;
  moved_ = {};
  bool coloured = false;
  Index largest = 0;
  for (Index region = 0; region < regions(); ++region)
    largest = std::max(largest, region_begin_[region + 1] - region_begin_[region]);
  if (order == SweepOrder::natural || largest < least) return;
  const std::vector<Index> colour =
      first_fit_colours(by_nodes_ ? coupling_.neighbours() : neighbours_by_delassus(system_->W_D));
  for (Index region = 0; region < regions(); ++region) {
    const std::span<Index> contacts =
        std::span<Index>(region_contacts_)
            .subspan(region_begin_[region], region_begin_[region + 1] - region_begin_[region]);
    if (count(contacts) < least) continue;
    Index most = 0;
    for (const Index k : contacts) most = std::max(most, colour[k]);
    if (order == SweepOrder::automatic && count(contacts) < kContactsPerColour * (most + 1)) continue;
    std::ranges::stable_sort(contacts, {}, [&](Index k) { return colour[k]; });
    split_region(region, colour);
    coloured = true;
  }
  if (coloured && !by_nodes_) move_rows();
}

/// Rows in the order of the places, so that a sweep reads them one after the other.
void ContactSweep::move_rows() {
  const BlockSparseMatrix& W = system_->W_D;
  moved_.block_rows = W.block_rows;
  moved_.block_columns = W.block_columns;
  moved_.column.reserve(W.column.size());
  moved_.values.reserve(W.values.size());
  moved_.row_begin.push_back(0);
  for (const Index k : region_contacts_) {
    const Index first = W.row_begin[k], last = W.row_begin[k + 1];
    moved_.column.insert(moved_.column.end(), W.column.begin() + first, W.column.begin() + last);
    moved_.values.insert(moved_.values.end(), W.block(first), W.block(last));
    moved_.row_begin.push_back(count(moved_.column));
  }
  moved_.values.resize(W.values.size(), 0.0);
}

/// Where a colour is large enough for several threads.
void ContactSweep::split_region(Index region, std::span<const Index> colour) {
  const Index begin = region_begin_[region], contacts = region_begin_[region + 1] - begin;
  SweepPlan plan;
  for (Index place = 0; place < contacts; ++place) {
    if (place == 0 || colour[region_contacts_[begin + place]] != colour[region_contacts_[begin + place - 1]])
      plan.colour_begin.push_back(place);
  }
  plan.colour_begin.push_back(contacts);
  Split split;
  split.region = region;
  split.stages.prepare(contacts, plan, SweepStages::kWorthSharing);
  if (split.stages.pieces() == split.stages.stages()) return;
  split.seen.resize(split.stages.pieces());
  splits_.push_back(std::move(split));
  is_split_[region] = 1;
}

/// Blocks that one sweep over a region reads.
Index ContactSweep::work_of(Index region) const {
  Index work = 0;
  for (Index c = region_begin_[region]; c < region_begin_[region + 1]; ++c) {
    const Index k = region_contacts_[c];
    work += by_nodes_ ? coupling_.size_of(k) : system_->W_D.row_begin[k + 1] - system_->W_D.row_begin[k];
  }
  return work;
}

void ContactSweep::gather_tasks() {
  region_task_.assign(1, 0);
  Index work = 0;
  for (Index region = 0; region < regions(); ++region) {
    if (is_split_[region] == 0) work += work_of(region);
    if (work < kTaskBlocks) continue;
    region_task_.push_back(region + 1);
    work = 0;
  }
  if (region_task_.back() != regions()) region_task_.push_back(regions());
}

/// Of the contact at `place`, from its row of W_D.
Vector3 ContactSweep::own_velocity(Index place, std::span<const double> r) const {
  const Index k = region_contacts_[place];
  if (by_nodes_) return coupling_.velocity(k);
  return moved_.block_rows > 0 ? row_times(moved_, place, r) : row_times(system_->W_D, k, r);
}

void ContactSweep::without_own(std::span<const double> u, std::span<const double> r, std::span<double> q) {
  if (by_nodes_) coupling_.start(r);
  for (Index place = 0; place < count(region_contacts_); ++place) {
    const std::size_t k = region_contacts_[place];
    Eigen::Map<Vector3>(q.data() + 3 * k) =
        Eigen::Map<const Vector3>(u.data() + 3 * k) - own_velocity(place, r);
  }
}

ContactSweep::Seen ContactSweep::sweep_region(double inverse_omega, std::span<const double> q,
                                              const Rule& rule, Index region, std::span<double> r) {
  return sweep_places(inverse_omega, q, rule, region_begin_[region], region_begin_[region + 1], r);
}

ContactSweep::Seen ContactSweep::sweep_split(double inverse_omega, std::span<const double> q,
                                             const Rule& rule, Split& split, std::span<double> r,
                                             TaskArena* arena) {
  const Index begin = region_begin_[split.region];
  return split.stages.run(
      arena, split.seen,
      [&](SweepRange range) {
        return sweep_places(inverse_omega, q, rule, begin + range.begin, begin + range.end, r);
      },
      joined);
}

ContactSweep::Seen ContactSweep::sweep_places(double inverse_omega, std::span<const double> q,
                                              const Rule& rule, Index first, Index last,
                                              std::span<double> r) {
  return with_law(system_->law, [&](auto law) {
    using Law = decltype(law);
    const bool plain = rule.moves == Moves::all && rule.bounds.empty();
    return plain ? sweep_places_by<Law, true>(inverse_omega, q, rule, first, last, r)
                 : sweep_places_by<Law, false>(inverse_omega, q, rule, first, last, r);
  });
}

/// Plain: all impulses move, bounds are μ r_N; so much is known to the compiler in the loop.
template <class Law, bool Plain>
ContactSweep::Seen ContactSweep::sweep_places_by(double inverse_omega, std::span<const double> q,
                                                 const Rule& rule, Index first, Index last,
                                                 std::span<double> r) {
  Seen seen;
  double poison = 0.0;
  const int repetitions = rule.repetitions;
  for (Index place = first; place < last; ++place) {
    const std::size_t k = region_contacts_[place];
    Eigen::Map<Vector3> rk(r.data() + 3 * k);
    if (!(inverse_mass_[k].normal > 0.0)) {
      rk.setZero();  // (W_D)_NN = 0: it moves nothing
      continue;
    }
    LocalContact c{rk,
                   inverse_omega * own_velocity(place, r) + Eigen::Map<const Vector3>(q.data() + 3 * k),
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

/// NaN where one correction is.
ContactSweep::Seen ContactSweep::joined(const Seen& a, const Seen& b) {
  Seen both;
  both.correction = std::max(a.correction, b.correction) + 0.0 * a.correction + 0.0 * b.correction;
  both.normal = std::max(a.normal, b.normal);
  both.tangent = std::max(a.tangent, b.tangent);
  both.closing = std::max(a.closing, b.closing);
  return both;
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
      for (Index region = region_task_[task]; region < region_task_[task + 1]; ++region) {
        if (is_split_[region] == 0) seen_[region] = sweep_region(inverse_omega, q, rule, region, r);
      }
    });
    for (Split& split : splits_) seen_[split.region] = sweep_split(inverse_omega, q, rule, split, r, arena);
    const Seen now = std::accumulate(seen_.begin(), seen_.end(), Seen{}, joined);
    if (all.sweeps++ == 0) all.first = now.correction;
    if (!(now.correction > rule.enough)) break;
    if (all.sweeps > 1 && settled(now.normal, before.normal) && settled(now.tangent, before.tangent) &&
        now.closing <= rule.closing)
      break;
    before = now;
  }
  return all;
}

template <class Sweep>
ContactSweep::Outcome ContactSweep::repeat(const Rule& rule, const Sweep& sweep) {
  Outcome outcome;
  while (outcome.sweeps < rule.limit) {
    const double correction = sweep().correction;
    if (outcome.sweeps++ == 0) outcome.first = correction;
    if (!(correction > rule.enough)) break;
  }
  return outcome;
}

ContactSweep::Outcome ContactSweep::run(double omega, std::span<const double> q, const Rule& rule,
                                        std::span<double> r, TaskArena* arena) {
  const double inverse_omega = 1.0 / omega;
  if (by_nodes_) coupling_.start(r);
  if (rule.changes) return run_until_settled(inverse_omega, q, rule, r, arena);
  for_each_task(arena, region_task_.size() - 1, [&](std::size_t task) {
    for (Index region = region_task_[task]; region < region_task_[task + 1]; ++region) {
      if (is_split_[region] == 0)
        outcome_[region] = repeat(rule, [&] { return sweep_region(inverse_omega, q, rule, region, r); });
    }
  });
  for (Split& split : splits_)
    outcome_[split.region] =
        repeat(rule, [&] { return sweep_split(inverse_omega, q, rule, split, r, arena); });
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
