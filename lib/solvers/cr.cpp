#include "solvers/cr.h"

#include <algorithm>
#include <cmath>

#include "solvers/phase.h"

namespace signorini {

namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// Relative size below which an inner product counts as a breakdown (C38, T09).
constexpr double kBreakdown = 1e-13;
/// Breakdowns of Full after which Diag takes over.
constexpr int kPatience = 3;
/// Iterations without an estimate 1 % below the best (or twice the number of rows) after which it does so as
/// well.
constexpr int kStagnation = 300;
/// Iterations within which the residual of the system has to halve without a restart; short recurrences lose
/// their conjugacy to rounding on ill-conditioned systems, and a fresh residual mends that.
constexpr int kLinearPatience = 100;
/// Of the factor on the residual for which contacts that follow wait.
constexpr double kLongestWait = 1e4;
/// ‖B z‖ relative to what it was at the start below which the point is stationary although ρ ≠ 0
/// (over-constrained).
constexpr double kStationary = 1e-12;

/// A vector of the system: n velocities and 3m impulses or contact velocities.
struct SystemVector {
  std::vector<double> v;
  std::vector<double> c;
  void resize(std::size_t n, std::size_t rows) {
    v.assign(n, 0.0);
    c.assign(rows, 0.0);
  }
};

double dot(std::span<const double> a, std::span<const double> b) {
  // four sums in a fixed order, so that the processor need not wait for one
  double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
  std::size_t i = 0;
  for (; i + 4 <= a.size(); i += 4) {
    s0 += a[i] * b[i];
    s1 += a[i + 1] * b[i + 1];
    s2 += a[i + 2] * b[i + 2];
    s3 += a[i + 3] * b[i + 3];
  }
  for (; i < a.size(); ++i) s0 += a[i] * b[i];
  return (s0 + s1) + (s2 + s3);
}

/// Node blocks per chunk of the loops over velocities: the vectors of an iteration stay in the second cache.
/// Sums are taken chunk by chunk and added in order, so that no bit depends on the number of threads.
constexpr std::size_t kChunk = 1024;

void axpy(double alpha, std::span<const double> x, std::span<double> y) {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += alpha * x[i];
}
/// y = x + beta y
void xpby(std::span<const double> x, double beta, std::span<double> y) {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i] + beta * y[i];
}

/// Weights of a contact on its node blocks: ±‖h_i‖ with the sign of h_i·n.
struct Weights {
  Vector3 normal = Vector3::Zero();
  std::vector<std::pair<Index, double>> nodes;  // ascending
};

Weights weights_of(const DirectionRows& H, Index k) {
  std::vector<std::pair<Index, Vector3>> h;
  for (Index e = H.begin[at(k)]; e < H.begin[at(k) + 1]; ++e) {
    const Index dof = H.dof[at(e)];
    if (h.empty() || h.back().first != dof / 3) h.emplace_back(dof / 3, Vector3::Zero());
    h.back().second[dof % 3] = H.coefficient[3 * at(e)];
  }
  Weights weights;
  double largest = 0.0;
  for (const auto& [node, value] : h) {
    if (value.norm() <= largest) continue;
    largest = value.norm();
    weights.normal = value / largest;
  }
  for (const auto& [node, value] : h) weights.nodes.emplace_back(node, value.dot(weights.normal));
  return weights;
}

/// |n_a·n_b| Π (1 − |w_ai − w_bi|) over the union of the nodes; n = ±the direction of the largest block.
double similarity(const Weights& a, const Weights& b) {
  const double cosine = a.normal.dot(b.normal);
  const double sign = cosine < 0.0 ? -1.0 : 1.0;
  double product = std::abs(cosine);
  std::size_t i = 0, j = 0;
  while (i < a.nodes.size() || j < b.nodes.size()) {
    double difference = 0.0;
    const bool first = j == b.nodes.size() || (i < a.nodes.size() && a.nodes[i].first <= b.nodes[j].first);
    const bool second = i == a.nodes.size() || (j < b.nodes.size() && b.nodes[j].first <= a.nodes[i].first);
    if (first) difference += a.nodes[i++].second;
    if (second) difference -= sign * b.nodes[j++].second;
    product *= std::max(0.0, 1.0 - std::abs(difference));
  }
  return product;
}

