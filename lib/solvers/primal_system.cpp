#include "solvers/primal_system.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "contact/body_touches.h"
#include "contact/delassus_operator.h"
#include "contact/matrix_note.h"
#include "contact/velocity_scale.h"
#include "linalg/conjugate_gradient.h"
#include "linalg/connected_components.h"

namespace signorini {

namespace {

/// Node blocks per task.
constexpr std::size_t kNodeGrain = 512;
/// Blocks of M from which the symmetric form multiplies faster, 1.2 MB of them. Measured on cubes of mass
/// points with 2 MB of second-level cache: 6 % slower at 0.9 MB, 1.7 times faster at 1.6 MB and beyond.
constexpr Index kFoldedBlocks = 16'000;
/// Parts that a large symmetric M is cut into. Fewer parts read less, as couplings between parts are stored
/// twice; eight still balance on two to four threads. A part of kLargestPart nodes is within 5 % of one cut.
constexpr std::size_t kParts = 8;
constexpr std::size_t kLargestPart = 8192;
/// Contacts per task that measures their errors.
constexpr std::size_t kContactGrain = 256;

/// M, completed by unit masses to a multiple of three dofs.
SparseRows padded(const SparseRows& M) {
  const Index n = static_cast<Index>(M.rows());
  const Index whole = 3 * ((n + 2) / 3);
  std::vector<Eigen::Triplet<double, Index>> entries;
  entries.reserve(M.nonZeros() + 2);
  for (Index i = 0; i < n; ++i) {
    for (SparseRows::InnerIterator entry(M, i); entry; ++entry)
      entries.emplace_back(i, entry.index(), entry.value());
  }
  for (Index i = n; i < whole; ++i) entries.emplace_back(i, i, 1.0);
  SparseRows result(whole, whole);
  result.setFromTriplets(entries.begin(), entries.end());
  return result;
}

bool is_zero(const double* block) {
  return std::all_of(block, block + 9, [](double a) { return a == 0.0; });
}

/// The node blocks of M without those that hold only zeros.
BlockSparseMatrix coupled_blocks(const SparseRows& M, TaskArena* arena) {
  BlockSparseMatrix all = M.rows() % 3 == 0 ? to_blocks(M, arena) : to_blocks(padded(M), arena);
  bool coupled = true;
  for (Index b = 0; b < all.blocks() && coupled; ++b) coupled = !is_zero(all.block(b));
  if (coupled) return all;
  BlockSparseMatrix A;
  A.block_rows = all.block_rows;
  A.block_columns = all.block_columns;
  A.row_begin.assign(1, 0);
  A.column.reserve(all.column.size());
  A.values.reserve(all.values.size());
  for (Index i = 0; i < all.block_rows; ++i) {
    for (Index b = all.row_begin[i]; b < all.row_begin[i + 1]; ++b) {
      const double* block = all.block(b);
      if (all.column[b] != i && is_zero(block)) continue;
      A.column.push_back(all.column[b]);
      A.values.insert(A.values.end(), block, block + 9);
    }
    A.row_begin.push_back(A.blocks());
  }
  A.values.resize(A.values.size() + BlockSparseMatrix::kPadding, 0.0);
  return A;
}

bool same_bits(const BlockSparseMatrix& A, const BlockSparseMatrix& B) {
  return A.row_begin == B.row_begin && A.column == B.column && A.values.size() == B.values.size() &&
         std::memcmp(A.values.data(), B.values.data(), sizeof(double) * A.values.size()) == 0;
}

/// Per node block: the other one of its pair, or −1.
std::vector<Index> find_partners(const BlockSparseMatrix& A) {
  const Components bodies = connected_components(A);
  std::vector<Index> nodes(bodies.count, 0);
  std::vector<Index> sum(bodies.count, 0);
  for (Index i = 0; i < count(bodies.label); ++i) {
    ++nodes[bodies.label[i]];
    sum[bodies.label[i]] += i;
  }
  std::vector<Index> partner(bodies.label.size(), -1);
  for (Index i = 0; i < count(partner); ++i) {
    if (nodes[bodies.label[i]] == 2) partner[i] = sum[bodies.label[i]] - i;
  }
  return partner;
}

/// D: the diagonal blocks and the whole of every pair.
SparseRows block_diagonal(const BlockSparseMatrix& A, std::span<const Index> partner) {
  const Index rows = 3 * count(partner);
  SparseRows D(rows, rows);
  Index entries = 0;
  for (const Index other : partner) entries += other < 0 ? 9 : 18;
  D.resizeNonZeros(entries);
  Index* begin = D.outerIndexPtr();
  Index* column = D.innerIndexPtr();
  double* value = D.valuePtr();
  Index place = 0;
  for (Index i = 0; i < A.block_rows; ++i) {
    const Index other = partner[i];
    const Index first = other < 0 ? i : std::min(i, other), last = other < 0 ? i : std::max(i, other);
    for (Index a = 0; a < 3; ++a) {
      begin[3 * i + a] = place;
      for (Index j = first; j <= last; j += std::max<Index>(1, last - first)) {
        const Index b = find_block(A, i, j);
        for (Index c = 0; c < 3; ++c, ++place) {
          column[place] = 3 * j + c;
          value[place] = b < 0 ? 0.0 : A.block(b)[3 * c + a];
        }
      }
    }
  }
  begin[rows] = place;
  return D;
}

/// The inverse of a block of D through its Cholesky factor; false when it is not positive definite.
template <int size>
bool invert(const Eigen::Matrix<double, size, size>& block, Eigen::Matrix<double, size, size>& inverse) {
  if (block.isDiagonal(0.0) && block.diagonal().minCoeff() > 0.0) {
    inverse = block.diagonal().cwiseInverse().asDiagonal();
    return true;
  }
  const Eigen::LLT<Eigen::Matrix<double, size, size>> factor(block);
  if (factor.info() != Eigen::Success) return false;
  const Eigen::Matrix<double, size, size> columns =
      factor.solve(Eigen::Matrix<double, size, size>::Identity());
  inverse = 0.5 * (columns + columns.transpose());
  return true;
}

constexpr const char* kOnlyDual = "needs M and H, and the problem holds only W and q";

[[noreturn]] void throw_not_definite(Index node) {
  throw_input("node block of dof {}: M is not positive definite", 3 * node);
}

}  // namespace

std::string PrimalSystem::refusal(const ContactProblem& problem) {
  if (problem.has_primal() || !problem.has_dual()) return symmetry_refusal(problem);
  return kOnlyDual;
}

void PrimalSystem::prepare(const ContactProblem& problem, FrictionLaw wanted_law, Judge judge,
                           TaskArena* arena, Origin from) {
  SIGNORINI_CHECK(from == Origin::free || judge == Judge::own);
  if (!problem.has_primal() && problem.has_dual()) throw_usage("this solver {}", kOnlyDual);
  law = wanted_law;
  mu = problem.mu;
  w = problem.w;
  DirectionRows rows = make_direction_rows(problem.H, problem.contacts());
  BlockSparseMatrix blocks = coupled_blocks(problem.M, arena);
  const bool exact = judge == Judge::exact;
  const bool same_matrix = prepared_ && exact == exact_ && same_bits(blocks, M);
  const bool same_directions = same_matrix && rows == H;
  prepared_ = false;
  H = std::move(rows);
  exact_ = exact;
  same_matrix_ = same_matrix;
  impulse_.assign(problem.dofs(), 0.0);
  velocity_.resize(problem.dofs());
  u_.resize(3 * contacts());
  if (!same_matrix) {
    M = std::move(blocks);
    gradients_.reset();
    fold(arena);
    invert_diagonal(arena);
    if (!exact || !problem.has_primal()) {
      mass_.reset();
    } else {
      if (!mass_) mass_.emplace();
      factor(problem, arena);
    }
  }
  if (from == Origin::start) {
    begin_at_start(problem, arena);
  } else if (!same_matrix || pull.size() > 0 || f_.size() != problem.f.size() || f_ != problem.f) {
    solve_freely(problem, arena);
  }
  measure_scale();
  if (!same_directions) couple(arena);
  prepared_ = true;
}

/// What depends on M and H.
void PrimalSystem::couple(TaskArena* arena) {
  columns_ = make_direction_columns(H, count(impulse_));
  form_diagonal_coupling(arena);
  inverse_mass.resize(contacts());
  worst_.resize((inverse_mass.size() + kContactGrain - 1) / kContactGrain);
  if (mass_) {
    const Matrix diagonal = delassus_diagonal(make_body_touches(H, *mass_), *mass_, arena);
    for (Index k = 0; k < contacts(); ++k) inverse_mass[k] = inverse_mass_of(diagonal.middleRows<3>(3 * k));
  } else {
    for (Index k = 0; k < contacts(); ++k) inverse_mass[k] = inverse_mass_of(W_D_diagonal[k]);
  }
}

void PrimalSystem::factor(const ContactProblem& problem, TaskArena* arena) {
  if (problem.factors) {
    own_factors_ = {};
    mass_->refactor(problem.M, problem.node_size(), *problem.factors, arena);
    return;
  }
  own_factors_.turn_over();
  mass_->refactor(problem.M, problem.node_size(), own_factors_, arena);
  own_factors_.settle();
}

/// Whether W_D would hold more than kMostBlocks blocks per contact: Σ over node blocks of (contacts there)² is
/// the most that it can hold.
bool PrimalSystem::is_coupled_widely() const {
  std::vector<long long> touching(nodes(), 0);
  for (Index k = 0; k < contacts(); ++k) {
    Index last = -1;
    for (Index e = H.begin[k]; e < H.begin[k + 1]; ++e) {
      const Index node = H.dof[e] / 3;
      if (node != last) ++touching[node];
      last = node;
    }
  }
  long long most = 0;
  for (const long long count : touching) most += count * count;
  return most > kMostBlocks * contacts();
}

void PrimalSystem::form_diagonal_coupling(TaskArena* arena) {
  W_D_diagonal.resize(contacts());
  if (is_coupled_widely()) {
    W_D = {};
    const Matrix diagonal = delassus_diagonal(make_body_touches(H, *diagonal_), *diagonal_, arena);
    for (Index k = 0; k < contacts(); ++k) W_D_diagonal[k] = diagonal.middleRows<3>(3 * k);
    return;
  }
  W_D = assemble_delassus(*diagonal_, H, arena);
  for (Index k = 0; k < contacts(); ++k) W_D_diagonal[k] = diagonal_block(W_D, k);
}

/// The form of M that multiplies fastest; an M that is not symmetric stays as it is.
void PrimalSystem::fold(TaskArena* arena) {
  folded_.reset();
  if (M.blocks() < kFoldedBlocks) return;
  const std::size_t wanted = (nodes() + kParts * kPartNodes - 1) / (kParts * kPartNodes) * kPartNodes;
  folded_ = fold_symmetric(M, static_cast<Index>(std::min(wanted, kLargestPart)), arena);
}

void PrimalSystem::multiply_part(std::size_t part, std::span<const double> x, std::span<double> y) const {
  if (folded_) return multiply_chunk(*folded_, static_cast<Index>(part), x, y);
  multiply_rows(M, static_cast<Index>(part_begin(part)), static_cast<Index>(part_begin(part + 1)), x, y);
}

void PrimalSystem::multiply(std::span<const double> x, std::span<double> y, TaskArena* arena) const {
  for_each_task(parts() > 1 ? arena : nullptr, parts(), [&](std::size_t part) { multiply_part(part, x, y); });
}

/// D⁻¹ of the nodes and pairs of M.
void PrimalSystem::invert_diagonal(TaskArena* arena) {
  const std::vector<Index> partner = find_partners(M);
  inverse.assign(M.block_rows, Matrix3::Zero());
  std::vector<char> definite(inverse.size(), 1);
  for_each_chunk(arena, inverse.size(), kNodeGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (partner[i] < 0)
        definite[i] = invert<3>(diagonal_block(M, static_cast<Index>(i)), inverse[i]) ? 1 : 0;
    }
  });
  const auto bad = std::find(definite.begin(), definite.end(), 0);
  if (bad != definite.end()) throw_not_definite(static_cast<Index>(bad - definite.begin()));
  pairs.clear();
  for (Index i = 0; i < M.block_rows; ++i) {
    const Index j = partner[i];
    if (j <= i) continue;
    Pair pair{i, j, {}};
    pair.inverse.topLeftCorner<3, 3>() = diagonal_block(M, i);
    pair.inverse.bottomRightCorner<3, 3>() = diagonal_block(M, j);
    const Index coupling = find_block(M, i, j);
    if (coupling >= 0) pair.inverse.topRightCorner<3, 3>() = Eigen::Map<const Matrix3>(M.block(coupling));
    pair.inverse.bottomLeftCorner<3, 3>() = pair.inverse.topRightCorner<3, 3>().transpose().eval();
    const Eigen::Matrix<double, 6, 6> block = pair.inverse;
    if (!invert<6>(block, pair.inverse)) throw_not_definite(i);
    pairs.push_back(pair);
  }
  diagonal_.emplace(block_diagonal(M, partner), 3, arena);
}

