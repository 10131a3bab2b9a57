#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "contact/contact_problem.h"
#include "contact/delassus_operator.h"
#include "contact/direction_rows.h"
#include "contact/factor_store.h"
#include "contact/friction_law.h"
#include "contact/mass_factor.h"
#include "linalg/block_sparse_matrix.h"
#include "linalg/conjugate_gradient.h"
#include "linalg/symmetric_block_matrix.h"
#include "solvers/contact_error.h"

/// What the solvers on velocities share: M v = H r + f, u = Hᵀ v + w with M as 3×3 node blocks, its block
/// diagonal D, W_D = Hᵀ D⁻¹ H, a velocity v₀ to count from, and the error of an answer.
///
///     M, D: n×n [kg]   H: n×3m [–]   v: n [m/s]   r: 3m [N·s]   u, w: 3m [m/s]   W_D: 3m×3m [1/kg]
///
/// Node blocks are three consecutive dofs; where n is not a multiple of three, M is completed by unit masses
/// without contacts. A *pair* is a mechanical body of exactly two node blocks that M couples (a rigid body:
/// translation and rotation): its block of D is the whole 6×6 matrix.
///
/// `Origin`: v₀ is the free velocity M⁻¹ f, which costs a solve with M; or v⁻, that of the beginning of the step (0
/// where the problem does not tell), and what pulls from there, f − M v₀, is left to the solver: M (v − v₀) = H r +
/// pull.
///
/// `Judge`: `exact` factors M while preparing and measures r as the referee does, u = W r + q with the true
/// diagonal blocks of W. `own` takes the error of the velocity at hand, with D in the place of M in the
/// diagonal blocks, and never factors M: cheap, but too small where M is stiff (docs/theory.md, T14).
namespace signorini {

enum class Judge { exact, own };
template <>
struct EnumNames<Judge> {
  static constexpr std::array<std::pair<Judge, std::string_view>, 2> value{
      {{Judge::exact, "exact"}, {Judge::own, "own"}}};
};

enum class Origin { free, start };

inline constexpr std::string_view kJudgeHelp =
    "exact: factor M while preparing and stop by the referee's residual; own: never factor M and stop by "
    "the error of the velocity at hand, which is too small where M is stiff";

class PrimalSystem {
 public:
  struct Pair {
    Index first = 0;
    Index second = 0;
    Eigen::Matrix<double, 6, 6> inverse;
  };

  /// Empty, or why a problem without M and H cannot be solved on velocities.
  static std::string refusal(const ContactProblem& problem);
  /// Throws `InputError` naming the dof where M or its block diagonal is not positive definite. Called again,
  /// it keeps what both problems share: everything that depends on M, H and f alone where these have the same
  /// bits, else the factors of unchanged bodies and the symbolic analyses of known patterns. The results have
  /// the bits of a new PrimalSystem.
  /// `Origin::start` needs Judge::own.
  void prepare(const ContactProblem& problem, FrictionLaw law, Judge judge, TaskArena* arena,
               Origin from = Origin::free);
  /// Whether the last `prepare` met the same M as the one before.
  bool same_matrix() const { return same_matrix_; }

  Index contacts() const { return count(mu); }
  /// 3 · node blocks ≥ the problem's n.
  std::size_t size() const { return 3 * M.block_rows; }
  bool exact() const { return exact_; }

  /// x := D⁻¹ x.
  void apply_inverse_diagonal(std::span<double> x) const;
  /// The same for the node blocks [begin, end) that are in no pair, and for all pairs.
  void apply_inverse_nodes(std::span<double> x, std::size_t begin, std::size_t end) const;
  void apply_inverse_pairs(std::span<double> x) const;
  /// ‖D⁻¹ x‖∞ in m/s, NaN where a number is; x [N·s] becomes D⁻¹ x.
  double largest_velocity(std::span<double> x) const;
  /// y = M x; sizes size(). The parts below, one after the other or as tasks.
  void multiply(std::span<const double> x, std::span<double> y, TaskArena* arena = nullptr) const;
  /// The product in independent parts, node blocks [part_begin(p), part_begin(p + 1)): every part writes its
  /// own rows only, and begins at a multiple of kPartNodes. The parts depend on the matrix alone.
  std::size_t parts() const { return (nodes() + part_nodes() - 1) / part_nodes(); }
  std::size_t part_begin(std::size_t part) const { return std::min(nodes(), part * part_nodes()); }
  /// Whether M is read once for both triangles.
  bool folded() const { return folded_.has_value(); }
  void multiply_part(std::size_t part, std::span<const double> x, std::span<double> y) const;
  static constexpr std::size_t kPartNodes = 512;

