#include "solvers/relaxation/gauss_seidel.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/roots.h"
#include "linalg/block_kernels.h"
#include "solvers/relaxation/body_response.h"

namespace signorini {
namespace {

using kernel::BlockView;
using kernel::Product;
using kernel::Source;

/// How the tangents of a contact are updated.
enum class Update { scalar_disc, componentwise_disc, componentwise_clamp };

/// What u_k is computed from: a row of W and r, the rows of bodies and v, or rows and an x that no contact changes.
enum class Rows { delassus, bodies, frozen };

struct Problem {
  BlockView A;  ///< W, or J
  const Index* upper_begin;
  const GaussSeidelContact* contact;
  std::ptrdiff_t first, last, stride;  ///< contacts first, first + stride, …, until last, which is left out
  const double* response;              ///< P beside J
  double* v;             ///< of `Rows::bodies`; null also where bodies are touched by no contact
  const double* frozen;  ///< x of `Rows::frozen`
  Rows rows;
};

/// Whether a sweep writes down what it changes.
enum class Record { nothing, change };

struct Log {
  const double* along;
  double* change;
};

/// Smaller squared lengths are no lengths: keeps 1/s finite.
constexpr double kTiny = 1e-300;

double largest_eigenvalue(double a, double b, double c, double d) {
  return 0.5 * (a + d) + hypotenuse(0.5 * (a - d), 0.5 * (b + c));
}

double clamp_to(double value, double bound) { return std::min(std::max(value, -bound), bound); }

/// bound/√s, the factor that brings a vector of squared length s > bound² onto the disc, as (bound · 1/s) · √s: the quotient
/// does not wait for the root.
double disc_factor(double s, double bound) {
  return s > bound * bound ? (bound * (1.0 / kernel::larger(s, kTiny))) * std::sqrt(s) : 1.0;
}

/// t: r_T − step u_T − by_normal Δr_N of both tangents.
template <Update update, Product product>
void project_tangents_plain(double* t, const double* old, double bound, const GaussSeidelContact& c) {
  const auto onto_interval = [bound](double value) {
    return kernel::smaller(kernel::larger(value, 0.0 - bound), bound);
  };
  if constexpr (update == Update::componentwise_clamp) t[0] = onto_interval(t[0]);
  if constexpr (update != Update::scalar_disc)
    t[1] = kernel::multiply_add<product>(-c.by_first, t[0] - old[0], t[1]);
  if constexpr (update == Update::componentwise_clamp) {
    t[1] = onto_interval(t[1]);
  } else {
    const double factor = disc_factor(t[0] * t[0] + t[1] * t[1], bound);
    t[0] *= factor;
    t[1] *= factor;
  }
}

/// u_k; the contact before k comes last, as in the kernel for AVX2, whose impulse is waited for there.
template <Rows rows, Product product>
kernel::PlainSums contact_velocity(const Problem& problem, std::ptrdiff_t k, const double* r) {
  const BlockView& A = problem.A;
  kernel::PlainSums sums;
  std::copy_n(problem.contact[k].q, 3, sums.column0);
  const double* x = rows == Rows::bodies ? problem.v : rows == Rows::frozen ? problem.frozen : r;
  const bool upper_first = rows == Rows::delassus && problem.stride > 0;
  const std::ptrdiff_t middle = upper_first ? problem.upper_begin[k] : A.begin[k];
  kernel::add_blocks<product>(A, middle, A.begin[k + 1], x, sums);
  kernel::add_blocks<product>(A, A.begin[k], middle, x, sums);
  return sums;
}

/// What a sweep adds up, with one sum per lane of the kernel for AVX2.
struct PlainStep {
  double largest = 0.0, poison = 0.0;  // correction²; NaN once a number is not finite
  double square[3] = {}, along[3] = {};