/// v₀ = v⁻ and f − M v₀; one product.
void PrimalSystem::begin_at_start(const ContactProblem& problem, TaskArena* arena) {
  origin = Vector::Zero(size());
  if (problem.v_minus.size() == problem.f.size()) origin.head(problem.v_minus.size()) = problem.v_minus;
  pull.resize(size());
  multiply(span_of(origin), span_of(pull), arena);
  pull = -pull;
  pull.head(problem.f.size()) += problem.f;
}

/// v₀ = M⁻¹ f.
void PrimalSystem::solve_freely(const ContactProblem& problem, TaskArena* arena) {
  constexpr double kShare = 1e-6;  // of f: the least of a mode that is seen
  spectrum = {};
  origin = Vector::Zero(size());
  pull.resize(0);
  const std::size_t n = problem.dofs();
  if (mass_) {
    mass_->solve(span_of(problem.f), span_of(origin).first(n), arena);
  } else if (n > 0) {
    Vector f = Vector::Zero(origin.size());
    f.head(problem.f.size()) = problem.f;
    if (!gradients_) {
      TaskArena alone(1);
      gradients_.emplace();
      gradients_->prepare(arena != nullptr ? *arena : alone, M, folded_ ? &*folded_ : nullptr);
    }
    const int limit = std::max(1000, 10 * static_cast<int>(size()));
    solve_mass(span_of(f), span_of(origin), kFreeTolerance, limit, arena);
    spectrum = gradients_->spectrum(kShare);
    if (!origin.allFinite()) throw_input("the free velocity is not finite: M is not positive definite");
  }
  f_ = problem.f;
}

