#include "linalg/sparse_lu.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/check.h"
#include "linalg/dense_lu.h"

#ifdef SIGNORINI_HAVE_KLU
#include <klu.h>
#else
#include <Eigen/SparseLU>
#endif

namespace signorini {

namespace {

#ifdef SIGNORINI_HAVE_KLU

/// KLU's two halves, for one pattern at a time. Its C interface has no const and writes none of its inputs.
class LargeLu {
 public:
  /// Matrices of contact problems are seldom block triangular, and their rows have one scale: neither is looked for.
  LargeLu() {
    klu_defaults(&common_);
    common_.btf = 0;
    common_.scale = -1;
  }
  ~LargeLu() { clear(); }
  LargeLu(const LargeLu&) = delete;
  LargeLu& operator=(const LargeLu&) = delete;

  bool analyse(const SparseColumnsView& A) {
    clear();
    symbolic_ = klu_analyze(static_cast<int>(A.rows()), const_cast<int*>(A.outerIndexPtr()),
                            const_cast<int*>(A.innerIndexPtr()), &common_);
    return symbolic_ != nullptr;
  }
  bool choose_pivots(const SparseColumnsView& A) {
    klu_free_numeric(&chosen_, &common_);
    chosen_ = fresh(A);
    return chosen_ != nullptr;
  }
  bool factor(const SparseColumnsView& A) {
    klu_free_numeric(&own_, &common_);
    if (chosen_ != nullptr && refactor(A)) {
      numeric_ = chosen_;
    } else {
      numeric_ = own_ = fresh(A);
    }
    if (numeric_ != nullptr) klu_flops(symbolic_, numeric_, &common_);
    return numeric_ != nullptr;
  }
  void solve(std::span<double> x) {
    const int done = klu_solve(symbolic_, numeric_, symbolic_->n, 1, x.data(), &common_);
    SIGNORINI_CHECK(done == 1);
  }
  double flops() const { return common_.flops; }
  long long fill() const {
    if (numeric_ == nullptr) return 0;
    // the diagonal of L holds ones
    return static_cast<long long>(numeric_->lnz) + numeric_->unz + numeric_->nzoff - numeric_->n;
  }
  static constexpr bool kChooses = true;

 private:
  void clear() {
    klu_free_numeric(&own_, &common_);
    klu_free_numeric(&chosen_, &common_);
    klu_free_symbolic(&symbolic_, &common_);
    numeric_ = nullptr;
  }
  /// With pivots of its own; null where A is singular or not finite.
  klu_numeric* fresh(const SparseColumnsView& A) {
    klu_numeric* made = klu_factor(const_cast<int*>(A.outerIndexPtr()), const_cast<int*>(A.innerIndexPtr()),
                                   const_cast<double*>(A.valuePtr()), symbolic_, &common_);
    if (made != nullptr && !is_regular(made)) klu_free_numeric(&made, &common_);
    return made;
  }
  /// With the chosen pivots; false where they are too small for A.
  bool refactor(const SparseColumnsView& A) {
    int* begin = const_cast<int*>(A.outerIndexPtr());
    int* row = const_cast<int*>(A.innerIndexPtr());
    double* value = const_cast<double*>(A.valuePtr());
    return klu_refactor(begin, row, value, symbolic_, chosen_, &common_) == 1 && is_regular(chosen_) &&
           klu_rgrowth(begin, row, value, symbolic_, chosen_, &common_) == 1 &&
           common_.rgrowth * SparseLu::kGrowth >= 1.0;
  }
  /// Least over largest pivot: 0 where one is 0 or not a number.
  bool is_regular(klu_numeric* factor) {
    return klu_rcond(symbolic_, factor, &common_) == 1 && common_.rcond > 0.0;
  }