/// Z per contact (C42).
std::vector<double> duplicate_scales(const PrimalSystem& system) {
  const auto m = at(system.contacts());
  std::vector<double> Z(m, 1.0);
  std::vector<char> rigid(system.inverse.size(), 0);
  for (const PrimalSystem::Pair& pair : system.pairs) rigid[at(pair.first)] = rigid[at(pair.second)] = 1;
  std::vector<Weights> weights(m);
  for (std::size_t k = 0; k < m; ++k) weights[k] = weights_of(system.H, static_cast<Index>(k));
  const auto all_rigid = [&](const Weights& w) {
    return std::all_of(w.nodes.begin(), w.nodes.end(),
                       [&](const auto& node) { return rigid[at(node.first)] != 0; });
  };
  const auto same_nodes = [](const Weights& a, const Weights& b) {
    return std::equal(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(),
                      [](const auto& x, const auto& y) { return x.first == y.first; });
  };
  for (std::size_t k = 0; k < m; ++k) {
    const bool body = all_rigid(weights[k]);
    for (Index b = system.B.row_begin[k]; b < system.B.row_begin[k + 1]; ++b) {
      const std::size_t l = at(system.B.column[at(b)]);
      if (l == k) continue;
      const bool pair = body && all_rigid(weights[l]) && same_nodes(weights[k], weights[l]);
      Z[k] += pair ? 1.0 : similarity(weights[k], weights[l]);
    }
  }
  return Z;
}

/// Watches a positive number that should halve again and again.
class Halving {
 public:
  void begin(double value, int iteration) {
    value_ = value;
    since_ = iteration;
  }
  bool overdue(double value, int iteration, int patience) {
    if (value < 0.5 * value_) begin(value, iteration);
    return iteration - since_ > patience;
  }

 private:
  double value_ = std::numeric_limits<double>::infinity();
  int since_ = 0;
};

int interval_of(CrInterval kind, double ratio) {
  const double x = std::max(1.0, ratio);
  double length = 1.0;
  if (kind == CrInterval::log2) length = std::log2(x) / 3.0;
  if (kind == CrInterval::log10_squared) length = std::log10(x) * std::log10(x) / 3.0;
  if (kind == CrInterval::ln_squared) length = std::log(x) * std::log(x) / 3.0;
  if (kind == CrInterval::converged) return 1 << 30;
  return std::max(1, static_cast<int>(std::min(length, 1e6)));
}

}  // namespace

struct ConjugateResiduals::Impl {
  PrimalSystem system;
  ContactStates states;
  std::vector<double> inverse_diagonal;  ///< n: 1/M_ii
  std::vector<double> softness;          ///< 3m: diag(Hᵀ D⁻¹ H)
  std::vector<double> duplicate;         ///< m: Z
  BestIterate best;

  std::vector<double> v, momentum;    ///< n: v; ρ_v
  std::vector<double> u;              ///< 3m: Hᵀ v + w of every contact
  SystemVector z, Bz, p, Bp, q, CBz;  ///< q = C⁻¹ B p
  std::vector<double> Hz, Hp;         ///< 3m: Hᵀ z_v, Hᵀ p_v of every contact
  std::vector<double> scratch, old;   ///< n; 3m
  std::vector<double> r;              ///< 3m: the feasible impulses

  TaskArena* arena = nullptr;
  std::vector<Index> touched;                  ///< node blocks in no pair that contacts touch
  std::vector<std::array<double, 3>> partial;  ///< per chunk

  bool full = true;
  double zBz = 0.0, zz = 0.0, BzBz = 0.0;  ///< inner products of the present vectors
  double Bpq = 0.0, BpBp = 0.0, qq = 0.0;
  double momentum_error = 0.0;  ///< max |ρ_v/M_ii|, m/s
  double residual = 0.0;        ///< max(|ρ_v/M_ii|, |u_active|), m/s
  double reference = 0.0;       ///< ‖Bz‖² at the last restart
  long long products = 0;
  CrCounters counters;