CgReport PrimalSystem::solve_mass(std::span<const double> b, std::span<double> v, double tolerance, int limit,
                                  TaskArena* arena) {
  SIGNORINI_CHECK(gradients_.has_value());
  if (arena != nullptr) return gradients_->solve(*arena, b, v, tolerance, limit);
  TaskArena alone(1);
  return gradients_->solve(alone, b, v, tolerance, limit);
}

double PrimalSystem::mass_norm(std::span<const double> b, TaskArena* arena) {
  SIGNORINI_CHECK(gradients_.has_value());
  if (arena != nullptr) return gradients_->norm(*arena, b);
  TaskArena alone(1);
  return gradients_->norm(alone, b);
}

void PrimalSystem::measure_scale() {
  relative_velocity(span_of(origin), u_);
  largest_relative = 0.0;
  for (const double q : u_) largest_relative = std::max(largest_relative, std::abs(q));
  scale = velocity_scale_of(largest_relative);
}

void PrimalSystem::apply_inverse_diagonal(std::span<double> x) const {
  apply_inverse_nodes(x, 0, inverse.size());
  apply_inverse_pairs(x);
}

double PrimalSystem::largest_velocity(std::span<double> x) const {
  apply_inverse_diagonal(x);
  double largest = 0.0, poison = 0.0;  // max loses a NaN
  for (const double velocity : x) {
    largest = std::max(largest, std::abs(velocity));
    poison += 0.0 * velocity;
  }
  return largest + poison;
}

