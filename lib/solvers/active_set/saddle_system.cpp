#include "solvers/active_set/saddle_system.h"

#include <algorithm>
#include <cmath>

#include "solvers/active_set/duplicate_scales.h"

namespace signorini {

void SaddleSystem::prepare(const PrimalSystem& system, const StateRules& rules, bool scale_duplicates,
                           SolveCounters& counters, const ContactBlockOptions& blocks) {
  system_ = &system;
  counters_ = &counters;
  states.prepare(system, rules);
  const std::size_t n = system.size();
  const std::size_t m = system.contacts();
  for (auto* x : {&v, &momentum, &scratch_}) x->assign(n, 0.0);
  for (auto* x : {&u, &old_, &constraint_}) x->assign(3 * m, 0.0);
  set_chunks(n);
  inverse_diagonal_.resize(n);
  for (std::size_t i = 0; i < n / 3; ++i) {
    const Matrix3 D = diagonal_block(system.M, static_cast<Index>(i));
    for (std::size_t j = 0; j < 3; ++j) inverse_diagonal_[3 * i + j] = 1.0 / D(j, j);
  }
  inverse_mass_.resize(3 * m);
  for (Index k = 0; k < system.contacts(); ++k) {
    const Matrix3& D = system.W_D_diagonal[k];
    for (Index j = 0; j < 3; ++j) inverse_mass_[3 * k + j] = D(j, j);
  }
  duplicate_.assign(m, 1.0);
  if (scale_duplicates) duplicate_ = duplicate_scales(system);
  prepare_touched();
  in_blocks_ = blocks.blocks > 0 && !system.couples_by_nodes();
  if (!in_blocks_) return;
  blocks_.prepare(system.W_D, blocks, 3);
  rows_.assign(m, ContactRows{});
}

/// H row by row (contacts ascending within a dof), and the node blocks it
/// touches.
void SaddleSystem::prepare_touched() {
  const DirectionRows& H = system_->H;
  const std::size_t n = system_->size();
  row_begin_.assign(n + 1, 0);
  for (const Index dof : H.dof) ++row_begin_[dof + 1];
  for (std::size_t i = 0; i < n; ++i) row_begin_[i + 1] += row_begin_[i];
  row_contact_.resize(H.dof.size());
  row_coefficient_.resize(3 * H.dof.size());
  std::vector<Index> next(row_begin_.begin(), row_begin_.end() - 1);
  for (Index k = 0; k < H.contacts(); ++k) {
    for (Index e = H.begin[k]; e < H.begin[k + 1]; ++e) {
      const std::size_t to = next[H.dof[e]]++;
      row_contact_[to] = k;
      for (std::size_t j = 0; j < 3; ++j) row_coefficient_[3 * to + j] = H.coefficient[3 * e + j];
    }
  }
  touched_.clear();
  special_.clear();
  inverse_.resize(n / 3);
  touched_begin_.assign(1, 0);
  special_begin_.assign(1, 0);
  for (std::size_t node = 0; node < n / 3; ++node) {
    const Matrix3& D = system_->inverse[node];
    inverse_[node] = {D(0, 0), D(0, 1), D(0, 2), D(1, 1), D(1, 2), D(2, 2)};
    const bool touched = row_begin_[3 * node + 3] > row_begin_[3 * node];
    if (touched) touched_.push_back(static_cast<Index>(node));
    if (touched || D(0, 0) == 0.0) special_.push_back(static_cast<Index>(node));
    if ((node + 1) % kChunkNodes != 0 && node + 1 < n / 3) continue;
    touched_begin_.push_back(touched_.size());
    special_begin_.push_back(special_.size());
  }
  touched_begin_.resize(partial.size() + 1, touched_.size());
  special_begin_.resize(partial.size() + 1, special_.size());
}

void SaddleSystem::gather_node(std::span<const double> x, double factor, Index node,
                               std::span<double> y) const {
  const std::size_t first = 3 * node;
  for (std::size_t i = first; i < first + 3; ++i) {
    const std::size_t end = row_begin_[i + 1];
    for (std::size_t e = row_begin_[i]; e < end; ++e) {
      const double* h = row_coefficient_.data() + 3 * e;
      const std::size_t k = row_contact_[e];
      const double* c = x.data() + 3 * k;
      y[i] += factor * (h[0] * c[0] + h[1] * c[1] + h[2] * c[2]);
    }
  }
}

void SaddleSystem::multiply(std::span<const double> x, std::span<double> y, ChunkBody then) {
  for_each_task(system_->parts() > 1 ? arena : nullptr, system_->parts(), [&](std::size_t part) {
    system_->multiply_part(part, x, y);
    const std::size_t last = system_->part_begin(part + 1);
    for (std::size_t node = system_->part_begin(part); node < last; node += kChunkNodes)
      then(node / kChunkNodes, 3 * node, 3 * std::min(last, node + kChunkNodes));
  });
  ++counters_->mass_products;
}

void SaddleSystem::apply(const SaddleVector& x, SaddleImage& Kx, ChunkBody then) {
  multiply(x.v, Kx.K.v, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
    gather_chunk(chunk, x.c, -1.0, Kx.K.v);
    then(chunk, begin, end);
  });
  constraint_velocities(x, Kx);
}

