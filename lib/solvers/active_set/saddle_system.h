#pragma once

#include <array>
#include <span>
#include <vector>

#include "krylov/krylov_system.h"
#include "solvers/active_set/active_set.h"
#include "solvers/primal_system.h"
#include "solvers/schwarz/block_inverse.h"
#include "solvers/solver.h"

/// The symmetric indefinite system of contacts with given states, its residual and its preconditioners (Verschoor
/// and Jalba 2019, eqs. 9–22; signs of docs/theory.md, C30). L: the active rows of Hᵀ, E their compliance
/// (active_set.h), λ their impulses, r_T the known impulses of the others:
///
///     [ M  −Lᵀ ] [ v ]   [ f + H r_T ]        ρ_v = f + H (λ + r_T) − M v    [kg m/s]
///     [ −L  −E ] [ λ ] = [ w_active  ]        ρ_c = u_active + E λ           [m/s]
///
/// Where bounds are held, ϑ (λ − c) is added to ρ_c and ϑ to E.
///
/// Preconditioners, D the 3×3 node blocks of M's diagonal and S = Z diag(L D⁻¹ Lᵀ):
///
///     Diag:  (D⁻¹ ρ_v;  S⁻¹ ρ_c)          positive definite, Z = 1
///     Full:  a = S⁻¹(L D⁻¹ ρ_v + ρ_c),  (D⁻¹(ρ_v − Lᵀ a);  −a)         the block inverse, indefinite
///
/// Z counts the contacts of the same place (duplicate_scales.h). With blocks, S is L D⁻¹ Lᵀ + E on each of the subdomains of
/// contacts and zero between them, inverted by schwarz/block_inverse.h; then Z = 1. Where W_D is not formed
/// (`couples_by_nodes`), S stays diagonal.
///
/// A change of states costs no product with M: ρ_v moves by H times the change of the impulses.
namespace signorini {

class SaddleSystem final : public KrylovSystem {
 public:
  /// `system` and `counters` must outlive the use.
  void prepare(const PrimalSystem& system, const StateRules& rules, bool scale_duplicates,
               SolveCounters& counters, const ContactBlockOptions& blocks = {});
  /// From impulses r (3m) and velocities v (n); one product. `belong`: v is the velocity of r, more or less.
  /// For r ≠ 0 the start is v₀ + M⁻¹ H r instead where M is factored, and v + D⁻¹ H r where it is not and
  /// v does not belong; in the last case u is not used to find the states.
  void start(PrimalSystem& system, std::span<const double> r, std::span<const double> v, bool belong);
  /// ρ_v and u afresh from v and the impulses; one product.
  void refresh();
  /// Evaluates the states; moves ρ_v with the impulses. True when anything changed.
  bool evaluate_states(double gate, Moment moment);
  /// Any other change of the states; ρ_v moves with the impulses.
  template <class Change>
  void change_states(const Change& change) {
    keep_impulses();
    change(states);
    follow_impulses();
  }
  /// States by one projected step from feasible impulses r (3m), with v, u and ρ_v those of r; the sliding
  /// ones stay as they are.
  void adopt(std::span<const double> r);
  /// λ + r_T of every contact (3m), until the next call of anything.
  std::span<const double> total_impulses();
  /// From v, λ, u and ρ_v: `momentum_error` and `residual`.
  void measure_residual();
  /// Writes the feasible impulses (3m) and returns their error in m/s: at the velocities at hand, of these,
  /// and what drawing the impulses onto the law would move u by at least. NaN or infinite where any of them is.
  double estimate(std::span<double> r);
  /// The error of impulses r that are those of `start`, m/s.
  double estimate_of(std::span<const double> r) const { return system_->error(r, u, arena) + momentum_error; }
  double constraint_norm() const;
  /// ‖ρ_v‖² + dt² ‖ρ_c‖², squares of kg m/s and of m added up as in the paper (docs/theory.md, C41).
  double squared_residual(double dt) const;

  std::size_t dofs() const override { return v.size(); }
  std::size_t rows() const override { return u.size(); }
  using KrylovSystem::apply;
  void apply(const SaddleVector& x, SaddleImage& Kx, ChunkBody then) override;
  void residual_vector(SaddleVector& out) const override;
  void move(double alpha, const SaddleVector& x, const SaddleImage& Kx, ChunkBody then) override;
  void precondition_coupled(const SaddleVector& x, SaddleVector& coupled, bool full) override;
  void precondition_chunk(std::size_t chunk, const SaddleVector& x, const SaddleVector& coupled,
                          std::size_t begin, std::size_t end, double* out) const override;

  ActiveSet states;
  std::vector<double> v, momentum;  ///< n: v; ρ_v
  std::vector<double> u;            ///< 3m: Hᵀ v + w of every contact
  double momentum_error = 0.0;      ///< max |ρ_v/M_ii|, m/s
  double residual = 0.0;            ///< max(|ρ_v/M_ii|, |ρ_c|), m/s

 private:
  static_assert(kChunkNodes == PrimalSystem::kPartNodes);  // parts of M begin where chunks do
  void prepare_touched();
  /// y = M x; then(chunk, begin, end) on the dofs of every chunk of it while they are in cache.
  void multiply(std::span<const double> x, std::span<double> y, ChunkBody then);
  void keep_impulses();
  void follow_impulses();
  /// y += factor H x for one node block; for those of a chunk.
  void gather_node(std::span<const double> x, double factor, Index node, std::span<double> y) const;
  void gather_chunk(std::size_t chunk, std::span<const double> x, double factor, std::span<double> y) const {
    for (std::size_t i = touched_begin_[chunk]; i < touched_begin_[chunk + 1]; ++i)
      gather_node(x, factor, touched_[i], y);
  }
  void constraint_velocities(const SaddleVector& x, SaddleImage& Kx);
  double row_preconditioner(std::size_t i, double Z) const;
  ContactRows active_rows(std::size_t k) const;
  void apply_blocks(std::vector<double>& c);
  double largest_momentum(std::size_t begin, std::size_t end) const;
  void set_residual();
  void constraint_residual(std::vector<double>& out) const;

  const PrimalSystem* system_ = nullptr;
  SolveCounters* counters_ = nullptr;
  std::vector<double> inverse_diagonal_;  ///< n: 1/M_ii
  std::vector<double> inverse_mass_;      ///< 3m: diag(Hᵀ D⁻¹ H)
  std::vector<double> duplicate_;         ///< m: Z
  bool in_blocks_ = false;
  BlockInverse blocks_;                         ///< S⁻¹
  std::vector<ContactRows> rows_;               ///< m: L
  std::vector<std::array<double, 6>> inverse_;  ///< per node block: D⁻¹ by its upper triangle; 0 in pairs
  /// Node blocks that contacts touch; those and the ones of pairs; ascending. Chunks + 1 offsets into them.
  std::vector<Index> touched_, special_;
  std::vector<std::size_t> touched_begin_, special_begin_;
  std::vector<Index> row_begin_;  ///< n + 1: H dof by dof
  std::vector<Index> row_contact_;
  std::vector<double> row_coefficient_;     ///< 3 per entry
  std::vector<double> scratch_, old_;       ///< n; 3m
  mutable std::vector<double> constraint_;  ///< 3m: ρ_c
};

}  // namespace signorini
