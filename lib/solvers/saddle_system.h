#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "linalg/dot.h"
#include "solvers/contact_states.h"
#include "solvers/primal_system.h"
#include "solvers/saddle_vector.h"
#include "solvers/solver.h"

/// The symmetric indefinite system that conjugate residuals and MINRES solve, its residual and its
/// preconditioners (Verschoor and Jalba 2019, eqs. 9–22; signs of docs/theory.md, C30). L: the active rows of
/// Hᵀ, E their compliance (contact_states.h), λ their impulses, r_T the known sliding impulses:
///
///     [ M  −Lᵀ ] [ v ]   [ f + H r_T ]        ρ_v = f + H (λ + r_T) − M v    [kg m/s]
///     [ −L  −E ] [ λ ] = [ w_active  ]        ρ_c = u_active + E λ           [m/s]
///
/// Where bounds are held, ϑ (λ − c) is added to ρ_c and ϑ to E (contact_states.h).
///
/// A change of states costs no product with M: ρ_v moves by H times the change of the impulses.
namespace signorini {

class SaddleSystem {
 public:
  void prepare(const ContactProblem& problem, FrictionLaw law, Judge judge, const StateRules& rules,
               bool scale_duplicates, TaskArena* arena);
  /// From impulses r (3m) and velocities v (n); one product. `belong`: v is the velocity of r, more or less.
  /// For r ≠ 0 the start is v_free + M⁻¹ H r instead where M is factored, and v + D⁻¹ H r where it is not and
  /// v does not belong; in the last case u is not used to find the states.
  void start(std::span<const double> r, std::span<const double> v, bool belong, bool as_full);
  /// ρ_v and u afresh from v and the impulses; one product.
  void refresh();
  /// Looks at the states; moves ρ_v with the impulses. True when anything
  /// changed.
  bool look(double gate, Moment moment);
  /// States by one projected step from feasible impulses r (3m), with v, u and ρ_v those of r; the sliding
  /// ones stay as they are.
  void adopt(std::span<const double> r);
  /// λ + r_T of every contact (3m), until the next call of anything.
  std::span<const double> total_impulses();
  /// From v, λ, u and ρ_v: `momentum_error` and `residual`.
  void measure_residual();
  /// From now on bounds of friction are held (contact_states.h).
  void hold_bounds();
  /// v += α x_v, λ += α x_c, and with them ρ, u; Bx = B x and Hx = Hᵀ x_v.
  /// `also(begin, end)` shares the pass over the velocities.
  template <class Also>
  void move(double alpha, const SaddleVector& x, const SaddleVector& Bx, std::span<const double> Hx,
            const Also& also);

  /// Bx = B x; Hx = Hᵀ x_v of every contact. `also(chunk, begin, end)` follows
  /// on the dofs of every chunk while they are in cache.
  template <class Also>
  void apply(const SaddleVector& x, SaddleVector& Bx, std::vector<double>& Hx, const Also& also);
  void apply(const SaddleVector& x, SaddleVector& Bx, std::vector<double>& Hx) {
    apply(x, Bx, Hx, [](std::size_t, std::size_t, std::size_t) {});
  }
  /// out = C⁻¹ x, Full or Diag; x and out must differ.
  void precondition(const SaddleVector& x, SaddleVector& out, bool as_full);
  /// The same, but of out.v only what contacts or pairs make differ from D⁻¹
  /// x_v (`special`).
  void precondition_special(const SaddleVector& x, SaddleVector& out, bool as_full);
  /// (ρ_v; ρ_c)
  void residual_vector(SaddleVector& out) const;
  /// out(0 … end − begin) = (D⁻¹ x_v)(begin … end), special nodes taken from
  /// `special.v`.
  void precondition_chunk(std::size_t chunk, const SaddleVector& x, const SaddleVector& special,
                          std::size_t begin, std::size_t end, double* out) const;
  double dot_of(const SaddleVector& a, const SaddleVector& b);
  /// Fills `r`, the feasible impulses, and returns their error in m/s: at the velocities at hand, of these,
  /// and what drawing the impulses onto the law would move u by at least.
  double estimate();
  double constraint_norm() const;
  /// ‖ρ_v‖² + dt² ‖ρ_c‖², squares of kg m/s and of m added up as in the paper (docs/theory.md, C41).
  double squared_residual(double dt) const;