void PrimalSystem::apply_inverse_nodes(std::span<double> x, std::size_t begin, std::size_t end) const {
  for (std::size_t i = begin; i < end; ++i) {
    const Matrix3& D = inverse[i];
    double* v = x.data() + 3 * i;
    if (D(0, 0) == 0.0) continue;  // in a pair
    const double a = v[0], b = v[1], c = v[2];
    v[0] = D(0, 0) * a + D(0, 1) * b + D(0, 2) * c;
    v[1] = D(1, 0) * a + D(1, 1) * b + D(1, 2) * c;
    v[2] = D(2, 0) * a + D(2, 1) * b + D(2, 2) * c;
  }
}

void PrimalSystem::apply_inverse_pairs(std::span<double> x) const {
  for (const Pair& pair : pairs) {
    Eigen::Matrix<double, 6, 1> v;
    Eigen::Map<Vector3> first(x.data() + 3 * pair.first);
    Eigen::Map<Vector3> second(x.data() + 3 * pair.second);
    v << first, second;
    v = (pair.inverse * v).eval();
    first = v.head<3>();
    second = v.tail<3>();
  }
}

void PrimalSystem::relative_velocity(std::span<const double> v, std::span<double> u, TaskArena* arena) const {
  contact_velocities(H, v, u, arena);
  for (std::size_t i = 0; i < u.size(); ++i) u[i] += w[i];
}