void SaddleSystem::move(double alpha, const SaddleVector& x, const SaddleImage& Kx, ChunkBody then) {
  each_chunk([&](std::size_t chunk, std::size_t begin, std::size_t end) {
    axpy(alpha, cut(x.v, begin, end), cut(v, begin, end));
    axpy(-alpha, cut(Kx.K.v, begin, end), cut(momentum, begin, end));
    partial[chunk] = {largest_momentum(begin, end), 0.0, 0.0};
    then(chunk, begin, end);
  });
  axpy(alpha, x.c, states.lambda);
  axpy(alpha, Kx.H, u);
  set_residual();
}

void SaddleSystem::constraint_velocities(const SaddleVector& x, SaddleImage& Kx) {
  contact_velocities(system_->H, x.v, Kx.H);
  counters_->direction_products += 2;
  std::vector<double>& out = Kx.K.c;
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = -Kx.H[i];
  states.restrict_to_active(out, out);
  for (std::size_t k = 0; k < states.compliance.size(); ++k) {
    out[3 * k + 1] -= states.compliance[k] * x.c[3 * k + 1];
    out[3 * k + 2] -= states.compliance[k] * x.c[3 * k + 2];
  }
  if (!states.regularised()) return;
  for (std::size_t i = 0; i < out.size(); ++i) out[i] -= states.proximal[i] * x.c[i];
}

/// 1/(Z S + ε) of row i; 0 where nothing gives way.
double SaddleSystem::row_preconditioner(std::size_t i, double Z) const {
  if (!(inverse_mass_[i] > 0.0)) return 0.0;
  const std::size_t k = i / 3;
  const Vector2& e = states.across[k];
  if (i % 3 == 0 || (e[0] == 0.0 && e[1] == 0.0)) return 1.0 / (Z * inverse_mass_[i] + states.proximal[i]);
  const double across = e[0] * e[0] * inverse_mass_[3 * k + 1] + e[1] * e[1] * inverse_mass_[3 * k + 2];
  return 1.0 / (Z * across + states.compliance[k] + states.proximal[i]);
}

/// The rows of L of contact k, with what E and ϑ add to S.
ContactRows SaddleSystem::active_rows(std::size_t k) const {
  const std::size_t i = 3 * k;
  ContactRows rows;
  if (states.active[i] != 0.0) rows.add(Vector3::UnitX(), states.proximal[i]);
  const Vector2& e = states.across[k];
  if (e[0] != 0.0 || e[1] != 0.0) {
    rows.add({0.0, e[0], e[1]}, states.compliance[k] + states.proximal[i + 1]);
    return rows;
  }
  for (Index j = 1; j < 3; ++j)
    if (states.active[i + j] != 0.0)
      rows.add(Vector3::Unit(j), states.compliance[k] + states.proximal[i + j]);
  return rows;
}

/// c ← S⁻¹ c.
void SaddleSystem::apply_blocks(std::vector<double>& c) {
  for (std::size_t k = 0; k < rows_.size(); ++k) rows_[k] = active_rows(k);
  counters_->factorisations += blocks_.set_rows(rows_, arena);
  blocks_.apply(c, c, arena);
}