  /// body(chunk, begin, end) over the dofs, on several threads where there is
  /// an arena.
  template <class Body>
  void each_chunk(const Body& body) const {
    const std::size_t n = system.size();
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

  PrimalSystem system;
  ContactStates states;
  std::vector<double> v, momentum;  ///< n: v; ρ_v
  std::vector<double> u;            ///< 3m: Hᵀ v + w of every contact
  std::vector<double> r;            ///< 3m: the feasible impulses of the last `estimate`
  TaskArena* arena = nullptr;
  bool full = true;             ///< the preconditioner in use
  double momentum_error = 0.0;  ///< max |ρ_v/M_ii|, m/s
  double residual = 0.0;        ///< max(|ρ_v/M_ii|, |ρ_c|), m/s
  SolveCounters counters;
  std::vector<std::array<double, 3>> partial;  ///< per chunk

  /// Node blocks per chunk of the loops over velocities: the vectors of an
  /// iteration stay in the second cache. Sums are taken chunk by chunk and
  /// added in order, so that no bit depends on the number of threads.
  static constexpr std::size_t kChunk = PrimalSystem::kPartNodes;

 private:
  void prepare_touched();
  /// y = M x; then(chunk, begin, end) on the dofs of every chunk of it while they are in cache.
  template <class Then>
  void multiply(std::span<const double> x, std::span<double> y, const Then& then);
  void keep_impulses();
  void follow_impulses();
  /// y += factor H x for one node block; for those of a chunk.
  void gather_node(std::span<const double> x, double factor, Index node, std::span<double> y) const;
  void gather_chunk(std::size_t chunk, std::span<const double> x, double factor, std::span<double> y) const {
    for (std::size_t i = touched_begin_[chunk]; i < touched_begin_[chunk + 1]; ++i)
      gather_node(x, factor, touched_[i], y);
  }
  void constraint_velocities(const SaddleVector& x, SaddleVector& Bx, std::vector<double>& Hx);
  double inverse_softness(std::size_t i, double Z) const;
  double largest_momentum(std::size_t begin, std::size_t end) const;
  void set_residual();
  void constraint_residual(std::vector<double>& out) const;

  std::vector<double> inverse_diagonal_;        ///< n: 1/M_ii
  std::vector<double> softness_;                ///< 3m: diag(Hᵀ D⁻¹ H)
  std::vector<double> duplicate_;               ///< m: Z
  std::vector<std::array<double, 6>> inverse_;  ///< per node block: D⁻¹ by its upper triangle; 0 in pairs
  std::vector<Index> touched_,
      special_;  ///< node blocks that contacts touch; those and the ones of
                 ///< pairs; ascending
  std::vector<std::size_t> touched_begin_,
      special_begin_;             ///< chunks + 1 offsets into them
  std::vector<Index> row_begin_;  ///< n + 1: H dof by dof
  std::vector<Index> row_contact_;
  std::vector<double> row_coefficient_;     ///< 3 per entry
  std::vector<double> scratch_, old_;       ///< n; 3m
  mutable std::vector<double> constraint_;  ///< 3m: ρ_c
};

template <class Then>
void SaddleSystem::multiply(std::span<const double> x, std::span<double> y, const Then& then) {
  for_each_task(system.parts() > 1 ? arena : nullptr, system.parts(), [&](std::size_t part) {
    system.multiply_part(part, x, y);
    const std::size_t last = system.part_begin(part + 1);
    for (std::size_t node = system.part_begin(part); node < last; node += kChunk)
      then(node / kChunk, 3 * node, 3 * std::min(last, node + kChunk));
  });
}

template <class Also>
void SaddleSystem::apply(const SaddleVector& x, SaddleVector& Bx, std::vector<double>& Hx, const Also& also) {
  multiply(x.v, Bx.v, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
    gather_chunk(chunk, x.c, -1.0, Bx.v);
    also(chunk, begin, end);
  });
  ++counters.mass_products;
  constraint_velocities(x, Bx, Hx);
}

template <class Also>
void SaddleSystem::move(double alpha, const SaddleVector& x, const SaddleVector& Bx,
                        std::span<const double> Hx, const Also& also) {
  each_chunk([&](std::size_t chunk, std::size_t begin, std::size_t end) {
    axpy(alpha, cut(x.v, begin, end), cut(v, begin, end));
    axpy(-alpha, cut(Bx.v, begin, end), cut(momentum, begin, end));
    partial[chunk] = {largest_momentum(begin, end), 0.0, 0.0};
    also(chunk, begin, end);
  });
  axpy(alpha, x.c, states.lambda);
  axpy(alpha, Hx, u);
  set_residual();
}

}  // namespace signorini