  static double sum_of(const double* lane) { return lane[0] + (lane[1] + lane[2]); }
  SweepStep step() const { return {std::sqrt(largest) + poison, sum_of(square), sum_of(along)}; }
};

/// After r_k moved by d.
template <Record record, Product product>
void note_change(const Problem& problem, std::ptrdiff_t k, const double* d, const Log& log, PlainStep& sum) {
  const double* inverse_mass = problem.contact[k].inverse_mass;
  const double e[3] = {d[0] * inverse_mass[0], d[1] * inverse_mass[1], d[2] * inverse_mass[2]};
  const double correction = kernel::multiply_add<product>(e[0], e[0], e[1] * e[1] + e[2] * e[2]);
  sum.poison = kernel::multiply_add<product>(0.0, correction, sum.poison);
  sum.largest = kernel::larger(sum.largest, correction);
  if constexpr (record == Record::change) {
    for (int i = 0; i < 3; ++i) {
      sum.along[i] = kernel::multiply_add<product>(e[i], log.along[3 * k + i], sum.along[i]);
      sum.square[i] = kernel::multiply_add<product>(e[i], d[i], sum.square[i]);
      log.change[3 * k + i] = d[i];
    }
  }
}

template <Update update, Record record, Rows rows, Product product>
SweepStep sweep_plain(const Problem& problem, double* r, const Log& log) {
  PlainStep sum;
  for (std::ptrdiff_t k = problem.first; k != problem.last; k += problem.stride) {
    const GaussSeidelContact& c = problem.contact[k];
    const kernel::PlainSums u = contact_velocity<rows, product>(problem, k, r);
    double* rk = r + 3 * k;
    const double old[3] = {rk[0], rk[1], rk[2]};
    rk[0] = kernel::larger(0.0, kernel::multiply_add<product>(-u.right_to_left(0), c.step[0], old[0]));
    for (int j = 0; j < 2; ++j) {
      // r_T − step u_T − by_normal (r_N' − r_N), with everything but r_N' first
      const double rest = kernel::multiply_add<product>(c.by_normal[j], old[0], old[1 + j]);
      const double stepped = kernel::multiply_add<product>(-u.right_to_left(1 + j), c.step[1 + j], rest);
      rk[1 + j] = kernel::multiply_add<product>(-c.by_normal[j], rk[0], stepped);
    }
    project_tangents_plain<update, product>(rk + 1, old + 1, rk[0] * c.mu, c);
    const double d[3] = {rk[0] - old[0], rk[1] - old[1], rk[2] - old[2]};
    if constexpr (rows == Rows::bodies)
      respond_plain<product>({problem.A, problem.response, problem.v}, k, d);
    note_change<record, product>(problem, k, d, log, sum);
  }
  return sum.step();
}

#ifdef SIGNORINI_X86

/// x0² + x1² in lane 0.
SIGNORINI_AVX2_INLINE __m128d squared_length(__m128d x) {
  const __m128d squares = _mm_mul_pd(x, x);
  return _mm_add_sd(squares, _mm_unpackhi_pd(squares, squares));
}

/// Lane 0 of the first and both lanes of the second.
SIGNORINI_AVX2_INLINE double sum_of(__m128d normal, __m128d tangents) {
  return _mm_cvtsd_f64(_mm_add_sd(normal, _mm_add_sd(tangents, _mm_unpackhi_pd(tangents, tangents))));
}

SIGNORINI_AVX2_INLINE __m128d onto_disc(__m128d t, __m128d bound) {
  const __m128d one = _mm_set_sd(1.0);
  const __m128d s = squared_length(t);
  const __m128d quotient = _mm_mul_sd(bound, _mm_div_sd(one, _mm_max_sd(s, _mm_set_sd(kTiny))));
  const __m128d factor = _mm_mul_sd(quotient, _mm_sqrt_sd(s, s));
  const __m128d outside = _mm_cmp_sd(s, _mm_mul_sd(bound, bound), _CMP_GT_OQ);
  return _mm_mul_pd(t, _mm_movedup_pd(_mm_blendv_pd(one, factor, outside)));
}

SIGNORINI_AVX2_INLINE __m128d onto_interval(__m128d t, __m128d bound) {
  return _mm_min_sd(_mm_max_sd(t, _mm_sub_sd(_mm_setzero_pd(), bound)), bound);
}

/// `before`: r_T − step u_T − by_normal Δr_N of both tangents.
template <Update update>
SIGNORINI_AVX2_INLINE __m128d project_tangents(__m128d before, __m128d old, __m128d bound,
                                               const GaussSeidelContact& c) {
  if constexpr (update == Update::scalar_disc) {
    return onto_disc(before, bound);
  } else {
    __m128d first = before;
    if constexpr (update == Update::componentwise_clamp) first = onto_interval(before, bound);
    const __m128d moved = _mm_sub_sd(first, old);
    const __m128d second = _mm_fnmadd_sd(_mm_load_sd(&c.by_first), moved, _mm_unpackhi_pd(before, before));
    if constexpr (update == Update::componentwise_clamp)
      return _mm_unpacklo_pd(first, onto_interval(second, bound));
    return onto_disc(_mm_unpacklo_pd(first, second), bound);
  }
}

/// v of the bodies after r_k moved by d; d_N in lane 0.
template <Source source>
SIGNORINI_AVX2_INLINE void respond(const Problem& problem, std::ptrdiff_t k, __m128d d_N, __m128d d_T) {
  const __m128d all = _mm_or_pd(_mm_unpacklo_pd(d_N, d_N), d_T);
  if (_mm_movemask_pd(_mm_cmpneq_pd(all, _mm_setzero_pd())) == 0) return;
  respond_avx2<source>({problem.A, problem.response, problem.v}, k, _mm256_broadcastsd_pd(d_N),
                       _mm256_broadcastsd_pd(d_T), _mm256_broadcastsd_pd(_mm_unpackhi_pd(d_T, d_T)));
}

template <Update update, Record record, Rows rows, Source source>
SIGNORINI_AVX2 SweepStep sweep_avx2(const Problem& problem, double* r, const Log& log) {
  const BlockView& A = problem.A;
  const __m128d zero = _mm_setzero_pd();
  __m128d largest = zero, poison = zero;
  __m128d square_N = zero, square_T = zero, along_N = zero, along_T = zero;
  for (std::ptrdiff_t k = problem.first; k != problem.last; k += problem.stride) {
    const GaussSeidelContact& c = problem.contact[k];
    double* rk = r + 3 * k;
    // u = q + Σ_{j ≥ k} W_kj r_j + Σ_{j < k} W_kj r_j: the contact before k comes last, whose impulse is waited for
    kernel::RowSums sums{_mm256_loadu_pd(c.q), _mm256_setzero_pd(), _mm256_setzero_pd()};
    if constexpr (rows == Rows::bodies) {
      kernel::add_blocks<source>(A, A.begin[k], A.begin[k + 1], problem.v, sums);
    } else if constexpr (rows == Rows::frozen) {
      kernel::add_blocks<source>(A, A.begin[k], A.begin[k + 1], problem.frozen, sums);
    } else if (problem.stride > 0) {
      const std::ptrdiff_t upper = problem.upper_begin[k];
      kernel::add_blocks<source>(A, upper, A.begin[k + 1], r, sums);
      kernel::add_blocks<source>(A, A.begin[k], upper, r, sums);
    } else {
      kernel::add_blocks<source>(A, A.begin[k], A.begin[k + 1], r, sums);
    }
    const __m256d u = _mm256_add_pd(sums.column0, _mm256_add_pd(sums.column1, sums.column2));

    const __m128d old_normal = _mm_load_sd(rk), old = _mm_loadu_pd(rk + 1);
    const __m128d by_normal = _mm_loadu_pd(c.by_normal);
    const __m128d normal =
        _mm_max_sd(zero, _mm_fnmadd_sd(_mm256_castpd256_pd128(u), _mm_load_sd(c.step), old_normal));
    _mm_store_sd(rk, normal);
    // r_T − step u_T − by_normal (r_N' − r_N), with everything but r_N' first
    const __m128d rest = _mm_fmadd_pd(by_normal, _mm_movedup_pd(old_normal), old);
    const __m128d stepped = _mm_fnmadd_pd(kernel::tangents(u), _mm_loadu_pd(c.step + 1), rest);
    const __m128d before = _mm_fnmadd_pd(by_normal, _mm_movedup_pd(normal), stepped);
    const __m128d bound = _mm_mul_sd(normal, _mm_load_sd(&c.mu));
    const __m128d tangent = project_tangents<update>(before, old, bound, c);
    _mm_storeu_pd(rk + 1, tangent);

    const __m128d d_N = _mm_sub_sd(normal, old_normal), d_T = _mm_sub_pd(tangent, old);
    if constexpr (rows == Rows::bodies) respond<source>(problem, k, d_N, d_T);
    const __m128d e_N = _mm_mul_sd(d_N, _mm_load_sd(c.inverse_mass));
    const __m128d e_T = _mm_mul_pd(d_T, _mm_loadu_pd(c.inverse_mass + 1));
    const __m128d correction = _mm_fmadd_sd(e_N, e_N, squared_length(e_T));
    poison = _mm_fmadd_sd(zero, correction, poison);  // 0 · ∞ and 0 · NaN are NaN, which max would lose
    largest = _mm_max_sd(largest, correction);
    if constexpr (record == Record::change) {
      along_N = _mm_fmadd_sd(e_N, _mm_load_sd(log.along + 3 * k), along_N);
      along_T = _mm_fmadd_pd(e_T, _mm_loadu_pd(log.along + 3 * k + 1), along_T);
      _mm_store_sd(log.change + 3 * k, d_N);
      _mm_storeu_pd(log.change + 3 * k + 1, d_T);
      square_N = _mm_fmadd_sd(e_N, d_N, square_N);
      square_T = _mm_fmadd_pd(e_T, d_T, square_T);
    }
  }
  return {std::sqrt(_mm_cvtsd_f64(largest)) + _mm_cvtsd_f64(poison), sum_of(square_N, square_T),
          sum_of(along_N, along_T)};
}

#endif

template <Update update, Record record, Rows rows>
SweepStep sweep_rows(Isa level, const Problem& problem, double* r, const Log& log) {
#ifdef SIGNORINI_X86
  if (level == Isa::avx2) {
    if (kernel::source_of(problem.A) == Source::cache)
      return sweep_avx2<update, record, rows, Source::cache>(problem, r, log);
    return sweep_avx2<update, record, rows, Source::memory>(problem, r, log);
  }
#endif
  if (level == Isa::portable) return sweep_plain<update, record, rows, Product::rounded>(problem, r, log);
  return sweep_plain<update, record, rows, Product::fused>(problem, r, log);
}

template <Update update, Record record>
SweepStep sweep(Isa level, const Problem& problem, double* r, const Log& log) {
  if constexpr (record == Record::change) {
    if (problem.rows == Rows::frozen) return sweep_rows<update, record, Rows::frozen>(level, problem, r, log);
  }
  return problem.rows == Rows::bodies ? sweep_rows<update, record, Rows::bodies>(level, problem, r, log)
                                      : sweep_rows<update, record, Rows::delassus>(level, problem, r, log);
}

template <Record record>
SweepStep sweep_by_step(Isa level, const GaussSeidelData& data, const Problem& problem, double* r,
                        const Log& log) {
  return with_law(data.law, [&](auto law) {
    if constexpr (decltype(law)::kPartSize == 1)
      return sweep<Update::componentwise_clamp, record>(level, problem, r, log);
    if (data.tangent_step == TangentStep::scalar)
      return sweep<Update::scalar_disc, record>(level, problem, r, log);
    return sweep<Update::componentwise_disc, record>(level, problem, r, log);
  });
}

template <Record record>
SweepStep sweep_by_law(Isa level, const GaussSeidelData& data, SweepRange range, std::span<double> r,
                       std::span<double> v, const Log& log) {
  SIGNORINI_CHECK(r.size() == span_of(data.q).size());
  SIGNORINI_CHECK(0 <= range.begin && range.begin <= range.end && range.end <= data.contacts());
  SIGNORINI_CHECK(v.size() == (data.bodies ? data.bodies->free.size() : 0));
  const BlockView A = kernel::view_of(data.bodies ? data.bodies->J : data.W);
  Problem problem{
      A,       data.upper_begin.data(), data.contact.data(), range.begin, range.end, 1, nullptr, nullptr,
      nullptr, Rows::delassus};
  if (data.bodies) {
    problem.response = data.bodies->response.data();
    problem.v = v.data();
    problem.rows = Rows::bodies;
  }
  if (range.backwards) {
    problem.first = range.end - std::ptrdiff_t{1};
    problem.last = range.begin - std::ptrdiff_t{1};
    problem.stride = -1;
  }
  return sweep_by_step<record>(level, data, problem, r.data(), log);
}

GaussSeidelContact make_contact(const Matrix3& D, const Vector3& q, double mu, double tangent_inverse_mass,
                                bool scalar) {
  GaussSeidelContact c{};
  c.mu = mu;
  for (int i = 0; i < 3; ++i) c.q[i] = q[i];
  if (!(D(0, 0) > 0.0)) return c;
  c.inverse_mass[0] = D(0, 0);
  c.inverse_mass[1] = scalar ? tangent_inverse_mass : D(1, 1);
  c.inverse_mass[2] = scalar ? tangent_inverse_mass : D(2, 2);
  for (int i = 0; i < 3; ++i) {
    c.inverse_mass[i] = std::max(0.0, c.inverse_mass[i]);
    c.step[i] = c.inverse_mass[i] > 0.0 ? 1.0 / c.inverse_mass[i] : 0.0;
  }
  c.by_normal[0] = c.step[1] * D(1, 0);
  c.by_normal[1] = c.step[2] * D(2, 0);
  c.by_first = c.step[2] * D(2, 1);
  return c;
}

/// The clamp of the pyramid with both steps 1/λ_max(W_TT) instead of 1/W_jj.
void take_scalar_steps(GaussSeidelData& data) {
  for (std::size_t k = 0; k < data.contact.size(); ++k) {
    GaussSeidelContact& contact = data.contact[k];
    const Matrix3& D = data.diagonal[k];
    const double inverse_mass = std::max(0.0, data.tangent_inverse_mass[k]);
    const double step = inverse_mass > 0.0 ? 1.0 / inverse_mass : 0.0;
    for (int j = 0; j < 2; ++j) {
      contact.inverse_mass[1 + j] = inverse_mass;
      contact.step[1 + j] = step;
      contact.by_normal[j] = step * D(1 + j, 0);
    }
    contact.by_first = step * D(2, 1);
  }
}

}  // namespace

TangentStep natural_tangent_step(FrictionLaw law) {
  return with_law(law, [](auto type) {
    return decltype(type)::kPartSize == 1 ? TangentStep::componentwise : TangentStep::scalar;
  });
}

namespace {

/// Everything but the rows. `start`: q or w (3m).
GaussSeidelData make_contacts(std::vector<Matrix3> diagonal, const Vector& start, Vector mu, FrictionLaw law,
                              TangentStep tangent_step) {
  SIGNORINI_CHECK(start.size() == 3 * count(diagonal) && mu.size() == count(diagonal));
  GaussSeidelData data;
  data.law = law;
  const bool choice = natural_tangent_step(law) == TangentStep::scalar;
  data.tangent_step = choice ? tangent_step : TangentStep::componentwise;
  const bool scalar = data.tangent_step == TangentStep::scalar;
  data.tangent_inverse_mass.resize(count(diagonal));
  data.contact.reserve(diagonal.size());
  for (Index k = 0; k < count(diagonal); ++k) {
    const Matrix3& D = diagonal[k];
    data.tangent_inverse_mass[k] = largest_eigenvalue(D(1, 1), D(1, 2), D(2, 1), D(2, 2));
    data.contact.push_back(
        make_contact(D, start.segment<3>(3 * k), mu[k], data.tangent_inverse_mass[k], scalar));
    if (!(D(0, 0) > 0.0)) data.fixed.push_back(k);
  }
  data.diagonal = std::move(diagonal);
  data.mu = std::move(mu);
  return data;
}

TangentStep step_of(FrictionLaw law, TangentChoice choice) {
  if (choice == TangentChoice::scalar) return TangentStep::scalar;
  if (choice == TangentChoice::componentwise) return TangentStep::componentwise;
  return natural_tangent_step(law);
}

bool clamps_by_scalar(FrictionLaw law, TangentChoice choice) {
  return choice == TangentChoice::scalar && natural_tangent_step(law) == TangentStep::componentwise;
}

}  // namespace

GaussSeidelData make_gauss_seidel_data(BlockSparseMatrix W, Vector q, Vector mu, FrictionLaw law,
                                       TangentStep tangent_step) {
  SIGNORINI_CHECK(W.block_rows == W.block_columns);
  std::vector<Matrix3> diagonal;
  std::vector<Index> upper_begin;
  diagonal.reserve(W.block_rows);
  upper_begin.reserve(W.block_rows);
  for (Index k = 0; k < W.block_rows; ++k) {
    diagonal.push_back(diagonal_block(W, k));
    const auto begin = W.column.begin() + W.row_begin[k];
    const auto end = W.column.begin() + W.row_begin[k + 1];
    upper_begin.push_back(static_cast<Index>(std::lower_bound(begin, end, k) - W.column.begin()));
  }
  GaussSeidelData data = make_contacts(std::move(diagonal), q, std::move(mu), law, tangent_step);
  data.upper_begin = std::move(upper_begin);
  data.W = std::move(W);
  data.q = std::move(q);
  return data;
}

GaussSeidelData make_gauss_seidel_data(BlockSparseMatrix W, Vector q, Vector mu, FrictionLaw law,
                                       TangentChoice choice) {
  GaussSeidelData data =
      make_gauss_seidel_data(std::move(W), std::move(q), std::move(mu), law, step_of(law, choice));
  if (clamps_by_scalar(law, choice)) take_scalar_steps(data);
  return data;
}

GaussSeidelData make_gauss_seidel_data(BodyRows bodies, Vector mu, FrictionLaw law, TangentChoice choice) {
  GaussSeidelData data =
      make_contacts(std::move(bodies.diagonal), bodies.w, std::move(mu), law, step_of(law, choice));
  if (clamps_by_scalar(law, choice)) take_scalar_steps(data);
  data.q.resize(bodies.w.size());
  multiply(bodies.J, bodies.free, span_of(data.q));
  data.q += bodies.w;
  data.bodies = std::move(bodies);
  return data;
}

void release_fixed(const GaussSeidelData& data, std::span<double> r) {
  for (const std::ptrdiff_t k : data.fixed) std::fill_n(r.begin() + 3 * k, 3, 0.0);
}

double gauss_seidel_sweep(Isa level, const GaussSeidelData& data, std::span<double> r) {
  release_fixed(data, r);
  SIGNORINI_CHECK(!data.bodies);
  return sweep_by_law<Record::nothing>(level, data, {0, data.contacts()}, r, {}, {}).correction;
}

double gauss_seidel_sweep(const GaussSeidelData& data, std::span<double> r) {
  return gauss_seidel_sweep(isa(), data, r);
}

double gauss_seidel_sweep(const GaussSeidelData& data, SweepRange range, std::span<double> r,
                          std::span<double> v) {
  return sweep_by_law<Record::nothing>(isa(), data, range, r, v, {}).correction;
}

SweepStep gauss_seidel_step(Isa level, const GaussSeidelData& data, std::span<const double> along,
                            std::span<double> r, std::span<double> change) {
  SIGNORINI_CHECK(along.size() == r.size() && change.size() == r.size());
  release_fixed(data, r);
  SIGNORINI_CHECK(!data.bodies);
  return sweep_by_law<Record::change>(level, data, {0, data.contacts()}, r, {},
                                      {along.data(), change.data()});
}

SweepStep gauss_seidel_step(const GaussSeidelData& data, std::span<const double> along, std::span<double> r,
                            std::span<double> change) {
  return gauss_seidel_step(isa(), data, along, r, change);
}

SweepStep gauss_seidel_step(const GaussSeidelData& data, SweepRange range, std::span<const double> along,
                            std::span<double> r, std::span<double> change, std::span<double> v) {
  SIGNORINI_CHECK(along.size() == r.size() && change.size() == r.size());
  return sweep_by_law<Record::change>(isa(), data, range, r, v, {along.data(), change.data()});
}

std::vector<GaussSeidelContact> contacts_with(const GaussSeidelData& data,
                                              std::span<const Matrix3> diagonal) {
  SIGNORINI_CHECK(diagonal.size() == data.contact.size());
  const bool scalar = data.tangent_step == TangentStep::scalar;
  std::vector<GaussSeidelContact> contacts;
  contacts.reserve(diagonal.size());
  for (std::size_t k = 0; k < diagonal.size(); ++k) {
    const Matrix3& D = diagonal[k];
    const GaussSeidelContact& own = data.contact[k];
    contacts.push_back(make_contact(D, Vector3(own.q[0], own.q[1], own.q[2]), own.mu,
                                    largest_eigenvalue(D(1, 1), D(1, 2), D(2, 1), D(2, 2)), scalar));
  }
  return contacts;
}

SweepStep side_by_side_step(const GaussSeidelData& data, std::span<const GaussSeidelContact> contacts,
                            SweepRange range, std::span<const double> x, std::span<const double> along,
                            std::span<double> r, std::span<double> change) {
  SIGNORINI_CHECK(contacts.size() == data.contact.size() && r.size() == 3 * contacts.size());
  SIGNORINI_CHECK(along.size() == r.size() && change.size() == r.size());
  const BlockSparseMatrix& rows = data.bodies ? data.bodies->J : data.W;
  SIGNORINI_CHECK(x.size() == 3 * static_cast<std::size_t>(rows.block_columns));
  const Problem problem{
      kernel::view_of(rows), nullptr, contacts.data(), range.begin, range.end, 1, nullptr, nullptr, x.data(),
      Rows::frozen};
  return sweep_by_step<Record::change>(isa(), data, problem, r.data(), {along.data(), change.data()});
}

namespace {

template <class Law>
double largest_error(const GaussSeidelData& data, std::span<const double> r, std::span<double> u) {
  double largest = 0.0, poison = 0.0;
  for (std::size_t k = 0; k < data.contact.size(); ++k) {
    const GaussSeidelContact& c = data.contact[k];
    const double* rk = r.data() + 3 * k;
    double* uk = u.data() + 3 * k;
    for (int i = 0; i < 3; ++i) uk[i] += c.q[i];
    double e_N = std::min(0.0, uk[0]), e_1 = 0.0, e_2 = 0.0;
    if (c.step[0] > 0.0) {
      // e_N = (r_N − p_N)/ρ_N with p_N = max(0, r_N − ρ_N u_N), which is min(r_N/ρ_N, u_N)
      e_N = std::min(rk[0] * c.inverse_mass[0], uk[0]);
      const double bound = c.mu * std::max(0.0, rk[0] - uk[0] * c.step[0]);
      const double inverse_mass = data.tangent_inverse_mass[k];
      const double step = inverse_mass > 0.0 ? 1.0 / inverse_mass : 0.0;
      double t1 = rk[1] - step * uk[1], t2 = rk[2] - step * uk[2];
      if constexpr (Law::kPartSize == 1) {
        t1 = clamp_to(t1, bound);
        t2 = clamp_to(t2, bound);
      } else {
        const double factor = disc_factor(t1 * t1 + t2 * t2, bound);
        t1 *= factor;
        t2 *= factor;
      }
      e_1 = (rk[1] - t1) * inverse_mass;
      e_2 = (rk[2] - t2) * inverse_mass;
    }
    const double error = e_N * e_N + (e_1 * e_1 + e_2 * e_2);
    poison += 0.0 * (error + uk[0]);
    largest = std::max(largest, error);
  }
  return std::sqrt(largest) + poison;
}

}  // namespace

void change_free_velocity(GaussSeidelData& data, std::span<const double> q) {
  SIGNORINI_CHECK(!data.bodies && q.size() == span_of(data.q).size());
  std::copy(q.begin(), q.end(), data.q.data());
  for (std::size_t k = 0; k < data.contact.size(); ++k) std::copy_n(q.data() + 3 * k, 3, data.contact[k].q);
}

double alart_curnier_error(const GaussSeidelData& data, std::span<const double> r, std::span<double> u,
                           TaskArena* arena) {
  SIGNORINI_CHECK(r.size() == span_of(data.q).size() && u.size() == r.size());
  if (data.bodies) {
    data.bodies->relative_velocities(r, u, arena);
  } else {
    multiply(arena, data.W, r, u);
  }
  return with_law(data.law, [&](auto law) { return largest_error<decltype(law)>(data, r, u); });
}

}  // namespace signorini