void SaddleSystem::precondition_chunk(std::size_t chunk, const SaddleVector& x, const SaddleVector& coupled,
                                      std::size_t begin, std::size_t end, double* out) const {
  for (std::size_t i = begin; i < end; i += 3) {
    const auto& D = inverse_[i / 3];
    const double a = x.v[i], b = x.v[i + 1], c = x.v[i + 2];
    double* y = out + (i - begin);
    y[0] = D[0] * a + D[1] * b + D[2] * c;
    y[1] = D[1] * a + D[3] * b + D[4] * c;
    y[2] = D[2] * a + D[4] * b + D[5] * c;
  }
  for (std::size_t i = special_begin_[chunk]; i < special_begin_[chunk + 1]; ++i)
    std::copy_n(coupled.v.data() + 3 * special_[i], 3, out + (3 * special_[i] - begin));
}

void SaddleSystem::precondition_coupled(const SaddleVector& x, SaddleVector& out, bool full) {
  const auto take = [&](bool with_impulses) {
    for (const Index node : special_) {
      std::copy_n(x.v.data() + 3 * node, 3, out.v.data() + 3 * node);
      if (with_impulses) gather_node(out.c, 1.0, node, out.v);
      system_->apply_inverse_nodes(out.v, node, node + 1);
    }
    system_->apply_inverse_pairs(out.v);
  };
  take(false);
  if (!full && in_blocks_) {
    std::copy(x.c.begin(), x.c.end(), out.c.begin());
    return apply_blocks(out.c);
  }
  if (!full) {
    for (std::size_t i = 0; i < out.c.size(); ++i) out.c[i] = row_preconditioner(i, 1.0) * x.c[i];
    return;
  }
  counters_->direction_products += 2;
  // a = S⁻¹ (L D⁻¹ ρ_v + ρ_c), −a in out.c
  contact_velocities(system_->H, out.v, out.c);
  if (in_blocks_) {
    for (std::size_t i = 0; i < out.c.size(); ++i) out.c[i] = -(out.c[i] + x.c[i]);
    apply_blocks(out.c);
  } else {
    for (std::size_t i = 0; i < out.c.size(); ++i)
      out.c[i] = -row_preconditioner(i, duplicate_[i / 3]) * (out.c[i] + x.c[i]);
    states.restrict_to_active(out.c, out.c);
  }
  // D⁻¹ (ρ_v − Lᵀ a)
  take(true);
}

/// max |ρ_v/M_ii| over [begin, end); NaN where one is. Four at a time, so that the processor need not wait
/// for one.
double SaddleSystem::largest_momentum(std::size_t begin, std::size_t end) const {
  constexpr std::size_t kLanes = 4;
  std::array<double, kLanes> largest{}, poison{};
  const auto take = [&](std::size_t i, std::size_t lane) {
    const double e = std::abs(momentum[i]) * inverse_diagonal_[i];
    poison[lane] += 0.0 * e;
    largest[lane] = std::max(largest[lane], e);
  };
  std::size_t i = begin;
  for (; i + kLanes <= end; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) take(i + lane, lane);
  }
  for (; i < end; ++i) take(i, 0);
  for (std::size_t lane = 1; lane < kLanes; ++lane) {
    largest[0] = std::max(largest[0], largest[lane]);
    poison[0] += poison[lane];
  }
  return largest[0] + poison[0];
}

/// From partial[.][0] = largest_momentum of the chunks.
void SaddleSystem::set_residual() {
  double largest = 0.0, poison = 0.0;
  for (const auto& part : partial) {
    poison += 0.0 * part[0];
    largest = std::max(largest, part[0]);
  }
  momentum_error = largest + poison;
  residual = std::max(largest, constraint_norm()) + poison;
}

void SaddleSystem::measure_residual() {
  each_chunk([&](std::size_t chunk, std::size_t begin, std::size_t end) {
    partial[chunk][0] = largest_momentum(begin, end);
  });
  set_residual();
}