  /// The referee's error of r in m/s, not divided by U; one solve with M. Only with `exact`.
  double exact_error(std::span<const double> r, TaskArena* arena = nullptr);
  /// y = M⁻¹ H r (size()); one solve with M. Only with `exact`.
  void exact_response(std::span<const double> r, std::span<double> y, TaskArena* arena = nullptr);
  /// v := M⁻¹ b by conjugate gradients from v, both size(). Only with Judge::own and Origin::free.
  CgReport solve_mass(std::span<const double> b, std::span<double> v, double tolerance, int limit,
                      TaskArena* arena = nullptr);
  /// √(bᵀ D⁻¹ b), D with the node blocks of pairs each by itself: the norm that `solve_mass` stops by. Where it may be called.
  double mass_norm(std::span<const double> b, TaskArena* arena = nullptr);
  /// Of the free velocity that `solve_mass` found: far below any residual worth asking for.
  static constexpr double kFreeTolerance = 1e-12;
  struct ContactErrors {
    double largest = 0.0;  ///< m/s
    double squares = 0.0;  ///< sum, m²/s²
  };
  /// Contact errors of r with velocities u (3m) at hand. NaN where one is.
  ContactErrors errors(std::span<const double> r, std::span<const double> u,
                       TaskArena* arena = nullptr) const;
  /// The largest, m/s.
  double error(std::span<const double> r, std::span<const double> u, TaskArena* arena = nullptr) const {
    return errors(r, u, arena).largest;
  }
  /// W and q from the factor of M. Only with `exact` and Origin::free.
  ReducedProblem reduced(TaskArena* arena = nullptr) const;
  /// u = Hᵀ v + w.
  void relative_velocity(std::span<const double> v, std::span<double> u, TaskArena* arena = nullptr) const;
  /// b = H r (size()); dofs that no contact touches are left alone.
  void impulse(std::span<const double> r, std::span<double> b, TaskArena* arena = nullptr) const {
    gather_impulses(columns_, r, b, arena);
  }

  BlockSparseMatrix M;  ///< kg
  DirectionRows H;
  /// Hᵀ D⁻¹ H, 1/kg: couples contacts that share a node block. Not formed (no rows) where it would have more
  /// than kMostBlocks blocks per contact; node_coupling.h then takes its place.
  BlockSparseMatrix W_D;
  std::vector<Matrix3> W_D_diagonal;  ///< m: its diagonal blocks, formed or not
  bool couples_by_nodes() const { return contacts() > 0 && W_D.block_rows == 0; }
  static constexpr long long kMostBlocks = 256;
  Vector w;  ///< 3m; m/s
  Vector mu;
  FrictionLaw law = FrictionLaw::cone;
  Vector origin;  ///< v₀, size(); m/s
  Vector pull;    ///< f − M v₀, size(), N·s; empty with Origin::free, where it is 0
  /// Of D⁻¹ M, from the free velocity; with Judge::own and Origin::free, unknown else (residual_polynomial.h).
  SpectrumBounds spectrum;
  double largest_relative = 0.0;  ///< max |Hᵀ v₀ + w|, m/s
  double scale = 1.0;             ///< the same, or 1 where it vanishes. U = max|q| with Origin::free
  std::vector<Matrix3> inverse;   ///< per node block: D_ii⁻¹; zero for the blocks of a pair
  std::vector<Pair> pairs;
  std::vector<InverseMass> inverse_mass;  ///< true ones with `exact`, those of W_D else

 private:
  std::size_t nodes() const { return M.block_rows; }
  std::size_t part_nodes() const { return folded_ ? folded_->chunk_rows : kPartNodes; }
  void fold(TaskArena* arena);
  void factor(const ContactProblem& problem, TaskArena* arena);
  void invert_diagonal(TaskArena* arena);
  void solve_freely(const ContactProblem& problem, TaskArena* arena);
  void begin_at_start(const ContactProblem& problem, TaskArena* arena);
  void measure_scale();
  bool is_coupled_widely() const;
  void couple(TaskArena* arena);
  void form_diagonal_coupling(TaskArena* arena);

  bool prepared_ = false;
  bool same_matrix_ = false;
  bool exact_ = false;
  Vector f_;
  DirectionColumns columns_;
  std::optional<SymmetricBlockMatrix> folded_;  ///< M for products, where that is faster
  std::optional<MassFactor> diagonal_;          ///< of D
  std::optional<MassFactor> mass_;
  FactorStore own_factors_;                     ///< of M, where the problem has none to share
  std::optional<ConjugateGradient> gradients_;  ///< where M is not factored
  std::vector<double> impulse_, velocity_, u_;
  mutable std::vector<ContactErrors> worst_;  ///< per chunk of contacts
};

}  // namespace signorini
