#include "solvers/relaxation/exact_sweep.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "linalg/block_kernels.h"
#include "solvers/relaxation/body_response.h"
#include "solvers/relaxation/one_contact.h"

namespace signorini {

namespace {

using kernel::BlockView;
using kernel::Product;
using kernel::Source;
using Contact = ExactSweep::Contact;
using Memory = ExactSweep::Memory;

/// det A at most this part of max(W_T1T1, W_T2T2)²: no stick solution that means anything.
constexpr double kSingular = 1e-14;
/// A Newton step from |ω| at most this lands within rounding.
constexpr double kClose = 1e-7;
/// An impulse on its bound may exceed it by this part.
constexpr double kRounding = 16.0 * std::numeric_limits<double>::epsilon();

/// b, c and e = adj(A) c of a contact that does not take off.
struct Load {
  double normal;
  double c[2], e[2];
};

Load load_of(const Contact& contact, const double* b) {
  Load load{};
  load.normal = b[0];
  for (int j = 0; j < 2; ++j) load.c[j] = b[1 + j] - contact.by_normal[j] * b[0];
  load.e[0] = contact.A[1][1] * load.c[0] - contact.A[0][1] * load.c[1];
  load.e[1] = contact.A[0][0] * load.c[1] - contact.A[1][0] * load.c[0];
  return load;
}

double normal_of(const Contact& contact, const Load& load, const double* r_T) {
  return -(load.normal + contact.to_normal[0] * r_T[0] + contact.to_normal[1] * r_T[1]) *
         contact.inverse_normal;
}

/// The sticking impulse, whatever its bound.
void stick(const Contact& contact, const Load& load, double* r) {
  for (int j = 0; j < 2; ++j) r[1 + j] = -load.e[j] * contact.inverse_determinant;
  r[0] = normal_of(contact, load, r + 1);
}

/// r at the root s: the direction is that of e + s c, and u_N = 0 gives r_N. False where r_N is not positive.
bool slide(const Contact& contact, const Load& load, double s, double* r) {
  double t[2];
  for (int j = 0; j < 2; ++j) t[j] = load.e[j] + s * load.c[j];
  const double inverse = 1.0 / std::sqrt(t[0] * t[0] + t[1] * t[1]);
  const double pull = contact.to_normal[0] * t[0] + contact.to_normal[1] * t[1];
  const double inverse_mass = contact.inverse_mass[0] - contact.mu * pull * inverse;
  if (!(inverse_mass > 0.0)) return false;
  r[0] = -load.normal / inverse_mass;
  const double factor = -contact.mu * r[0] * inverse;
  r[1] = factor * t[0];
  r[2] = factor * t[1];
  return true;
}

/// The root of ω, from `slip`. False where the search does not end.
bool find_slip(const Contact& contact, const Load& load, double& slip) {
  constexpr int kMostSteps = 60;
  const double steepness = contact.mu * contact.inverse_normal;
  const double grip = contact.to_normal[0] * load.c[0] + contact.to_normal[1] * load.c[1];
  double low = 0.0, high = std::numeric_limits<double>::infinity(), s = slip;
  for (int i = 0; i < kMostSteps; ++i) {
    const double t[2] = {load.e[0] + s * load.c[0], load.e[1] + s * load.c[1]};
    const double square = t[0] * t[0] + t[1] * t[1], length = std::sqrt(square);
    const double delta = contact.determinant + s * (contact.trace + s);
    const double nu = contact.to_normal[0] * t[0] + contact.to_normal[1] * t[1] - load.normal * delta;
    const double excess = steepness * nu - length;  // ω ‖e + s c‖
    (excess < 0.0 ? low : high) = s;
    const double growth = grip - load.normal * (contact.trace + 2.0 * s);  // dν/ds
    const double turn = (t[0] * load.c[0] + t[1] * load.c[1]) / square;    // d log ‖e + s c‖/ds
    double next = s - excess / (steepness * (growth - nu * turn));
    const bool close = std::abs(excess) <= kClose * length;
    const bool inside = next > low && next < high;
    if (close) {
      slip = inside ? next : s;
      return true;
    }
    if (!inside) next = std::isfinite(high) ? 0.5 * (low + high) : 2.0 * s + contact.trace;
    s = next;
  }
  return false;
}

bool solve(FrictionCone, const Contact& contact, const Load& load, Memory& memory, double* r) {
  const double nu =
      contact.to_normal[0] * load.e[0] + contact.to_normal[1] * load.e[1] - load.normal * contact.determinant;
  const double bound = contact.mu * contact.inverse_normal * nu;  // of ‖e‖
  if (bound >= 0.0 && load.e[0] * load.e[0] + load.e[1] * load.e[1] <= bound * bound) {
    stick(contact, load, r);
    return true;
  }
  return find_slip(contact, load, memory.slip) && slide(contact, load, memory.slip, r);
}

/// The velocity of tangent j, given u_N = 0.
double sliding_velocity(const Contact& contact, const Load& load, const double* r, int j) {
  return contact.A[j][0] * r[1] + contact.A[j][1] * r[2] + load.c[j];
}

/// Tangent `slips` slips to `side`, the other one sticks.
void slide_along(const Contact& contact, const Load& load, int slips, double side, double* r) {
  const int sticks = 1 - slips;
  const double inverse = 1.0 / contact.A[sticks][sticks];
  const double follows = contact.A[sticks][slips] * inverse, resists = load.c[sticks] * inverse;
  const double bound = side * contact.mu;  // r_slips/r_N
  const double inverse_mass =
      contact.inverse_mass[0] + bound * (contact.to_normal[slips] - contact.to_normal[sticks] * follows);
  r[0] = (contact.to_normal[sticks] * resists - load.normal) / inverse_mass;
  r[1 + slips] = bound * r[0];
  r[1 + sticks] = -resists - follows * r[1 + slips];
}

/// Both tangents slip.
void slide_off(const Contact& contact, const Load& load, const std::array<int, 2>& side, double* r) {
  const double pull = contact.to_normal[0] * side[0] + contact.to_normal[1] * side[1];
  r[0] = -load.normal / (contact.inverse_mass[0] + contact.mu * pull);
  for (int j = 0; j < 2; ++j) r[1 + j] = contact.mu * r[0] * side[j];
}

/// r for these sides; false where it breaks the law.
bool try_sides(const Contact& contact, const Load& load, const std::array<int, 2>& side, double* r) {
  if (side[0] == 0 && side[1] == 0) {
    stick(contact, load, r);
  } else if (side[0] != 0 && side[1] != 0) {
    slide_off(contact, load, side, r);
  } else {
    const int slips = side[0] != 0 ? 0 : 1;
    slide_along(contact, load, slips, side[slips], r);
  }
  if (!(r[0] >= 0.0)) return false;
  const double bound = contact.mu * r[0];
  for (int j = 0; j < 2; ++j) {
    const bool kept = side[j] == 0 ? std::abs(r[1 + j]) <= (1.0 + kRounding) * bound
                                   : side[j] * sliding_velocity(contact, load, r, j) <= 0.0;
    if (!kept) return false;
    r[1 + j] = std::clamp(r[1 + j], -bound, bound);
  }
  return true;
}

bool solve(FrictionPyramid, const Contact& contact, const Load& load, Memory& memory, double* r) {
  if (try_sides(contact, load, memory.side, r)) return true;
  for (const int first : {0, -1, 1}) {
    for (const int second : {0, -1, 1}) {
      memory.side = {first, second};
      if (try_sides(contact, load, memory.side, r)) return true;
    }
  }
  memory.side = {0, 0};
  return false;
}

/// The exact answer for b to r. False where only the slow solution has one.
template <class Law>
bool solve_contact(const Contact& contact, const double* b, Memory& memory, double* r) {
  if (b[0] >= 0.0) {
    r[0] = r[1] = r[2] = 0.0;
    return true;
  }
  if (contact.mu == 0.0) {
    r[0] = -b[0] * contact.inverse_normal;
    r[1] = r[2] = 0.0;
    return true;
  }
  return contact.determinant > 0.0 && solve(Law{}, contact, load_of(contact, b), memory, r);
}

/// What b_k is computed from: a row of W and r, or the rows of bodies and v.
enum class Rows { delassus, bodies };

struct Sweep {
  BlockView A;  ///< W, or J
  const Index* upper_begin;
  const Matrix3* diagonal;
  const Contact* contact;
  Memory* memory;
  std::ptrdiff_t first, last, stride;  ///< contacts first, first + stride, …, until last, which is left out
  const double* response;              ///< P beside J
  double* v;                           ///< null also where bodies are touched by no contact
  Rows rows;