  void resize() {
    const std::size_t n = system.size();
    const std::size_t rows = 3 * at(system.contacts());
    for (auto* x : {&v, &momentum, &scratch}) x->assign(n, 0.0);
    for (auto* x : {&u, &Hz, &Hp, &old, &r, &rho_c}) x->assign(rows, 0.0);
    for (auto* x : {&z, &Bz, &p, &Bp, &q, &CBz}) x->resize(n, rows);
    best.resize(rows);
    partial.assign(std::max<std::size_t>(1, (n + 3 * kChunk - 1) / (3 * kChunk)), {});
    touched.clear();
    for (const Index dof : system.H.dof) {
      if (system.inverse[at(dof / 3)](0, 0) != 0.0) touched.push_back(dof / 3);
    }
    std::sort(touched.begin(), touched.end());
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    inverse_diagonal.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      const Matrix3 D = diagonal_block(system.A, static_cast<Index>(i / 3));
      const auto j = static_cast<Eigen::Index>(i % 3);
      inverse_diagonal[i] = 1.0 / D(j, j);
    }
    softness.resize(rows);
    for (Index k = 0; k < system.contacts(); ++k) {
      const Matrix3 D = diagonal_block(system.B, k);
      for (Index j = 0; j < 3; ++j) softness[at(3 * k + j)] = D(j, j);
    }
  }

  /// body(chunk, begin, end) over the dofs, on several threads where there is an arena.
  template <class Body>
  void each_chunk(const Body& body) {
    const std::size_t n = v.size();
    for_each_task(partial.size() > 1 ? arena : nullptr, partial.size(), [&](std::size_t chunk) {
      body(chunk, 3 * kChunk * chunk, std::min(n, 3 * kChunk * (chunk + 1)));
    });
  }
  /// Σ over chunks of partial[.][i], plus what the contacts add.
  double sum(std::size_t i, double contacts) const {
    double total = 0.0;
    for (const auto& part : partial) total += part[i];
    return total + contacts;
  }
  static std::span<const double> cut(const std::vector<double>& x, std::size_t begin, std::size_t end) {
    return std::span<const double>(x).subspan(begin, end - begin);
  }
  static std::span<double> cut(std::vector<double>& x, std::size_t begin, std::size_t end) {
    return std::span<double>(x).subspan(begin, end - begin);
  }

  /// out = C⁻¹ x of a vector whose contact part is 0 outside the active rows. `x` and `out` must differ.
  void precondition(const SystemVector& x, SystemVector& out, bool as_full) {
    each_chunk([&](std::size_t, std::size_t begin, std::size_t end) {
      std::copy(x.v.begin() + static_cast<std::ptrdiff_t>(begin),
                x.v.begin() + static_cast<std::ptrdiff_t>(end),
                out.v.begin() + static_cast<std::ptrdiff_t>(begin));
      system.apply_inverse_nodes(out.v, begin / 3, end / 3);
    });
    system.apply_inverse_pairs(out.v);
    precondition_contacts(x, out, as_full);
  }

  /// The part of `precondition` that belongs to the contacts; out.v is D⁻¹ x_v.
  void precondition_contacts(const SystemVector& x, SystemVector& out, bool as_full) {
    if (!as_full) {
      for (std::size_t i = 0; i < out.c.size(); ++i) out.c[i] = inverse_softness(i, 1.0) * x.c[i];
      return;
    }
    // a = S⁻¹ (L D⁻¹ ρ_v + ρ_c)
    contact_velocities(system.H, out.v, out.c);
    for (std::size_t i = 0; i < out.c.size(); ++i) {
      out.c[i] = -inverse_softness(i, duplicate[i / 3]) * (out.c[i] + x.c[i]);
    }
    states.restrict_to_active(out.c, out.c);
    // D⁻¹ (ρ_v − Lᵀ a), with −a in out.c: only what contacts touch differs
    const auto take_back = [&](Index node) {
      std::copy_n(x.v.data() + 3 * at(node), 3, out.v.data() + 3 * at(node));
    };
    for (const Index node : touched) take_back(node);
    for (const PrimalSystem::Pair& pair : system.pairs) {
      take_back(pair.first);
      take_back(pair.second);
    }
    add_impulses(system.H, out.c, out.v);
    for (const Index node : touched) system.apply_inverse_nodes(out.v, at(node), at(node) + 1);
    system.apply_inverse_pairs(out.v);
  }

  /// Bx = (M x_v − Lᵀ x_c; −L x_v); Hx = Hᵀ x_v of every contact.
  void apply(const SystemVector& x, SystemVector& Bx, std::vector<double>& Hx) {
    each_chunk([&](std::size_t, std::size_t begin, std::size_t end) {
      multiply_rows(system.A, static_cast<Index>(begin / 3), static_cast<Index>(end / 3), x.v, Bx.v);
    });
    ++products;
    for (std::size_t i = 0; i < Bx.c.size(); ++i) Bx.c[i] = -x.c[i];  // x_c is 0 outside the active rows
    add_impulses(system.H, Bx.c, Bx.v);
    contact_velocities(system.H, x.v, Hx);
    for (std::size_t i = 0; i < Bx.c.size(); ++i) Bx.c[i] = -Hx[i];
    states.restrict_to_active(Bx.c, Bx.c);
    for (std::size_t i = 0; i < Bx.c.size(); ++i)
      Bx.c[i] -= states.compliance[i / 3] * (i % 3 == 0 ? 0.0 : x.c[i]);
  }
  double inverse_softness(std::size_t i, double Z) const {
    if (!(softness[i] > 0.0)) return 0.0;
    const std::size_t k = i / 3;
    if (states.across[k].squaredNorm() > 0.0 && i % 3 != 0) {
      const Vector2& e = states.across[k];
      return 1.0 / (Z * (e[0] * e[0] * softness[3 * k + 1] + e[1] * e[1] * softness[3 * k + 2]) +
                    states.compliance[k]);
    }
    return 1.0 / (Z * softness[i]);
  }
  void constraint(std::vector<double>& out) {
    states.restrict_to_active(u, out);
    for (std::size_t i = 0; i < out.size(); ++i)
      if (i % 3 != 0) out[i] += states.compliance[i / 3] * states.lambda[i];
  }
  std::vector<double> rho_c;

  double dot_of(const SystemVector& a, const SystemVector& b) {
    each_chunk([&](std::size_t chunk, std::size_t begin, std::size_t end) {
      partial[chunk][0] = dot(cut(a.v, begin, end), cut(b.v, begin, end));
    });
    return sum(0, dot(a.c, b.c));
  }

  /// max |ρ_v/M_ii| over [begin, end); NaN where one is.
  double largest_momentum(std::size_t begin, std::size_t end) const {
    double largest = 0.0, poison = 0.0;
    for (std::size_t i = begin; i < end; ++i) {
      const double e = std::abs(momentum[i]) * inverse_diagonal[i];
      poison += 0.0 * e;
      largest = std::max(largest, e);
    }
    return largest + poison;
  }

  /// From partial[.][0] = largest_momentum of the chunks.
  void set_residual() {
    double largest = 0.0, poison = 0.0;
    for (const auto& part : partial) {
      poison += 0.0 * part[0];
      largest = std::max(largest, part[0]);
    }
    momentum_error = largest + poison;
    constraint(rho_c);
    for (std::size_t i = 0; i < u.size(); ++i) largest = std::max(largest, std::abs(rho_c[i]));
    residual = largest + poison;
  }

  void measure_residual() {
    each_chunk([&](std::size_t chunk, std::size_t begin, std::size_t end) {
      partial[chunk][0] = largest_momentum(begin, end);
    });
    set_residual();
  }

  /// (ρ_v; u_active)
  void residual_vector(SystemVector& out) {
    std::copy(momentum.begin(), momentum.end(), out.v.begin());
    constraint(out.c);
  }

  /// After a change of states or the start: z, Bz anew, p = z.
  void restart() {
    ++counters.restarts;
    residual_vector(Bz);
    precondition(Bz, z, full);
    apply(z, Bz, Hz);
    zBz = dot_of(z, Bz);
    zz = dot_of(z, z);
    BzBz = dot_of(Bz, Bz);
    p.v = z.v;
    p.c = z.c;
    Bp.v = Bz.v;
    Bp.c = Bz.c;
    Hp = Hz;
    precondition(Bp, q, full);
    Bpq = dot_of(Bp, q);
    BpBp = BzBz;
    qq = dot_of(q, q);
    reference = BzBz;
  }

  /// The next conjugate direction.
  void turn() {
    apply(z, Bz, Hz);
    each_chunk([&](std::size_t chunk, std::size_t begin, std::size_t end) {
      partial[chunk][0] = dot(cut(z.v, begin, end), cut(Bz.v, begin, end));
      partial[chunk][1] = dot(cut(Bz.v, begin, end), cut(Bz.v, begin, end));
      std::copy_n(Bz.v.data() + begin, end - begin, CBz.v.data() + begin);
      system.apply_inverse_nodes(CBz.v, begin / 3, end / 3);
    });
    const double next = sum(0, dot(z.c, Bz.c));
    BzBz = sum(1, dot(Bz.c, Bz.c));
    const double beta = next / zBz;
    zBz = next;
    system.apply_inverse_pairs(CBz.v);
    precondition_contacts(Bz, CBz, full);
    each_chunk([&](std::size_t chunk, std::size_t begin, std::size_t end) {
      xpby(cut(z.v, begin, end), beta, cut(p.v, begin, end));
      xpby(cut(Bz.v, begin, end), beta, cut(Bp.v, begin, end));
      xpby(cut(CBz.v, begin, end), beta, cut(q.v, begin, end));
      const std::span<const double> Bp_part = cut(Bp.v, begin, end), q_part = cut(q.v, begin, end);
      partial[chunk] = {dot(Bp_part, q_part), dot(Bp_part, Bp_part), dot(q_part, q_part)};
    });
    xpby(z.c, beta, p.c);
    xpby(Bz.c, beta, Bp.c);
    xpby(CBz.c, beta, q.c);
    xpby(Hz, beta, Hp);
    Bpq = sum(0, dot(Bp.c, q.c));
    BpBp = sum(1, dot(Bp.c, Bp.c));
    qq = sum(2, dot(q.c, q.c));
  }

  /// y += α p and what moves with it; q = C⁻¹ B p.
  void step(double alpha) {
    each_chunk([&](std::size_t chunk, std::size_t begin, std::size_t end) {
      axpy(alpha, cut(p.v, begin, end), cut(v, begin, end));
      axpy(-alpha, cut(Bp.v, begin, end), cut(momentum, begin, end));
      axpy(-alpha, cut(q.v, begin, end), cut(z.v, begin, end));
      const std::span<const double> z_part = cut(z.v, begin, end);
      partial[chunk] = {largest_momentum(begin, end), dot(z_part, z_part), 0.0};
    });
    axpy(alpha, p.c, states.lambda);
    axpy(alpha, Hp, u);
    axpy(-alpha, q.c, z.c);
    zz = sum(1, dot(z.c, z.c));
    set_residual();
  }

  bool broken() const {
    const double tiny = kBreakdown * kBreakdown;
    return !(zBz * zBz > tiny * zz * BzBz) || !(Bpq * Bpq > tiny * BpBp * qq);
  }

  /// C38: the step along C⁻¹ B C⁻¹ ρ (Diag) that minimises ‖ρ‖ in the metric of Diag. False where nothing
  /// moves.
  bool minimising_step() {
    ++counters.guards;
    residual_vector(Bp);
    precondition(Bp, z, false);
    apply(z, Bz, Hz);
    precondition(Bz, p, false);
    apply(p, Bp, Hp);
    precondition(Bp, q, false);
    const double denominator = dot_of(Bp, q);
    const double alpha = dot_of(Bp, z) / denominator;
    if (!(denominator > 0.0) || !std::isfinite(alpha) || alpha == 0.0) return false;
    step(alpha);
    return true;
  }

  /// Looks at the states; moves ρ_v with the impulses. True when anything changed.
  bool look(double gate, Moment moment) {
    ++counters.evaluations;
    for (std::size_t i = 0; i < old.size(); ++i) old[i] = states.lambda[i] + states.sliding[i];
    if (!states.evaluate(system, u, gate, moment)) return false;
    for (std::size_t i = 0; i < old.size(); ++i) old[i] = states.lambda[i] + states.sliding[i] - old[i];
    add_impulses(system.H, old, momentum);
    measure_residual();
    return true;
  }

  /// ρ_v and u from v and the impulses; one product.
  void refresh() {
    for (std::size_t i = 0; i < scratch.size(); ++i)
      scratch[i] = system.v_free[static_cast<Eigen::Index>(i)] - v[i];
    each_chunk([&](std::size_t, std::size_t begin, std::size_t end) {
      multiply_rows(system.A, static_cast<Index>(begin / 3), static_cast<Index>(end / 3), scratch, momentum);
    });
    ++products;
    for (std::size_t i = 0; i < old.size(); ++i) old[i] = states.lambda[i] + states.sliding[i];
    add_impulses(system.H, old, momentum);
    system.relative_velocity(v, u);
    measure_residual();
  }

  double estimate() {
    states.impulses(system, r);
    return system.error(r, u) + momentum_error;
  }
};