PrimalSystem::ContactErrors PrimalSystem::errors(std::span<const double> r, std::span<const double> u,
                                                 TaskArena* arena) const {
  for_each_task(arena, worst_.size(), [&](std::size_t chunk) {
    double largest = 0.0, squares = 0.0;  // max loses a NaN, the sum keeps it
    const std::size_t end = std::min(inverse_mass.size(), kContactGrain * (chunk + 1));
    for (std::size_t k = kContactGrain * chunk; k < end; ++k) {
      const double e = contact_error(law, inverse_mass[k], mu[k], r.data() + 3 * k, u.data() + 3 * k);
      squares += e * e;
      largest = std::max(largest, e);
    }
    worst_[chunk] = {largest, squares};
  });
  ContactErrors all;
  for (const ContactErrors& chunk : worst_) {
    all.largest = std::max(all.largest, chunk.largest);
    all.squares += chunk.squares;
  }
  if (std::isnan(all.squares)) all.largest = all.squares;
  return all;
}

void PrimalSystem::exact_response(std::span<const double> r, std::span<double> y, TaskArena* arena) {
  SIGNORINI_CHECK(exact_);
  impulse(r, impulse_, arena);
  std::fill(y.begin(), y.end(), 0.0);
  if (mass_) mass_->solve(impulse_, y.first(impulse_.size()), arena);
}

double PrimalSystem::exact_error(std::span<const double> r, TaskArena* arena) {
  SIGNORINI_CHECK(exact_);
  // v − v₀ = M⁻¹ H r, v₀ the free velocity
  impulse(r, impulse_, arena);
  if (mass_) mass_->solve(impulse_, velocity_, arena);
  for (std::size_t i = 0; i < velocity_.size(); ++i) velocity_[i] += origin[i];
  relative_velocity(velocity_, u_, arena);
  return error(r, u_, arena);
}

ReducedProblem PrimalSystem::reduced(TaskArena* arena) const {
  SIGNORINI_CHECK(exact_ && mass_ && pull.size() == 0);
  ReducedProblem problem{assemble_delassus(*mass_, H, arena), Vector::Zero(w.size())};
  relative_velocity(span_of(origin), span_of(problem.q), arena);
  return problem;
}

}  // namespace signorini