void SaddleSystem::constraint_residual(std::vector<double>& out) const {
  states.restrict_to_active(u, out);
  for (std::size_t k = 0; k < states.compliance.size(); ++k) {
    out[3 * k + 1] += states.compliance[k] * states.lambda[3 * k + 1];
    out[3 * k + 2] += states.compliance[k] * states.lambda[3 * k + 2];
  }
  if (!states.regularised()) return;
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] += states.proximal[i] * (states.lambda[i] - states.centre[i]);
}

double SaddleSystem::constraint_norm() const {
  constraint_residual(constraint_);
  double largest = 0.0;
  for (const double x : constraint_) largest = std::max(largest, std::abs(x));
  return largest;
}

double SaddleSystem::squared_residual(double dt) const {
  constraint_residual(constraint_);
  return dot(momentum, momentum) + dt * dt * dot(constraint_, constraint_);
}

void SaddleSystem::residual_vector(SaddleVector& out) const {
  std::copy(momentum.begin(), momentum.end(), out.v.begin());
  constraint_residual(out.c);
}

void SaddleSystem::start(PrimalSystem& system, std::span<const double> impulses,
                         std::span<const double> velocities, bool belong) {
  std::copy(velocities.begin(), velocities.end(), v.begin());
  blocks_.forget();
  const bool warm = std::any_of(impulses.begin(), impulses.end(), [](double x) { return x != 0.0; });
  if (warm && system.exact()) {
    system.exact_response(impulses, v, arena);
    axpy(1.0, {system.origin.data(), v.size()}, v);
    ++counters_->triangular_solves;
    belong = true;
  } else if (warm && !belong) {
    std::fill(scratch_.begin(), scratch_.end(), 0.0);
    add_impulses(system.H, impulses, scratch_);
    system.apply_inverse_diagonal(scratch_);
    axpy(1.0, scratch_, v);
    ++counters_->direction_products;
  }
  system.relative_velocity(v, u);
  states.start(impulses, belong ? std::span<const double>(u) : std::span<const double>());
  refresh();
}

void SaddleSystem::refresh() {
  for (std::size_t i = 0; i < scratch_.size(); ++i) scratch_[i] = system_->origin[i] - v[i];
  keep_impulses();
  multiply(scratch_, momentum,
           [&](std::size_t chunk, std::size_t, std::size_t) { gather_chunk(chunk, old_, 1.0, momentum); });
  if (system_->pull.size() > 0) axpy(1.0, {system_->pull.data(), momentum.size()}, momentum);
  counters_->direction_products += 2;
  system_->relative_velocity(v, u);
  measure_residual();
}

bool SaddleSystem::evaluate_states(double gate, Moment moment) {
  ++counters_->evaluations;
  keep_impulses();
  const bool changed = states.evaluate(u, gate, moment, arena);
  counters_->state_changes = states.changes();
  counters_->contact_sweeps = states.contact_sweeps();
  if (changed) follow_impulses();
  return changed;
}

void SaddleSystem::adopt(std::span<const double> impulses) {
  std::copy(impulses.begin(), impulses.end(), old_.begin());
  states.start(impulses, u);
  follow_impulses();
}

std::span<const double> SaddleSystem::total_impulses() {
  keep_impulses();
  return old_;
}

void SaddleSystem::keep_impulses() {
  for (std::size_t i = 0; i < old_.size(); ++i) old_[i] = states.lambda[i] + states.known[i];
}

/// ρ_v after a change of the impulses since `keep_impulses`.
void SaddleSystem::follow_impulses() {
  for (std::size_t i = 0; i < old_.size(); ++i) old_[i] = states.lambda[i] + states.known[i] - old_[i];
  add_impulses(system_->H, old_, momentum);
  ++counters_->direction_products;
  measure_residual();
}

double SaddleSystem::estimate(std::span<double> r) {
  states.impulses(r);
  // u belongs to λ, not to r: what drawing λ onto the law would move it by at least
  double moved = 0.0;
  for (std::size_t i = 0; i < r.size(); ++i)
    moved = std::max(moved, inverse_mass_[i] * std::abs(r[i] - states.lambda[i] - states.known[i]));
  return system_->error(r, u) + momentum_error + moved;
}

}  // namespace signorini