void CrOptions::validate(std::string_view solver) const {
  if (average < 1 || average > StateRules::kLongestAverage)
    throw_usage("{}: average = {} is not between 1 and {}", solver, average, StateRules::kLongestAverage);
  if (!(angle >= 0.0)) throw_usage("{}: angle = {} is negative", solver, angle);
  if (!(turn > 0.0 && turn <= 1.0)) throw_usage("{}: turn = {} is not in (0, 1]", solver, turn);
  if (patience < 0) throw_usage("{}: patience = {} is negative", solver, patience);
  if (!(postpone >= 0.0)) throw_usage("{}: postpone = {} is negative", solver, postpone);
  if (!(inner > 0.0 && inner <= 1.0)) throw_usage("{}: inner = {} is not in (0, 1]", solver, inner);
}

ConjugateResiduals::ConjugateResiduals(const CrOptions& options, CrPreconditioner preconditioner)
    : options_(options), preconditioner_(preconditioner), impl_(std::make_unique<Impl>()) {}
ConjugateResiduals::~ConjugateResiduals() = default;
const CrCounters& ConjugateResiduals::counters() const { return impl_->counters; }

std::string ConjugateResiduals::unsupported_reason(const ContactProblem& problem) const {
  return PrimalSystem::refusal(problem);
}