  BodyResponse bodies() const { return {A, response, v}; }
};

/// Of the contacts so far.
struct Seen {
  double largest = 0.0;  ///< correction²
  double poison = 0.0;   ///< NaN once a number is not finite
  int slow = 0;

  ExactSweep::Outcome outcome() const { return {std::sqrt(largest) + poison, slow}; }
};

/// r_k ← the answer for b; d receives its change.
template <class Law>
void update(const Sweep& sweep, std::ptrdiff_t k, const double* b, double* r_k, double* d, Seen& seen) {
  const Contact& contact = sweep.contact[k];
  double answer[3];
  if (!solve_contact<Law>(contact, b, sweep.memory[k], answer)) {
    ++seen.slow;
    Eigen::Map<Vector3>(answer, 3) =
        solve_one_contact(Law::kLaw, contact.mu, sweep.diagonal[k], Vector3(b[0], b[1], b[2]));
  }
  double correction = 0.0;
  for (int i = 0; i < 3; ++i) {
    d[i] = answer[i] - r_k[i];
    const double e = d[i] * contact.inverse_mass[i];
    correction += e * e;
    r_k[i] = answer[i];
  }
  seen.poison += 0.0 * correction;
  seen.largest = std::max(seen.largest, correction);
}

/// b = u − W_kk r_k.
void take_own_part(const Matrix3& D, const double* r_k, double* b) {
  for (int i = 0; i < 3; ++i) b[i] -= D(i, 0) * r_k[0] + D(i, 1) * r_k[1] + D(i, 2) * r_k[2];
}

template <class Law, Rows rows, Product product>
ExactSweep::Outcome sweep_plain(const Sweep& sweep, double* r) {
  const BlockView& A = sweep.A;
  Seen seen;
  for (std::ptrdiff_t k = sweep.first; k != sweep.last; k += sweep.stride) {
    if (!(sweep.contact[k].inverse_normal > 0.0)) continue;
    kernel::PlainSums sums;
    std::copy_n(sweep.contact[k].q, 3, sums.column0);
    if constexpr (rows == Rows::bodies) {
      kernel::add_blocks<product>(A, A.begin[k], A.begin[k + 1], sweep.v, sums);
    } else {
      const std::ptrdiff_t own = sweep.upper_begin[k];
      kernel::add_blocks<product>(A, own + 1, A.begin[k + 1], r, sums);
      kernel::add_blocks<product>(A, A.begin[k], own, r, sums);
    }
    double b[3] = {sums.right_to_left(0), sums.right_to_left(1), sums.right_to_left(2)}, d[3];
    if constexpr (rows == Rows::bodies) take_own_part(sweep.diagonal[k], r + 3 * k, b);
    update<Law>(sweep, k, b, r + 3 * k, d, seen);
    if constexpr (rows == Rows::bodies) respond_plain<product>(sweep.bodies(), k, d);
  }
  return seen.outcome();
}

#ifdef SIGNORINI_X86

template <class Law, Rows rows, Source source>
SIGNORINI_AVX2 ExactSweep::Outcome sweep_avx2(const Sweep& sweep, double* r) {
  const BlockView& A = sweep.A;
  Seen seen;
  for (std::ptrdiff_t k = sweep.first; k != sweep.last; k += sweep.stride) {
    if (!(sweep.contact[k].inverse_normal > 0.0)) continue;
    kernel::RowSums sums{_mm256_loadu_pd(sweep.contact[k].q), _mm256_setzero_pd(), _mm256_setzero_pd()};
    if constexpr (rows == Rows::bodies) {
      kernel::add_blocks<source>(A, A.begin[k], A.begin[k + 1], sweep.v, sums);
    } else {
      // b = q + Σ_{j > k} W_kj r_j + Σ_{j < k} W_kj r_j: what waits for contact k − 1 comes last
      const std::ptrdiff_t own = sweep.upper_begin[k];
      kernel::add_blocks<source>(A, own + 1, A.begin[k + 1], r, sums);
      kernel::add_blocks<source>(A, A.begin[k], own, r, sums);
    }
    alignas(32) double b[4];
    double d[3];
    _mm256_store_pd(b, _mm256_add_pd(sums.column0, _mm256_add_pd(sums.column1, sums.column2)));
    if constexpr (rows == Rows::bodies) take_own_part(sweep.diagonal[k], r + 3 * k, b);
    update<Law>(sweep, k, b, r + 3 * k, d, seen);
    if constexpr (rows == Rows::bodies) {
      if (d[0] != 0.0 || d[1] != 0.0 || d[2] != 0.0)
        respond_avx2<source>(sweep.bodies(), k, _mm256_set1_pd(d[0]), _mm256_set1_pd(d[1]),
                             _mm256_set1_pd(d[2]));
    }
  }
  return seen.outcome();
}

#endif

template <class Law, Rows rows>
ExactSweep::Outcome run_by_level(Isa level, const Sweep& sweep, double* r) {
#ifdef SIGNORINI_X86
  if (level == Isa::avx2) {
    if (kernel::source_of(sweep.A) == Source::cache) return sweep_avx2<Law, rows, Source::cache>(sweep, r);
    return sweep_avx2<Law, rows, Source::memory>(sweep, r);
  }
#endif
  if (level == Isa::portable) return sweep_plain<Law, rows, Product::rounded>(sweep, r);
  return sweep_plain<Law, rows, Product::fused>(sweep, r);
}

template <class Law>
ExactSweep::Outcome run_by_law(Isa level, const Sweep& sweep, double* r) {
  return sweep.rows == Rows::bodies ? run_by_level<Law, Rows::bodies>(level, sweep, r)
                                    : run_by_level<Law, Rows::delassus>(level, sweep, r);
}

Contact make_contact(const GaussSeidelContact& scalar, const Matrix3& D) {
  Contact contact{};
  contact.mu = scalar.mu;
  std::copy(scalar.q, scalar.q + 3, contact.q);
  std::copy(scalar.inverse_mass, scalar.inverse_mass + 3, contact.inverse_mass);
  if (!(D(0, 0) > 0.0)) return contact;
  contact.inverse_normal = 1.0 / D(0, 0);
  for (int j = 0; j < 2; ++j) {
    contact.by_normal[j] = D(1 + j, 0) * contact.inverse_normal;
    contact.to_normal[j] = D(0, 1 + j);
    for (int i = 0; i < 2; ++i)
      contact.A[j][i] = D(1 + j, 1 + i) - D(1 + j, 0) * D(0, 1 + i) * contact.inverse_normal;
  }
  contact.trace = contact.A[0][0] + contact.A[1][1];
  const double determinant = contact.A[0][0] * contact.A[1][1] - contact.A[0][1] * contact.A[1][0];
  const double largest = std::max(D(1, 1), D(2, 2));
  if (!(contact.A[0][0] > 0.0 && contact.A[1][1] > 0.0 && determinant > kSingular * largest * largest))
    return contact;
  contact.determinant = determinant;
  contact.inverse_determinant = 1.0 / determinant;
  return contact;
}

}  // namespace

void ExactSweep::prepare(const GaussSeidelData& data) {
  data_ = &data;
  contact_.clear();
  contact_.reserve(data.contact.size());
  for (std::size_t k = 0; k < data.contact.size(); ++k)
    contact_.push_back(make_contact(data.contact[k], data.diagonal[k]));
  memory_.assign(contact_.size(), {});
}

void ExactSweep::take_free_velocity() {
  for (std::size_t k = 0; k < contact_.size(); ++k) std::copy_n(data_->contact[k].q, 3, contact_[k].q);
}

void ExactSweep::forget() { std::fill(memory_.begin(), memory_.end(), Memory{}); }

ExactSweep::Outcome ExactSweep::run(Isa level, std::span<double> r, std::span<double> v) {
  release_fixed(*data_, r);
  return run(level, {0, data_->contacts()}, r, v);
}

ExactSweep::Outcome ExactSweep::run(SweepRange range, std::span<double> r, std::span<double> v) {
  return run(isa(), range, r, v);
}

ExactSweep::Outcome ExactSweep::run(Isa level, SweepRange range, std::span<double> r, std::span<double> v) {
  SIGNORINI_CHECK(r.size() == 3 * contact_.size());
  SIGNORINI_CHECK(v.size() == (data_->bodies ? data_->bodies->free.size() : 0));
  SIGNORINI_CHECK(0 <= range.begin && range.begin <= range.end && range.end <= data_->contacts());
  Sweep sweep{kernel::view_of(data_->bodies ? data_->bodies->J : data_->W),
              data_->upper_begin.data(),
              data_->diagonal.data(),
              contact_.data(),
              memory_.data(),
              range.begin,
              range.end,
              1,
              nullptr,
              nullptr,
              Rows::delassus};
  if (data_->bodies) {
    sweep.response = data_->bodies->response.data();
    sweep.v = v.data();
    sweep.rows = Rows::bodies;
  }
  if (range.backwards) {
    sweep.first = range.end - std::ptrdiff_t{1};
    sweep.last = range.begin - std::ptrdiff_t{1};
    sweep.stride = -1;
  }
  return with_law(data_->law, [&](auto law) { return run_by_law<decltype(law)>(level, sweep, r.data()); });
}

}  // namespace signorini