  klu_common common_{};
  klu_symbolic* symbolic_ = nullptr;
  klu_numeric* chosen_ = nullptr;   ///< with the pivots of `choose_pivots`
  klu_numeric* own_ = nullptr;      ///< with pivots of its own
  klu_numeric* numeric_ = nullptr;  ///< which of them is the factor
};

#else

class LargeLu {
 public:
  bool analyse(const SparseColumnsView& A) {
    lu_.analyzePattern(A);
    n_ = static_cast<double>(A.rows());
    return true;
  }
  bool factor(const SparseColumnsView& A) {
    lu_.factorize(A);
    return lu_.info() == Eigen::Success;
  }
  bool choose_pivots(const SparseColumns& /*A*/) { return false; }
  void solve(std::span<double> x) {
    Eigen::Map<Vector> y(x.data(), static_cast<Eigen::Index>(x.size()));
    const Vector answer = lu_.solve(y);
    y = answer;
  }
  /// A dense matrix has n² entries and takes 2n³/3.
  double flops() const {
    const double entries = static_cast<double>(fill());
    return n_ > 0.0 ? entries * entries / n_ * (2.0 / 3.0) : 0.0;
  }
  long long fill() const { return lu_.nnzL() + lu_.nnzU(); }
  static constexpr bool kChooses = false;

 private:
  Eigen::SparseLU<SparseColumns, Eigen::COLAMDOrdering<Index> > lu_;
  double n_ = 0.0;
};

#endif

}  // namespace

struct SparseLu::Impl {
  Index n = 0;
  Eigen::Index entries = 0;  ///< of the analysed pattern
  bool analysed = false;
  bool factored = false;
  bool sparse = false;
  bool full = false;  ///< dense, above kDenseOrder
  DenseLu dense;
  std::unique_ptr<LargeLu> large;  ///< where sparse

  bool analyse_large(const SparseColumnsView& A) {
    if (!large) large = std::make_unique<LargeLu>();
    return large->analyse(A);
  }
};

SparseLu::SparseLu() : impl_(std::make_unique<Impl>()) {}
SparseLu::~SparseLu() = default;
SparseLu::SparseLu(SparseLu&&) noexcept = default;
SparseLu& SparseLu::operator=(SparseLu&&) noexcept = default;

Index SparseLu::size() const { return impl_->n; }
bool SparseLu::is_dense() const { return !impl_->sparse; }

void SparseLu::reserve(Index order) { impl_->dense.reserve(std::min(order, kDenseOrder)); }

bool SparseLu::analyse(const SparseColumnsView& A) {
  SIGNORINI_CHECK(A.rows() == A.cols() && A.isCompressed());
  Impl& s = *impl_;
  s.n = static_cast<Index>(A.rows());
  s.entries = A.nonZeros();
  s.factored = false;
  const double places = static_cast<double>(s.n) * static_cast<double>(s.n);
  s.full = s.n > kDenseOrder && static_cast<double>(s.entries) > kDenseShare * places;
  s.sparse = s.n > kDenseOrder && !s.full;
  if (!s.sparse) s.dense.reserve(s.n);
  s.analysed = !s.sparse || s.analyse_large(A);
  return s.analysed;
}

void SparseLu::choose_pivots(const SparseColumnsView& A) {
  Impl& s = *impl_;
  SIGNORINI_CHECK(s.analysed && A.rows() == s.n && A.nonZeros() == s.entries);
  if (!LargeLu::kChooses || s.n <= kDenseChosen || s.full) return;
  s.factored = false;
  if (s.sparse) {
    s.large->choose_pivots(A);
  } else {
    s.sparse = s.analyse_large(A) && s.large->choose_pivots(A);
  }
}

bool SparseLu::factor(const SparseColumnsView& A) {
  Impl& s = *impl_;
  SIGNORINI_CHECK(s.analysed && A.rows() == s.n && A.cols() == s.n && A.nonZeros() == s.entries);
  s.factored = s.sparse ? s.large->factor(A) : s.dense.factor(A);
  return s.factored;
}

void SparseLu::solve(std::span<const double> b, std::span<double> x) {
  Impl& s = *impl_;
  SIGNORINI_CHECK(s.factored && count(b) == s.n && x.size() == b.size());
  if (x.data() != b.data()) std::copy(b.begin(), b.end(), x.begin());
  if (s.sparse) {
    s.large->solve(x);
  } else {
    s.dense.solve(x);
  }
}

double SparseLu::flops() const {
  const Impl& s = *impl_;
  if (!s.factored) return 0.0;
  return s.sparse ? s.large->flops() : s.dense.flops();
}

long long SparseLu::fill() const {
  if (!impl_->factored) return 0;
  return is_dense() ? static_cast<long long>(impl_->n) * impl_->n : impl_->large->fill();
}

}  // namespace signorini