void ConjugateResiduals::prepare(const ContactProblem& problem) {
  Impl& s = *impl_;
  s.system.prepare(problem, options_.common.law, options_.judge, arena_);
  s.states.prepare(s.system, {options_.direction, options_.angle, options_.turn, options_.average});
  s.resize();
  s.duplicate.assign(at(s.system.contacts()), 1.0);
  if (options_.duplicates && preconditioner_ == CrPreconditioner::full)
    s.duplicate = duplicate_scales(s.system);
}

SolveReport ConjugateResiduals::solve(std::span<double> r, const StopRule& rule,
                                      IterationObserver* observer) {
  Impl& s = *impl_;
  const StopTest stop(rule, s.system.scale);
  if (r.empty()) return nothing_to_solve();
  s.arena = arena_;  // may have changed since `prepare`
  make_finite(r);
  s.best.forget();
  s.products = 0;
  s.counters = {};
  s.full = preconditioner_ == CrPreconditioner::full;
  if (observer != nullptr) observer->on_iteration(0, r, "");

  PhaseReport report;
  const bool judging = stop.judging();
  // `s.r` holds the feasible impulses of the last estimate
  const auto measure = [&](double estimate) {
    report.error = s.system.exact() ? s.system.exact_error(s.r, s.arena) : estimate;
    if (std::isfinite(report.error)) s.best.offer(s.r, report.error);
    return report.error;
  };
  s.states.start(s.system, r);
  std::copy(s.system.v_free.begin(), s.system.v_free.end(), s.v.begin());
  s.refresh();
  std::copy(r.begin(), r.end(), s.r.begin());
  if (judging && stop.met(measure(s.system.error(s.r, s.u) + s.momentum_error))) {
    report.end = PhaseEnd::converged;
    return finish_solve(report, stop, s.best, r);
  }
  if (!s.best.has()) s.best.offer(s.r, std::numeric_limits<double>::infinity());

  // the tolerance of the linear system and of the gates, m/s
  const double smallest = 1e-15 * stop.scale();
  double inner = std::max(options_.inner * rule.residual * stop.scale(), smallest);
  s.look(inner, Moment::running);
  s.restart();
  CheckSchedule schedule(stop.tolerance());
  double improved = std::numeric_limits<double>::infinity();
  int improved_at = 0;
  Halving progress, linear;
  double wait = 0.0;  // times the residual: what following contacts wait for
  const int patience = std::max(kStagnation, 2 * static_cast<int>(r.size()));
  bool finite = true;
  bool stuck = false;
  while (report.iterations < stop.max_iterations()) {
    if (stop.out_of_time()) {
      report.end = PhaseEnd::time;
      break;
    }
    double alpha = s.zBz / s.Bpq;
    bool changed = false;
    if (s.broken()) {
      stuck = !s.minimising_step();
      if (s.full && s.counters.guards >= kPatience && preconditioner_ == CrPreconditioner::full)
        s.full = false;
      alpha = 1.0;
      changed = true;
    } else {
      s.step(alpha);
    }
    ++report.iterations;
    const double estimate = s.estimate();
    report.estimate = estimate;
    report.error = std::numeric_limits<double>::quiet_NaN();
    finite = std::isfinite(estimate) && all_finite(s.r);
    if (!finite) {
      report.end = PhaseEnd::diverged;
      --report.iterations;
      break;
    }
    if (observer != nullptr) observer->on_iteration(report.iterations, s.r, "");
    if (!judging && (report.iterations & (report.iterations - 1)) == 0) s.best.offer(s.r, estimate);
    if (judging && schedule.due(report.iterations, estimate)) {
      const double error = measure(estimate);
      if (stop.met(error)) {
        report.end = PhaseEnd::converged;
        break;
      }
      schedule.broken(report.iterations, estimate, error);
    }
    if (options_.patience > 0 && progress.overdue(estimate, report.iterations, options_.patience)) {
      // sliding and normal impulses chase each other: smaller steps, with the system solved better in between
      wait = wait > 0.0 ? std::min(10.0 * wait, kLongestWait) : 10.0 * options_.postpone;
      s.states.following = {0.5, 0.0, true};
      progress.begin(estimate, report.iterations);
    }
    if (linear.overdue(s.residual, report.iterations, kLinearPatience)) {
      s.refresh();
      changed = true;
    }
    if (estimate < 0.99 * improved) {
      improved = estimate;
      improved_at = report.iterations;
    } else if (s.full && report.iterations - improved_at > patience) {
      // the indefinite metric leads in circles: Diag, from a fresh residual
      s.full = false;
      s.refresh();
      changed = true;
    }
    const bool solved = s.residual <= inner;
    if (solved || stuck) {
      if (s.look(inner, Moment::converged)) {
        changed = true;
      } else if (judging && inner <= smallest) {
        if (std::isnan(report.error)) measure(estimate);
        report.end = stop.met(report.error) ? PhaseEnd::converged : PhaseEnd::stuck;
        break;
      } else if (!judging && stuck) {
        report.end = PhaseEnd::stuck;
        break;
      } else {
        // the system is solved, the problem is not: tighter, from a fresh residual
        inner = std::max(0.1 * inner, smallest);
        s.refresh();
        s.look(inner, Moment::running);
        changed = true;
      }
    } else if ((alpha > 0.0 || !options_.gate) && options_.interval != CrInterval::converged &&
               report.iterations % interval_of(options_.interval, s.residual / inner) == 0) {
      s.states.following.gate = wait * s.residual;
      changed = s.look(std::max(inner, options_.postpone * s.residual), Moment::running) || changed;
      s.states.following.gate = 0.0;
    }
    if (changed) {
      linear.begin(s.residual, report.iterations);
      s.restart();
    } else {
      s.turn();
      // over-constrained: B C⁻¹ ρ vanishes although ρ does not
      stuck = s.BzBz <= kStationary * kStationary * s.reference;
    }
  }
  report.products = s.products;
  if (finite) {
    if (judging && std::isnan(report.error)) measure(report.estimate);
    std::copy(s.r.begin(), s.r.end(), r.begin());
  }
  s.counters.state_changes = s.states.changes();
  return finish_solve(report, stop, s.best, r);
}

}  // namespace signorini
